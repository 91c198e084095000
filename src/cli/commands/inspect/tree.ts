import type { KnownMachines } from "../../../core/run/machine.ts";
import type { Run } from "../../../core/run/run.ts";
import { LIVE_STATUSES } from "../../../core/run/run.ts";
import { Refusal } from "../../../core/refusal.ts";
import { viewRun } from "../../../core/api/view.ts";
import type { Engine } from "../../../engine/engine.ts";
import { optionalArgument } from "../../arguments.ts";
import type { Command } from "../../command.ts";
import type { Flags } from "../../flags.ts";
import { machinesFor } from "../../view/machine-view.ts";
import { printResult } from "../../output.ts";
import { getTarget } from "../../target.ts";
import { type TreeNode, renderTree } from "./tree-view.ts";

const MOST_ROOTS = 200;
const MOST_CHILDREN = 200;
const DEEPEST = 20;

const flags = {
  all: { type: "boolean", about: "Include runs that have ended" },
} as const satisfies Flags;

export const command: Command<typeof flags> = {
  usage: "tree [<run>]",
  isLong: () => true,
  flags,
  fields: ["id", "number", "name", "external_id", "status", "reason", "pending_question_id", "question", "children"],
  async run(args, context) {
    const engine = await context.engine();
    const name = optionalArgument(args.positionals, command.usage);
    const roots = name === undefined ? await findRoots(engine, args.flags.all ?? false) : [await getRoot(engine, name)];
    const nodes = await Promise.all(roots.map((run) => growNode(engine, run, 0)));
    const machines = await machinesFor(engine, nodes.flatMap(listRuns), context);
    printResult(context, command.fields ?? [], {
      page: () => renderTree(nodes, machines, context.program),
      json: () => nodes.map((node) => viewNode(node, machines)),
    });
    return 0;
  },
};

async function findRoots(engine: Engine, withEnded: boolean): Promise<Run[]> {
  const runs = await engine.listRuns({
    order: "newest",
    limit: MOST_ROOTS,
    statuses: withEnded ? undefined : LIVE_STATUSES,
  });
  return runs.filter((run) => run.parentId === undefined).toReversed();
}

async function getRoot(engine: Engine, name: string): Promise<Run> {
  const target = await getTarget(engine, name);
  const run = target.named === "run" ? target.run : await engine.findRun(target.question.runId);
  if (!run) throw new Refusal("not_found", `There is no run "${name}"`);
  return run;
}

async function growNode(engine: Engine, run: Run, depth: number): Promise<TreeNode> {
  const children =
    depth < DEEPEST ? await engine.listRuns({ parentId: run.id, order: "oldest", limit: MOST_CHILDREN }) : [];
  return {
    run,
    pending: run.pendingId && (await engine.read(run.pendingId)),
    children: await Promise.all(children.map((child) => growNode(engine, child, depth + 1))),
  };
}

function listRuns({ run, children }: TreeNode): Run[] {
  return [run, ...children.flatMap(listRuns)];
}

function viewNode({ run, pending, children }: TreeNode, machines: KnownMachines): object {
  return {
    ...viewRun(run, machines),
    question: pending?.question.title ?? null,
    children: children.map((child) => viewNode(child, machines)),
  };
}
