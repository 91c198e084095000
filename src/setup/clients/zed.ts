import { join } from "node:path";
import type { Client } from "../../agents/wiring.ts";
import { SERVER } from "../../agents/mcp-config.ts";
import { configDir, wiredServerArgv } from "../../agents/desired-server.ts";

/** Zed: its servers stand in its settings, which people write by hand. */
export const zed: Client = {
  name: "zed",
  title: "Zed",
  programs: ["zed", "zeditor"],
  homes: (around) => [join(configDir(around), "zed")],
  targets: (scope, around) => [
    {
      file: join(scope === "user" ? join(configDir(around), "zed") : join(around.dir, ".zed"), "settings.json"),
      format: "json",
      wishes: [
        {
          is: "server",
          path: ["context_servers", SERVER],
          argv: wiredServerArgv(scope, around),
          line: { command: "command", args: "args" },
          fields: { source: { value: "custom", when: "fresh" } },
        },
      ],
    },
  ],
};
