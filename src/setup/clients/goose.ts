import { join } from "node:path";
import { UNKNOWN_CLIENT } from "../../core/door/client-profile.ts";
import { SECOND_MS } from "../../core/instant.ts";
import type { Client } from "../../agents/wiring.ts";
import { SERVER } from "../../agents/mcp-config.ts";
import { callTimeoutMs, configDir, wiredServerArgv } from "../../agents/desired-server.ts";

const CALL_TIMEOUT_MS = 300_000;

/** Goose: a server is an extension among others. */
export const goose: Client = {
  name: "goose",
  title: "Goose",
  programs: ["goose"],
  homes: (around) => [join(configDir(around), "goose")],
  targets: (scope, around) => [
    {
      file: join(scope === "project" ? join(around.dir, ".goose") : join(configDir(around), "goose"), "config.yaml"),
      format: "yaml",
      wishes: [
        {
          is: "server",
          path: ["extensions", SERVER],
          argv: wiredServerArgv(scope, around),
          line: { command: "cmd", args: "args" },
          fields: {
            name: { value: SERVER, when: "fresh" },
            type: { value: "stdio", when: "fresh" },
            enabled: { value: true, when: "absent" },
            timeout: {
              value: Math.max(CALL_TIMEOUT_MS, callTimeoutMs(UNKNOWN_CLIENT, around)) / SECOND_MS,
              when: "at_least",
            },
          },
          timeout: { field: "timeout", unitMs: SECOND_MS, defaultMs: CALL_TIMEOUT_MS },
        },
      ],
      ...(scope === "local" && { note: "all projects" }),
    },
  ],
};
