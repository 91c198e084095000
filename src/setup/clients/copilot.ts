import { existsSync } from "node:fs";
import { join } from "node:path";
import type { ClientSurroundings, Client } from "../../agents/wiring.ts";
import { SERVER } from "../../agents/mcp-config.ts";
import { wiredServerArgv } from "../../agents/desired-server.ts";

/** Copilot CLI: a project's servers are the ones that Claude Code reads too, unless it has a file of its own. */
export const copilot: Client = {
  name: "copilot",
  title: "Copilot CLI",
  programs: ["copilot"],
  homes: (around) => [copilotHome(around)],
  targets: (scope, around) => [
    {
      file: scope === "project" ? projectFile(around) : join(copilotHome(around), "mcp-config.json"),
      format: "json",
      wishes: [
        {
          is: "server",
          path: ["mcpServers", SERVER],
          argv: wiredServerArgv(scope, around),
          line: { command: "command", args: "args" },
          fields: { type: { value: "stdio", when: "fresh" }, tools: { value: ["*"], when: "absent" } },
        },
      ],
      ...(scope === "local" && { note: "all projects" }),
    },
  ],
};

function projectFile({ dir }: ClientSurroundings): string {
  const own = join(dir, ".github", "mcp.json");
  return existsSync(own) ? own : join(dir, ".mcp.json");
}

function copilotHome({ env, homeDir }: ClientSurroundings): string {
  return env["COPILOT_HOME"] || join(homeDir, ".copilot");
}
