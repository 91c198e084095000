import { dirname } from "node:path";
import { Refusal } from "../../../core/refusal.ts";
import { type Run, hasEnded } from "../../../core/run/run.ts";
import { parseCheckpoint } from "../../../core/workflow/checkpoint.ts";
import { WORKFLOW_FOLDER } from "../../../workflow/definition/workflow-folder.ts";
import { findHold } from "../../../workflow/run/approved-file.ts";
import { Workflows } from "../../../workflow/run/workflows.ts";
import type { Context, OpenedEngine } from "../../context.ts";
import { getRun } from "../../find-target.ts";
import { asTyped } from "../../program.ts";
import { findAwayLines, machinesFor } from "../../view/machine-view.ts";

/** The engine on the store of this machine, and the workflows on it. */
export async function openWorkflows(context: Context): Promise<{ engine: OpenedEngine; workflows: Workflows }> {
  const engine = await context.engine();
  return { engine, workflows: new Workflows(insideOf(engine)) };
}

/** Workflows run where the store is; a server does not do it for another machine. */
export function insideOf({ inside }: OpenedEngine): NonNullable<OpenedEngine["inside"]> {
  if (inside) return inside;
  throw new Refusal("bad_input", "Workflows run on the machine with the store", {
    hint: "Run this on the server's machine, or name a store with --store",
  });
}

/** The named run of a workflow with its checkpoint. */
export async function getWorkflowRun(engine: OpenedEngine, name: string) {
  const run: Run = await getRun(engine, name);
  const entry = run.workflow && (await insideOf(engine).store.findEntry("checkpoint", run.id));
  if (entry) return { run, checkpoint: parseCheckpoint(entry).checkpoint };
  throw new Refusal("bad_input", `Run #${run.number} is not the run of a workflow`, {
    hint: `See it with: askd show ${run.number}`,
  });
}

/** Why a run cannot go on by itself, and what to type: nobody has approved it here, or its machine is away. */
interface WorkflowHolds {
  hold: string | undefined;
  ways: string[];
}

export async function findHolds(run: Run, engine: OpenedEngine, context: Context): Promise<WorkflowHolds> {
  if (hasEnded(run)) return { hold: undefined, ways: [] };
  const hold = await findHold(run, insideOf(engine).store);
  // A step that was under way goes on with its machine, too.
  const next: Run = run.status === "running" ? { ...run, status: "resuming" } : run;
  const ways = findAwayLines(next, await machinesFor(engine, [next], context), context.program) ?? [];
  return { hold: hold && asTyped(hold, context.program), ways };
}

/** The project of a workflow file. */
export function projectOf(file: string): string {
  const folder = dirname(file);
  return folder.endsWith(WORKFLOW_FOLDER) ? folder.slice(0, -WORKFLOW_FOLDER.length - 1) || "/" : folder;
}
