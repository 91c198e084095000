import { join } from "node:path";
import type { Client } from "../../agents/wiring.ts";
import { SERVER } from "../../agents/mcp-config.ts";
import { wiredServerArgv } from "../../agents/desired-server.ts";

/** Cursor, and its command line. */
export const cursor: Client = {
  name: "cursor",
  title: "Cursor",
  programs: ["cursor", "cursor-agent"],
  homes: ({ homeDir }) => [join(homeDir, ".cursor")],
  targets: (scope, around) => [
    {
      file: join(scope === "user" ? around.homeDir : around.dir, ".cursor", "mcp.json"),
      format: "json",
      wishes: [
        {
          is: "server",
          path: ["mcpServers", SERVER],
          argv: wiredServerArgv(scope, around),
          line: { command: "command", args: "args" },
          fields: {},
        },
      ],
    },
  ],
};
