import { z } from "zod";
import type { Changes, DecisionContext, Entry } from "../changes.ts";
import { Instant } from "../instant.ts";
import { Actor } from "../people/actor.ts";
import { requireAccess } from "../people/access.ts";
import { hashText } from "../question/content.ts";
import type { Run } from "../run/run.ts";
import { changeEntry } from "../trail/store-event.ts";
import type { WorkflowDefinition } from "./definition/definition.ts";
import type { WorkflowRef } from "./workflow-ref.ts";

/** How many earlier definitions of a workflow count as approved. */
const MOST_EARLIER = 100;

/** A workflow of a project, with the definition that a person approved. */
export const ApprovedWorkflow = z.object({
  id: z.string(),
  version: z.int(),
  name: z.string(),
  /** The machine and the project, and the file in it. */
  host: z.string(),
  dir: z.string(),
  file: z.string(),
  repo: z.string().optional(),
  /** The hash of the definition; another one has to be approved anew. */
  definition: z.string(),
  /** The definitions that people approved here before it: runs that have begun keep theirs. */
  earlier: z.array(z.string()).optional(),
  approvedBy: Actor,
  approvedAt: Instant,
});
export type ApprovedWorkflow = z.infer<typeof ApprovedWorkflow>;

/** A definition that a person approves, and its place. */
export type ApprovalInput = Pick<ApprovedWorkflow, "name" | "host" | "dir" | "file" | "repo" | "definition">;

/** Names a workflow of a project on a machine. */
export function workflowId({ host, dir, name }: Pick<ApprovedWorkflow, "host" | "dir" | "name">): string {
  return `${name}-${hashText(`${host}\n${dir}`).slice(0, 16)}`;
}

/** Names the workflow of a run: one with the same name in another project is another workflow. */
export function workflowIdOf(
  { host, dir = "/" }: Pick<Run, "host" | "dir">,
  { name }: Pick<WorkflowRef, "name">,
): string {
  return workflowId({ host, dir, name });
}

export function parseApproved({ id, version, body }: Entry): ApprovedWorkflow {
  return ApprovedWorkflow.parse({ ...body, id, version });
}

/** Says whether a person has approved this definition in this store, even if a newer one has replaced it since. */
export function isApprovedHere(definition: string, workflows: readonly ApprovedWorkflow[]): boolean {
  return workflows.some((workflow) => workflow.definition === definition || workflow.earlier?.includes(definition));
}

/** Why a run cannot go on without its definition, and what to do. */
export function sayLostDefinition({ name }: Pick<WorkflowRef, "name">): string {
  return `The definition of its workflow is lost or was changed in the store. Approve the file as it was when the run began: askd workflow approve ${name}`;
}

/** The definitions that were approved before this one, newest first. */
function earlierOf(before: ApprovedWorkflow | undefined, definition: string) {
  if (!before) return undefined;
  const all = [before.definition, ...(before.earlier ?? [])].filter((each) => each !== definition);
  return all.length === 0 ? undefined : all.slice(0, MOST_EARLIER);
}

/**
 * Approves a definition, which is kept once under its hash: its text is written unless `textVersion`, the version of the
 * row to replace, is undefined. Only people approve: an agent cannot.
 */
export function approveWorkflow(
  before: ApprovedWorkflow | undefined,
  { input, definition, textVersion }: { input: ApprovalInput; definition: WorkflowDefinition; textVersion?: number },
  at: DecisionContext,
): Changes & { approved: ApprovedWorkflow } {
  requireAccess("approve_workflow", at.by);
  const id = workflowId(input);
  const version = before?.version ?? 0;
  const earlier = earlierOf(before, input.definition);
  const approved: ApprovedWorkflow = { ...input, id, version, earlier, approvedBy: at.by, approvedAt: at.now };
  const { id: _id, version: _version, ...body } = approved;
  const entry: Entry = { kind: "workflow", id, version, body };
  const detail = { name: input.name, definition: input.definition, replaces: before?.definition };
  const changed = changeEntry(
    { type: "workflow.approved", entry, from: before && "approved", to: "approved", detail },
    at,
  );
  const texts: Entry[] =
    textVersion === undefined
      ? []
      : [{ kind: "definition", id: input.definition, version: textVersion, body: { definition } }];
  return { ...changed, entries: [...(changed.entries ?? []), ...texts], approved };
}
