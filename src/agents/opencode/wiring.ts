import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Client } from "../wiring.ts";
import { opencodeProfile } from "./profile.ts";
import { SERVER } from "../mcp-config.ts";
import { callTimeoutMs, configDir, wiredServerArgv } from "../desired-server.ts";

const CALL_TIMEOUT_MS = 60_000;

/** OpenCode: reads both of its files where both are there. */
export const opencodeWiring: Client = {
  name: "opencode",
  title: "OpenCode",
  programs: ["opencode"],
  homes: (around) => [join(configDir(around), "opencode")],
  targets: (scope, around) => [
    {
      file: chooseFile(scope === "user" ? join(configDir(around), "opencode") : around.dir),
      format: "json",
      wishes: [
        {
          is: "server",
          path: ["mcp", SERVER],
          argv: wiredServerArgv(scope, around),
          line: { command: "command" },
          fields: {
            type: { value: "local", when: "fresh" },
            enabled: { value: true, when: "absent" },
            timeout: { value: callTimeoutMs(opencodeProfile, around), when: "at_least" },
          },
          timeout: { field: "timeout", unitMs: 1, defaultMs: CALL_TIMEOUT_MS, isExtended: true },
        },
      ],
    },
  ],
};

function chooseFile(dir: string): string {
  const names = ["opencode.jsonc", "opencode.json"].map((name) => join(dir, name));
  return names.find((file) => existsSync(file)) ?? join(dir, "opencode.json");
}
