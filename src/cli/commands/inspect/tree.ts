import type { KnownMachines } from "../../../core/run/machine.ts";
import { type Run, LIVE_STATUSES, type RunStatus } from "../../../core/run/run.ts";
import { Refusal } from "../../../core/refusal.ts";
import { viewRun } from "../../../core/api/view.ts";
import type { Engine } from "../../../engine/engine.ts";
import type { Content } from "../../../core/question/content.ts";
import { type Instant, msBetween } from "../../../core/instant.ts";
import { type Question, isPending } from "../../../core/question/question.ts";
import { optionalArgument } from "../../arguments.ts";
import type { Command } from "../../command.ts";
import type { Flags } from "../../flags.ts";
import { machinesFor, sayState } from "../../view/machine-view.ts";
import { replaceLostWorker } from "../../lost-worker.ts";
import { printResult } from "../../output.ts";
import { getTarget } from "../../find-target.ts";
import { oneLine } from "../../view/sanitise.ts";
import { sayDue } from "../../view/question-text.ts";
import { refOf } from "../../view/run-text.ts";
import { sayAge } from "../../view/relative-time.ts";

const MOST_ROOTS = 200;
const MOST_CHILDREN = 200;
const DEEPEST = 20;

const flags = {
  all: { type: "boolean", about: "Include runs that have ended" },
} as const satisfies Flags;

// Task managers define these icons; every state must stay readable without them.
const ICONS: Partial<Record<RunStatus, string>> = { completed: "✓", failed: "✗" };

/** A run with its pending question and its subtasks. */
interface TreeNode {
  run: Run;
  pending: { question: Question; content: Content } | undefined;
  children: readonly TreeNode[];
}

export const command: Command<typeof flags> = {
  usage: "tree [<run>]",
  isLong: () => true,
  flags,
  fields: ["id", "number", "name", "external_id", "status", "reason", "pending_question_id", "question", "children"],
  isLooking: () => true,
  async run(args, context) {
    const engine = await context.engine();
    await replaceLostWorker(engine, context);
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
    pending: (await engine.readMany(run.pendingId ? [run.pendingId] : []))[0],
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

/** The output of `askd tree`. */
export function renderTree(roots: readonly TreeNode[], machines: KnownMachines, program: string): string {
  if (roots.length === 0) return `No active runs. Include those that ended: ${program} tree --all\n`;
  return `${roots.flatMap((root) => nodeLines(root, machines, 0)).join("\n")}\n`;
}

function nodeLines(node: TreeNode, machines: KnownMachines, depth: number): string[] {
  const below = [
    ...(node.pending ? [[questionLine(node.pending, machines.now)]] : []),
    ...(depth < DEEPEST ? node.children.map((child) => nodeLines(child, machines, depth + 1)) : []),
  ];
  return [runLine(node, machines), ...below.flatMap((lines, index) => branch(lines, index === below.length - 1))];
}

function runLine({ run, pending }: TreeNode, machines: KnownMachines): string {
  const held = pending && isPending(pending.question) ? pending.question : undefined;
  const icon = pending || run.mayHaveAsked !== undefined ? "❓" : ICONS[run.status];
  return `${refOf(run)} [${sayState(run, held, machines)}] ${icon ? `${icon} ` : ""}${oneLine(run.name)}`;
}

function questionLine(pending: NonNullable<TreeNode["pending"]>, now: Instant): string {
  const due = sayDue(pending, now)?.replace(/, then .*$/, "");
  const clock = [sayAge(msBetween(pending.question.askedAt, now)), ...(due ? [due] : [])].join(", ");
  return `Question: ${oneLine(pending.question.title)}  (${clock})`;
}

function branch(lines: readonly string[], isLast: boolean): string[] {
  return lines.map((line, index) => {
    if (index === 0) return `${isLast ? "└──" : "├──"} ${line}`;
    return `${isLast ? "   " : "│  "} ${line}`;
  });
}
