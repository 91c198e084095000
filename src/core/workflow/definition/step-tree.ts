import type { WorkflowDefinition, WorkflowHandler, WorkflowStep } from "./definition.ts";
import type { ValuePath } from "./definition-problem.ts";

/** A step with its place in the definition. */
export interface PlacedStep {
  step: WorkflowStep;
  path: ValuePath;
  /** The steps it is in, the outermost first; none at the top. */
  within: readonly WorkflowStep[];
  /** It is part of `on_timeout` or `on_failure`. */
  isInHandler: boolean;
}

/** Every step of a definition, in the order of the file, with those inside others. */
export function stepsOf(definition: WorkflowDefinition): PlacedStep[] {
  return [
    ...placeSteps(definition.steps, ["steps"], [], false),
    ...handlerSteps(definition.on_timeout, ["on_timeout"]),
    ...handlerSteps(definition.on_failure, ["on_failure"]),
  ];
}

/** The steps inside a step. */
export function innerSteps(
  step: WorkflowStep,
): { key: "parallel" | "steps"; steps: readonly WorkflowStep[] } | undefined {
  if ("parallel" in step) return { key: "parallel", steps: step.parallel };
  return "steps" in step ? { key: "steps", steps: step.steps } : undefined;
}

function handlerSteps(handler: WorkflowHandler | undefined, path: ValuePath): PlacedStep[] {
  return handler && "steps" in handler ? placeSteps(handler.steps, [...path, "steps"], [], true) : [];
}

function placeSteps(
  steps: readonly WorkflowStep[],
  path: ValuePath,
  within: readonly WorkflowStep[],
  isInHandler: boolean,
): PlacedStep[] {
  return steps.flatMap((step, index) => {
    const own = [...path, index];
    const inner = innerSteps(step);
    return [
      { step, path: own, within, isInHandler },
      ...(inner ? placeSteps(inner.steps, [...own, inner.key], [...within, step], isInHandler) : []),
    ];
  });
}
