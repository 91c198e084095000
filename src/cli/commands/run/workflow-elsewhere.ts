import { hasRunBranch } from "../../../agents/workspace/run-tree.ts";
import { machineName } from "../../../core/run/machine.ts";
import type { Run } from "../../../core/run/run.ts";
import { moveWorkflow } from "../../../workflow/run/move-workflow.ts";
import { whoTypes } from "../../actor.ts";
import type { Context, OpenedEngine } from "../../context.ts";
import { oneLine } from "../../view/sanitise.ts";
import { insideOf } from "../workflow/workflow-engine.ts";

/** Moves the run of a workflow to this machine; returns it, with what to say. */
export async function moveWorkflowHere(
  before: Run,
  engine: OpenedEngine,
  context: Context,
): Promise<{ run: Run; lines: string[] }> {
  const machine = { host: await context.keepHost(), hasBranch: hasRunBranch };
  const by = await whoTypes(engine, context);
  const { run, hasTree, agents } = await moveWorkflow(before, machine, by, insideOf(engine));
  const from = oneLine(machineName(before.host));
  const waits =
    run.pendingId === undefined
      ? `continues on this machine; it is ${run.status}`
      : "continues on this machine once it is answered";
  const { program } = context;
  return {
    run,
    lines: [
      `${waits} (it was on ${from})`,
      ...(hasTree
        ? [`Its steps work on what its branch has here; changes that were not committed are on ${from}`]
        : []),
      ...agents.map(
        ({ number }) =>
          `Its agent, #${number}, is still on ${from}: ${program} runs resume ${number} --elsewhere, or ${program} runs cancel ${number}`,
      ),
    ],
  };
}
