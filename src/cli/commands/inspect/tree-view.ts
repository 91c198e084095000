import type { Content } from "../../../core/question/content.ts";
import { type Instant, msBetween } from "../../../core/instant.ts";
import type { KnownMachines } from "../../../core/run/machine.ts";
import { type Question, isPending } from "../../../core/question/question.ts";
import type { Run, RunStatus } from "../../../core/run/run.ts";
import { sayState } from "../../view/machine-view.ts";
import { oneLine } from "../../view/sanitise.ts";
import { sayDue } from "../../view/question-text.ts";
import { refOf } from "../../view/run-text.ts";
import { sayAge } from "../../view/relative-time.ts";

// Task managers define these icons; every state must stay readable without them.
const ICONS: Partial<Record<RunStatus, string>> = { completed: "✓", failed: "✗" };
const DEEPEST = 20;

/** A run with its pending question and its subtasks. */
export interface TreeNode {
  run: Run;
  pending: { question: Question; content: Content } | undefined;
  children: readonly TreeNode[];
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
  const icon = pending ? "❓" : ICONS[run.status];
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
