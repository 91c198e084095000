import { anchorVariables } from "./anchor.ts";
import { channelSecrets, hookVariables } from "./reach.ts";
import type { Values } from "./schema.ts";

/** The variables that the settings name for secrets of askd itself: no agent and no program that it starts gets them. */
export function secretVariables(values: Values): string[] {
  return [channelSecrets, hookVariables, workflowVariables, anchorVariables].flatMap((list) => list(values));
}

/** The variables that a worker needs for workflows. */
function workflowVariables({ mcp_servers: servers = {}, workflows = {} }: Values): string[] {
  const tokens = Object.values(servers).flatMap(({ token_env: variable }) => variable ?? []);
  return [...(workflows.secrets ?? []), ...tokens];
}
