import { Refusal } from "../../core/refusal.ts";
import type { Run } from "../../core/run/run.ts";
import { type ApprovedWorkflow, isApprovedHere, parseApproved } from "../../core/workflow/approval.ts";
import type { Store } from "../../store/store.ts";
import { readWorkflowFiles } from "../definition/workflow-folder.ts";

/** Says whether the file of a workflow is as it was approved: one that was changed since starts nothing. */
export async function isUnchanged({ file, dir, definition }: ApprovedWorkflow): Promise<boolean> {
  const [found] = await readWorkflowFiles([file], { cwd: dir });
  return found?.hash === definition;
}

/** Why the triggers of a workflow start nothing, if its file is no longer the approved one. */
export async function findStaleness(workflow: ApprovedWorkflow): Promise<string | undefined> {
  if (await isUnchanged(workflow)) return undefined;
  const { name } = workflow;
  return `The file of the workflow ${name} was changed or removed since it was approved, so nothing starts it. Read it, then: askd workflow approve ${name}`;
}

/** Refuses a workflow whose file was changed since it was approved. */
export async function requireUnchanged(workflow: ApprovedWorkflow): Promise<void> {
  if (await isUnchanged(workflow)) return;
  throw changedRefusal(workflow);
}

/** Why a run may not go on yet: it came with an import, and no person has approved its definition in this store. */
export async function findHold(
  { workflow, number }: Pick<Run, "workflow" | "number">,
  store: Store,
): Promise<string | undefined> {
  if (workflow?.isImported === undefined) return undefined;
  const approved = (await store.listEntries("workflow")).map(parseApproved);
  if (isApprovedHere(workflow.definition, approved)) return undefined;
  if (approved.some(({ name }) => name === workflow.name)) {
    return `The run was imported, and began with another version of its workflow than the one approved here. Approve the file as it was then (askd workflow approve ${workflow.name}), then approve the newer one again; or end the run: askd workflow cancel ${number}`;
  }
  return `The run was imported, and its workflow is not approved here. Read it, then: askd workflow approve ${workflow.name}`;
}

/** The refusal of a workflow that was changed since a person approved it. */
export function changedRefusal({ name }: Pick<ApprovedWorkflow, "name">): Refusal {
  return new Refusal("not_permitted", `The workflow ${name} was changed since it was approved; nothing was started`, {
    hint: `Read it, then: askd workflow approve ${name}`,
  });
}
