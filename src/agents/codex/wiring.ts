import { join } from "node:path";
import { OWN_VARIABLES } from "../mcp-config.ts";
import { SECOND_MS } from "../../core/instant.ts";
import type { Around, Client } from "../../setup/client.ts";
import { SERVER, callTimeoutMs, serverArgv } from "../desired-server.ts";

const CALL_TIMEOUT_MS = 300_000;
/** Its own 10 s are too short on a busy machine. */
const STARTUP_S = 60;

/** Codex: its servers get a scrubbed environment, and a call without leave fails where nobody can be asked. */
export const codex: Client = {
  name: "codex",
  title: "Codex",
  programs: ["codex"],
  homes: (around) => [codexHome(around)],
  targets: (scope, around) => [
    {
      file: scope === "project" ? join(around.dir, ".codex", "config.toml") : join(codexHome(around), "config.toml"),
      format: "toml",
      wishes: [
        {
          is: "server",
          path: ["mcp_servers", SERVER],
          argv: serverArgv(scope, around),
          line: { command: "command", args: "args" },
          fields: {
            env_vars: { value: [...OWN_VARIABLES], when: "absent" },
            default_tools_approval_mode: { value: "approve", when: "absent" },
            startup_timeout_sec: { value: STARTUP_S, when: "absent" },
            tool_timeout_sec: { value: callTimeoutMs("codex", around) / SECOND_MS, when: "at_least" },
          },
          timeout: { field: "tool_timeout_sec", unitMs: SECOND_MS, defaultMs: CALL_TIMEOUT_MS },
        },
      ],
      ...(scope === "local" && { note: "all projects" }),
    },
  ],
};

function codexHome({ env, homeDir }: Around): string {
  return env["CODEX_HOME"] || join(homeDir, ".codex");
}
