import type { StepList } from "../checkpoint.ts";
import type { ToolStep, WorkflowDefinition, WorkflowHandler, WorkflowStep } from "../definition/definition.ts";
import type { WorkflowRef } from "../workflow-ref.ts";

/** The steps that one run does: all of a definition, or one branch of it. */
export interface WorkflowPlan {
  lists: Readonly<Record<StepList, readonly WorkflowStep[]>>;
  onResume: WorkflowDefinition["on_resume"];
  /** The result of a branch has one entry per output of its steps; otherwise it is the output of its only step. */
  isGroup: boolean;
}

/** The plan of a run. */
export function planOf(definition: WorkflowDefinition, branch: WorkflowRef["branch"]): WorkflowPlan {
  if (branch) return branchPlan(definition, branch);
  const lists = {
    steps: definition.steps,
    on_timeout: handlerSteps(definition.on_timeout, "on_timeout"),
    on_failure: handlerSteps(definition.on_failure, "on_failure"),
  };
  return { lists, onResume: definition.on_resume, isGroup: true };
}

function handlerSteps(handler: WorkflowHandler | undefined, id: string): readonly WorkflowStep[] {
  if (!handler) return [];
  return "steps" in handler ? handler.steps : [{ id, ...handler }];
}

/** The whole workflow decides what time and failure mean: a branch only ends. */
function branchPlan(
  definition: WorkflowDefinition,
  { step: id, name }: NonNullable<WorkflowRef["branch"]>,
): WorkflowPlan {
  const all = [
    ...definition.steps,
    ...handlerSteps(definition.on_timeout, ""),
    ...handlerSteps(definition.on_failure, ""),
  ];
  const container = findStep(all, id);
  if (!container) throw new Error(`the definition has no step ${id}`);
  const steps = stepsOfBranch(container, name);
  const lists = { steps: steps.list, on_timeout: [], on_failure: [] };
  return { lists, onResume: undefined, isGroup: steps.isGroup };
}

function stepsOfBranch(container: WorkflowStep, name: string): { list: readonly WorkflowStep[]; isGroup: boolean } {
  if ("parallel" in container) {
    const inner = container.parallel.find((step) => step.id === name);
    if (!inner) throw new Error(`step ${container.id} has no branch ${name}`);
    const isPlainGroup = "steps" in inner && inner.for_each === undefined && inner.condition === undefined;
    return isPlainGroup ? { list: inner.steps, isGroup: true } : { list: [inner], isGroup: false };
  }
  if ("steps" in container) return { list: container.steps, isGroup: true };
  // One item of a tool step: its list and its condition are those of the whole step.
  const item: ToolStep = { ...container, for_each: undefined, condition: undefined };
  return { list: [item], isGroup: false };
}

function findStep(steps: readonly WorkflowStep[], id: string): WorkflowStep | undefined {
  for (const step of steps) {
    const inner = "parallel" in step ? step.parallel : "steps" in step ? step.steps : [];
    const found = step.id === id ? step : findStep(inner, id);
    if (found) return found;
  }
  return undefined;
}
