import { EXIT_CODE } from "../../../core/exit-code.ts";
import { Refusal } from "../../../core/refusal.ts";
import { stepsOf } from "../../../core/workflow/definition/step-tree.ts";
import type { WorkflowFile } from "../../../workflow/definition/workflow-folder.ts";
import type { Context } from "../../context.ts";
import { printResult } from "../../output.ts";
import { readProjectWorkflows, sayFileProblems } from "./project-workflows.ts";
import type { WorkflowFlags } from "./workflow.ts";

const FIELDS = ["path", "name", "hash", "steps", "problems"] as const;

/** Checks workflow files, those of the project unless some are named; exits with 2 if one has a mistake. */
export async function validate(words: readonly string[], _given: WorkflowFlags, context: Context): Promise<number> {
  const files = await readProjectWorkflows(context, words);
  if (files.length === 0) {
    throw new Refusal("not_found", "This project has no workflows", {
      hint: "Write one from a starting point: askd workflow init",
    });
  }
  const problems = files.flatMap((file) => file.problems);
  if (!context.json) sayFileProblems(problems, context);
  printResult(context, FIELDS, { page: () => renderFiles(files, context), json: () => files.map(viewFile) });
  return problems.some(({ level }) => level === "error") ? EXIT_CODE.usage : 0;
}

function renderFiles(files: readonly WorkflowFile[], { isQuiet, isAccessible }: Context) {
  if (isQuiet) return "";
  const mark = isAccessible ? "valid:" : "✓";
  return files
    .flatMap(({ definition }) =>
      definition ? [`${mark} ${definition.name}, ${sayCount(stepsOf(definition).length, "step")}\n`] : [],
    )
    .join("");
}

function viewFile({ path, definition, hash, problems }: WorkflowFile) {
  return {
    path,
    name: definition?.name ?? null,
    hash: hash ?? null,
    steps: definition ? stepsOf(definition).length : null,
    problems: problems.map(({ level, line, column, message, hint }) => ({
      level,
      line: line ?? null,
      column: column ?? null,
      message,
      hint: hint ?? null,
    })),
  };
}

function sayCount(count: number, noun: string) {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}
