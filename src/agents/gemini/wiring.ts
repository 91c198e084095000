import { join } from "node:path";
import { SECOND_MS } from "../../core/instant.ts";
import type { ClientSurroundings, Client } from "../wiring.ts";
import { geminiProfile } from "./profile.ts";
import { SERVER } from "../mcp-config.ts";
import { callTimeoutMs, hookTimeoutS, wiredServerArgv, startFor } from "../desired-server.ts";

const CALL_TIMEOUT_MS = 600_000;

/** Gemini CLI: tools of a server that is not trusted are not offered where nobody can be asked. */
export const geminiWiring: Client = {
  name: "gemini",
  title: "Gemini CLI",
  programs: ["gemini"],
  homes: (around) => [geminiHome(around)],
  targets: (scope, around) => {
    const seconds = hookTimeoutS(around);
    const dir = scope === "user" ? geminiHome(around) : join(around.dir, ".gemini");
    return [
      {
        file: join(dir, "settings.json"),
        format: "json",
        wishes: [
          {
            is: "server",
            path: ["mcpServers", SERVER],
            argv: wiredServerArgv(scope, around),
            line: { command: "command", args: "args" },
            fields: {
              trust: { value: true, when: "absent" },
              timeout: { value: callTimeoutMs(geminiProfile, around), when: "at_least" },
            },
            timeout: { field: "timeout", unitMs: 1, defaultMs: CALL_TIMEOUT_MS },
          },
          {
            is: "hook",
            path: ["hooks", "BeforeTool"],
            matcher: `mcp_${SERVER}_ask_human`,
            argv: [...startFor(scope, around), "hook", "gemini", "--standing", "--timeout", `${seconds}s`],
            timeout: { value: seconds * SECOND_MS, unitMs: 1 },
          },
        ],
      },
    ];
  },
};

function geminiHome({ env, homeDir }: ClientSurroundings): string {
  return join(env["GEMINI_CLI_HOME"] || homeDir, ".gemini");
}
