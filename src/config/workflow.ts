import type { Values } from "./schema.ts";
import { secretVariables } from "./secret-variable.ts";

type Env = Readonly<Record<string, string | undefined>>;

/** Servers, agents and secrets that workflows may use. */
export interface WorkflowSettings {
  mcpServers: Array<{
    name: string;
    command: readonly string[] | undefined;
    url: string | undefined;
    headers: Record<string, string>;
  }>;
  agents: NonNullable<Values["agents"]>;
  /** The secrets that steps may use, by name; those that are not set are left out. */
  readSecrets(): Record<string, string>;
  /** The variables with secrets of the settings, which no agent and no program of a step gets. */
  secretVariables: string[];
}

export function findWorkflowSettings(values: Values, env: Env): WorkflowSettings {
  const { mcp_servers: servers = {}, workflows = {}, agents = {} } = values;
  return {
    mcpServers: Object.entries(servers).map(([name, { command, url, token_env: variable }]) => {
      const token = variable === undefined ? undefined : env[variable];
      const headers: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` };
      return { name, command, url, headers };
    }),
    agents,
    secretVariables: secretVariables(values),
    readSecrets: () =>
      Object.fromEntries((workflows.secrets ?? []).flatMap((name) => (env[name] ? [[name, env[name] ?? ""]] : []))),
  };
}
