import { join } from "node:path";
import { EXIT_CODE } from "../../../core/exit-code.ts";
import { Refusal } from "../../../core/refusal.ts";
import { findNearest } from "../../../core/text/nearest.ts";
import { SCHEMA_LINE } from "../../../workflow/definition/json-schema.ts";
import { readWorkflow } from "../../../workflow/definition/read-workflow.ts";
import { WORKFLOW_FOLDER, findWorkflowFolder, isThere } from "../../../workflow/definition/workflow-folder.ts";
import { STARTERS } from "../../../workflow/starter/starters.ts";
import { optionalArgument } from "../../arguments.ts";
import type { Context } from "../../context.ts";
import { printResult } from "../../output.ts";
import type { WorkflowFlags } from "./workflow.ts";

const FIELDS = ["name", "description", "path", "hash"] as const;
const USAGE = "workflow init [<starting point>]";

/** Writes a starting point into the project, or lists them. */
export async function init(words: readonly string[], given: WorkflowFlags, context: Context): Promise<number> {
  const name = optionalArgument(words, USAGE);
  if (name === undefined) return offer(context);
  const starter = Object.hasOwn(STARTERS, name) ? STARTERS[name] : undefined;
  if (!starter) {
    const meant = findNearest(name, Object.keys(STARTERS));
    throw new Refusal("not_found", `There is no starting point "${name}"`, {
      hint: meant === undefined ? "See all: askd workflow init" : `Did you mean ${meant}?`,
    });
  }
  const folder = (await findWorkflowFolder(context.cwd, context.homeDir)) ?? join(context.cwd, WORKFLOW_FOLDER);
  const path = join(folder, `${name}.yml`);
  if (!given.force && (await isThere(path))) {
    throw new Refusal("key_reused", `${path} is there already; nothing was changed`, {
      hint: `Replace it: askd workflow init ${name} --force`,
    });
  }
  const text = `${SCHEMA_LINE}\n${starter.text}`;
  await context.writeFile(path, text);
  const { hash } = readWorkflow(text, path);
  printResult(context, FIELDS, {
    page: () =>
      context.isQuiet ? "" : `✓ Written to ${path}\nLook at it: ${context.program} workflow graph ${name}\n`,
    json: () => ({ name, description: starter.about, path, hash }),
  });
  return EXIT_CODE.done;
}

/** Lists the starting points. */
function offer(context: Context): number {
  const starters = Object.entries(STARTERS);
  const column = Math.max(...starters.map(([name]) => name.length));
  printResult(context, FIELDS, {
    page: () =>
      [
        ...starters.map(([name, { about }]) => `${name.padEnd(column)}  ${about}`),
        "",
        `Write one to ${WORKFLOW_FOLDER}: ${context.program} workflow init autofix\n`,
      ].join("\n"),
    json: () => starters.map(([name, { about }]) => ({ name, description: about, path: null, hash: null })),
  });
  return EXIT_CODE.done;
}
