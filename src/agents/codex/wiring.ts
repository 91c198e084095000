import { join } from "node:path";
import { OWN_VARIABLES, SERVER } from "../mcp-config.ts";
import { SECOND_MS } from "../../core/instant.ts";
import type { ClientSurroundings, Client } from "../wiring.ts";
import { codexProfile } from "./profile.ts";
import { callTimeoutMs, wiredServerArgv } from "../desired-server.ts";

const CALL_TIMEOUT_MS = 300_000;
/** Its own 10 s are too short on a busy machine. */
const STARTUP_S = 60;

/** The variables that it leaves to its servers. */
const INHERITED = ["HOME", "LANG", "LC_ALL", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "TZ", "USER"];

/** Codex: its servers get a scrubbed environment, and a call without leave fails where nobody can be asked. */
export const codexWiring: Client = {
  name: "codex",
  title: "Codex",
  programs: ["codex"],
  homes: (around) => [codexHome(around)],
  inherited: [...INHERITED, ...OWN_VARIABLES],
  targets: (scope, around) => [
    {
      file: scope === "project" ? join(around.dir, ".codex", "config.toml") : join(codexHome(around), "config.toml"),
      format: "toml",
      wishes: [
        {
          is: "server",
          path: ["mcp_servers", SERVER],
          argv: wiredServerArgv(scope, around),
          line: { command: "command", args: "args" },
          fields: {
            env_vars: { value: [...OWN_VARIABLES], when: "absent" },
            default_tools_approval_mode: { value: "approve", when: "absent" },
            startup_timeout_sec: { value: STARTUP_S, when: "absent" },
            tool_timeout_sec: { value: callTimeoutMs(codexProfile, around) / SECOND_MS, when: "at_least" },
          },
          timeout: { field: "tool_timeout_sec", unitMs: SECOND_MS, defaultMs: CALL_TIMEOUT_MS },
        },
      ],
      ...(scope === "local" && { note: "all projects" }),
    },
  ],
};

function codexHome({ env, homeDir }: ClientSurroundings): string {
  return env["CODEX_HOME"] || join(homeDir, ".codex");
}
