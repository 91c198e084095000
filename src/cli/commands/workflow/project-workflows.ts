import { resolve } from "node:path";
import { limitedAgentsOf } from "../../../agents/registry.ts";
import { withoutCallerVariables, withoutVariables } from "../../../agents/runner/run-files.ts";
import { secretVariables } from "../../../config/secret-variable.ts";
import { findWorkflowSettings } from "../../../config/workflow.ts";
import { Refusal } from "../../../core/refusal.ts";
import { type FileProblem, formatProblem } from "../../../core/text/file-problem.ts";
import { findNearest } from "../../../core/text/nearest.ts";
import { type KnownTools, listUnknownTools } from "../../../core/workflow/definition/check-definition.ts";
import { OWN_TOOLS } from "../../../core/workflow/definition/scope-name.ts";
import {
  type UsableWorkflow,
  type WorkflowFile,
  findWorkflowFolder,
  listWorkflowFiles,
  readWorkflowFiles,
} from "../../../workflow/definition/workflow-folder.ts";
import { listInputKeys } from "../../../workflow/tool/find-tool.ts";
import type { Context } from "../../context.ts";
import { asTyped } from "../../program.ts";
import { oneLine } from "../../view/sanitise.ts";
import { projectOf } from "./workflow-engine.ts";

/** How long MCP servers may take to list their tools. */
const LIST_TOOLS_MS = 20_000;

/** Reads the named workflow files, or those of the project. */
export async function readProjectWorkflows(
  { cwd, homeDir, config, agents }: Pick<Context, "cwd" | "homeDir" | "config" | "agents">,
  named: readonly string[] = [],
): Promise<WorkflowFile[]> {
  const folder = named.length > 0 ? undefined : await findWorkflowFolder(cwd, homeDir);
  const paths = folder === undefined ? named.map((name) => resolve(cwd, name)) : await listWorkflowFiles(folder);
  // MCP servers may have other tools; none is started to check a file.
  const isWithoutServers = Object.keys(config.values.mcp_servers ?? {}).length === 0;
  const limitedAgents = limitedAgentsOf(await agents());
  const secrets = config.values.workflows?.secrets ?? [];
  const inputKeys = listInputKeys();
  const tools: KnownTools = {
    names: OWN_TOOLS,
    mayHaveMore: true,
    isWithoutServers,
    limitedAgents,
    inputKeys,
    secrets,
  };
  return readWorkflowFiles(paths, { cwd, tools });
}

/** Refuses a workflow with a tool that neither askd nor an MCP server of the settings has, as far as they can be asked. */
export async function requireTools({ definition, path }: UsableWorkflow, context: Context): Promise<void> {
  const [tool] = listUnknownTools(definition, OWN_TOOLS);
  if (tool === undefined) return;
  const { mcpServers } = findWorkflowSettings(context.config.values, context.env);
  if (mcpServers.length === 0) throw noTool(tool, "and the settings have no MCP server");
  const env = withoutVariables(withoutCallerVariables(context.env), secretVariables(context.config.values));
  const { listServerTools } = await import("../../../workflow/tool/mcp.ts");
  const signal = AbortSignal.timeout(LIST_TOOLS_MS);
  const { names, away } = await listServerTools(mcpServers, { dir: projectOf(path), env, signal });
  const [missing] = listUnknownTools(definition, [...OWN_TOOLS, ...names]);
  if (missing === undefined) return;
  if (away.length === 0) throw noTool(missing, "and no MCP server of the settings has it");
  context.stderr.write(
    `warning: nothing that could be asked has the tool ${oneLine(missing)}; these MCP servers do not start: ${oneLine(away.join(", "))}\n`,
  );
}

function noTool(tool: string, why: string) {
  const meant = findNearest(tool, OWN_TOOLS);
  const hint = "Add the server that has it to the settings: [mcp_servers.<name>]";
  return new Refusal("bad_input", `There is no tool ${oneLine(tool)} in askd, ${why}`, {
    hint: meant === undefined ? hint : `Did you mean ${meant}?`,
  });
}

/** Prints problems for people, each with what to write instead. */
export function sayFileProblems(problems: readonly FileProblem[], { stderr, program }: Context): void {
  for (const problem of problems) {
    const hint = problem.hint === undefined ? "" : `\n  ${asTyped(oneLine(problem.hint), program)}`;
    stderr.write(`${problem.level}: ${oneLine(formatProblem(problem))}${hint}\n`);
  }
}
