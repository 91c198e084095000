import { AGENT_KEYS } from "./agent.ts";
import { githubComment, githubCreatePr, updateGithubIssue } from "./github.ts";
import { http } from "./http.ts";
import { callMcpTool } from "./mcp.ts";
import { shell } from "./shell.ts";
import type { StepTool } from "./tool.ts";

const OWN_TOOLS: Readonly<Record<string, StepTool>> = {
  shell,
  http,
  github_comment: githubComment,
  update_github_issue: updateGithubIssue,
  github_create_pr: githubCreatePr,
  // Nothing has started before the commit that creates its run.
  agent: { isRepeatable: true, keys: AGENT_KEYS, run: () => Promise.reject(new Error("an agent is a run of its own")) },
};

/** The tool of that name: one of askd, else of an MCP server of the settings. */
export function findTool(name: string): StepTool {
  const own = Object.hasOwn(OWN_TOOLS, name) ? OWN_TOOLS[name] : undefined;
  return own ?? { isRepeatable: false, run: (input, context) => callMcpTool(name, input, context) };
}

/** The keys that the inputs of the tools of askd may have, by tool. */
export function listInputKeys(): Record<string, readonly string[]> {
  return Object.fromEntries(Object.entries(OWN_TOOLS).flatMap(([name, { keys }]) => (keys ? [[name, keys]] : [])));
}
