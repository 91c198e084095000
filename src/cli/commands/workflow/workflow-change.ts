import { RUN_FIELDS, viewRun } from "../../../core/api/view.ts";
import { Refusal } from "../../../core/refusal.ts";
import { type Run, hasEnded } from "../../../core/run/run.ts";
import { whoTypes } from "../../actor.ts";
import { requireOneArgument } from "../../arguments.ts";
import type { Context, OpenedEngine } from "../../context.ts";
import { printResult } from "../../output.ts";
import { oneLine } from "../../view/sanitise.ts";
import { startService } from "../service/worker.ts";
import { getRun } from "../../find-target.ts";
import { findHolds, getWorkflowRun, openWorkflows } from "./workflow-engine.ts";
import type { WorkflowFlags } from "./workflow.ts";

/** Cancels a run with its question and everything that it started. */
export async function cancel(words: readonly string[], given: WorkflowFlags, context: Context): Promise<number> {
  const { engine } = await openWorkflows(context);
  const { run } = await getWorkflowRun(engine, requireOneArgument(words, "workflow cancel <run>"));
  if (hasEnded(run)) {
    throw new Refusal("run_ended", `Run #${run.number} has already ended (${run.status})`, {
      hint: `See it with: askd workflow show ${run.number}`,
    });
  }
  const cancelled = await engine.cancelRun(run.id, await whoTypes(engine, context), given.reason);
  await say(cancelled, "is cancelled", engine, context);
  return 0;
}

/** Repeats an ended run from a step; steps before it are not done again. */
export async function retry(words: readonly string[], given: WorkflowFlags, context: Context): Promise<number> {
  const { engine, workflows } = await openWorkflows(context);
  const run = await getRun(engine, requireOneArgument(words, "workflow retry <run> [--from <step>]"));
  const again = await workflows.retry(run.id, given.from, await whoTypes(engine, context));
  const { hold, ways } = await findHolds(again, engine, context);
  const holds = [...(hold === undefined ? [] : [hold]), ...ways];
  const from = given.from === undefined ? "" : ` from ${oneLine(given.from)}`;
  const what =
    holds.length === 0 ? `goes on${from}` : `will go on${from}\n${holds.map((line) => `  ${line}`).join("\n")}`;
  await say(again, what, engine, context);
  return 0;
}

async function say(run: Run, what: string, engine: OpenedEngine, context: Context) {
  printResult(context, RUN_FIELDS, {
    page: () => (context.isQuiet ? "" : `✓ #${run.number} ${oneLine(run.name)} ${what}\n`),
    json: () => viewRun(run),
  });
  await startService(context);
  await engine.doDue();
}
