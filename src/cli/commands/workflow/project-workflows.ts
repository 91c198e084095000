import { resolve } from "node:path";
import { type FileProblem, formatProblem } from "../../../core/text/file-problem.ts";
import type { KnownTools } from "../../../core/workflow/definition/check-definition.ts";
import { OWN_TOOLS } from "../../../core/workflow/definition/scope-name.ts";
import {
  type WorkflowFile,
  findWorkflowFolder,
  listWorkflowFiles,
  readWorkflowFiles,
} from "../../../workflow/definition/workflow-folder.ts";
import type { Context } from "../../context.ts";
import { asTyped } from "../../program.ts";
import { oneLine } from "../../view/sanitise.ts";

/** MCP servers may have other tools; none is started to check a file. */
const TOOLS: KnownTools = { names: OWN_TOOLS, mayHaveMore: true };

/** Reads the named workflow files, or those of the project. */
export async function readProjectWorkflows(
  { cwd, homeDir }: Pick<Context, "cwd" | "homeDir">,
  named: readonly string[] = [],
): Promise<WorkflowFile[]> {
  const folder = named.length > 0 ? undefined : await findWorkflowFolder(cwd, homeDir);
  const paths = folder === undefined ? named.map((name) => resolve(cwd, name)) : await listWorkflowFiles(folder);
  return readWorkflowFiles(paths, { cwd, tools: TOOLS });
}

/** Prints problems for people, each with what to write instead. */
export function sayFileProblems(problems: readonly FileProblem[], { stderr, program }: Context): void {
  for (const problem of problems) {
    const hint = problem.hint === undefined ? "" : `\n  ${asTyped(oneLine(problem.hint), program)}`;
    stderr.write(`${problem.level}: ${oneLine(formatProblem(problem))}${hint}\n`);
  }
}
