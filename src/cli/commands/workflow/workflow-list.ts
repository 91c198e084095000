import { dirname } from "node:path";
import { EXIT_CODE } from "../../../core/exit-code.ts";
import { describeTrigger } from "../../../core/workflow/definition/graph.ts";
import { findStaleness } from "../../../workflow/run/approved-file.ts";
import { type UsableWorkflow, findWorkflowFolder, isUsable } from "../../../workflow/definition/workflow-folder.ts";
import { wrongUsage } from "../../arguments.ts";
import type { Context } from "../../context.ts";
import { printResult } from "../../output.ts";
import { cutCells, padCells, textWidth } from "../../terminal/terminal.ts";
import { asTyped } from "../../program.ts";
import { oneLine } from "../../view/sanitise.ts";
import { openWorkflows } from "./workflow-engine.ts";
import { readProjectWorkflows, sayFileProblems } from "./project-workflows.ts";
import type { WorkflowFlags } from "./workflow.ts";

const FIELDS = ["name", "description", "path", "hash", "triggers", "steps"] as const;

/** Lists the workflows of the project; those with mistakes are named on stderr. */
export async function list(words: readonly string[], _given: WorkflowFlags, context: Context): Promise<number> {
  if (words.length > 0) throw wrongUsage(`Unexpected argument "${oneLine(words[0] ?? "")}"`, "workflow list");
  const files = await readProjectWorkflows(context);
  const workflows = files.filter(isUsable);
  const mistakes = files.flatMap(({ problems }) => problems.filter(({ level }) => level === "error"));
  sayFileProblems(mistakes, context);
  for (const why of await listStale(context))
    context.stderr.write(`warning: ${asTyped(oneLine(why), context.program)}\n`);
  printResult(context, FIELDS, {
    page: () => (files.length === 0 ? sayNone(context) : renderList(workflows, textWidth(context.stdout.columns))),
    json: () => workflows.map(viewWorkflow),
  });
  return mistakes.length > 0 ? EXIT_CODE.usage : 0;
}

/** The approved workflows of this project whose files are no longer the approved ones. */
async function listStale(context: Context): Promise<string[]> {
  if (context.place.store.kind === "server") return []; // the machine with the store knows what is approved
  const folder = await findWorkflowFolder(context.cwd, context.homeDir);
  const { workflows } = await openWorkflows(context);
  const host = await context.host();
  const approved = (await workflows.list()).filter(
    (each) => each.host === host && (folder === undefined ? each.dir === context.cwd : dirname(each.file) === folder),
  );
  const found = await Promise.all(approved.map(findStaleness));
  return found.filter((why) => why !== undefined);
}

function sayNone({ program }: Context) {
  return `No workflows yet. Start with one: ${program} workflow init autofix\n`;
}

function renderList(workflows: readonly UsableWorkflow[], width: number) {
  const column = Math.max(0, ...workflows.map(({ definition }) => definition.name.length));
  return workflows
    .map(({ definition: { name, description, triggers } }) => {
      const starts = (triggers ?? []).map(describeTrigger).join(", ") || "by hand";
      const said = oneLine(description === undefined ? starts : `${starts} · ${description}`);
      return `${cutCells(`${padCells(name, column)}  ${said}`, width)}\n`;
    })
    .join("");
}

function viewWorkflow({ path, hash, definition }: UsableWorkflow) {
  const { name, description, triggers, steps } = definition;
  return {
    name,
    description: description ?? null,
    path,
    hash,
    triggers: (triggers ?? []).map(describeTrigger),
    steps: steps.map(({ id }) => id),
  };
}
