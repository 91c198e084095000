import type { WorkflowDefinition, WorkflowHandler, WorkflowStep, WorkflowTrigger } from "./definition.ts";
import { innerSteps } from "./step-tree.ts";

/** One box of the picture of a workflow. */
export interface GraphNode {
  id: string;
  kind: "tool" | "question" | "parallel" | "group";
  tool?: string;
  condition?: string;
  /** It is done once for each item of a list. */
  isRepeated: boolean;
  output?: string;
  /** The boxes inside: branches that run at the same time, or steps in order. */
  inner: readonly GraphNode[];
}

/** Where a run goes after a step, besides the next one. */
export interface GraphEdge {
  from: string;
  to: string;
  /** `skipped`: its condition was false. `answered` and `timeout`: how its question ended. */
  when: "next" | "skipped" | "answered" | "timeout";
}

/** A workflow as a picture: boxes in order, and what leads from one to another. */
export interface WorkflowGraph {
  name: string;
  description?: string;
  triggers: readonly string[];
  nodes: readonly GraphNode[];
  edges: readonly GraphEdge[];
  onTimeout: readonly GraphNode[];
  onFailure: readonly GraphNode[];
}

/** The names of the places where a run ends, as edges name them. */
export const END_OF_RUN = "(completed)";
export const TIMEOUT_OF_RUN = "(on_timeout)";

/** Builds the picture of a workflow. */
export function graphOf(definition: WorkflowDefinition): WorkflowGraph {
  const { name, description, steps, triggers, on_timeout, on_failure } = definition;
  return {
    name,
    ...(description !== undefined && { description }),
    triggers: (triggers ?? []).map(describeTrigger),
    nodes: steps.map(nodeOf),
    edges: edgesOf(definition),
    onTimeout: handlerNodes(on_timeout, "on_timeout"),
    onFailure: handlerNodes(on_failure, "on_failure"),
  };
}

/** Says what starts a run, in a few words. */
export function describeTrigger(trigger: WorkflowTrigger): string {
  if ("label_added" in trigger) return `label ${trigger.label_added}`;
  if ("schedule" in trigger) return `schedule ${trigger.schedule} ${trigger.timezone ?? "UTC"}`;
  return "webhook" in trigger ? `webhook ${trigger.webhook}` : "by hand";
}

function nodeOf(step: WorkflowStep): GraphNode {
  const inner = innerSteps(step);
  return {
    id: step.id,
    kind: kindOf(step),
    ...("tool" in step && { tool: step.tool }),
    ...(step.condition !== undefined && { condition: String(step.condition).trim() }),
    isRepeated: "for_each" in step && step.for_each !== undefined,
    ...(step.output !== undefined && { output: step.output }),
    inner: (inner?.steps ?? []).map(nodeOf),
  };
}

function kindOf(step: WorkflowStep): GraphNode["kind"] {
  if ("parallel" in step) return "parallel";
  if ("steps" in step) return "group";
  return step.suspend === true ? "question" : "tool";
}

function handlerNodes(handler: WorkflowHandler | undefined, id: string): GraphNode[] {
  if (!handler) return [];
  return "steps" in handler ? handler.steps.map(nodeOf) : [nodeOf({ id, ...handler })];
}

function edgesOf({ steps, on_resume, on_timeout }: WorkflowDefinition): GraphEdge[] {
  return steps.flatMap((step, index) => {
    const from = step.id;
    const next = steps[index + 1]?.id ?? END_OF_RUN;
    const skipped: GraphEdge[] = step.condition === undefined ? [] : [{ from, to: next, when: "skipped" }];
    if (kindOf(step) !== "question") return [{ from, to: next, when: "next" as const }, ...skipped];
    const answered = { from, to: on_resume?.goto ?? next, when: "answered" as const };
    return [answered, ...(on_timeout ? [{ from, to: TIMEOUT_OF_RUN, when: "timeout" as const }] : []), ...skipped];
  });
}
