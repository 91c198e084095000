import { join } from "node:path";
import type { ClientSurroundings, Client } from "../../agents/wiring.ts";
import { SERVER } from "../../agents/mcp-config.ts";
import { configDir, wiredServerArgv } from "../../agents/desired-server.ts";

/** VS Code: servers of a person lie in the folder of the default profile. */
export const vscode: Client = {
  name: "vscode",
  title: "VS Code",
  programs: ["code"],
  homes: (around) => [userDir(around)],
  targets: (scope, around) => [
    {
      file: scope === "user" ? join(userDir(around), "mcp.json") : join(around.dir, ".vscode", "mcp.json"),
      format: "json",
      wishes: [
        {
          is: "server",
          path: ["servers", SERVER],
          argv: wiredServerArgv(scope, around),
          line: { command: "command", args: "args" },
          fields: { type: { value: "stdio", when: "fresh" } },
        },
      ],
    },
  ],
};

function userDir(around: ClientSurroundings): string {
  const { platform, homeDir, env } = around;
  if (platform === "darwin") return join(homeDir, "Library", "Application Support", "Code", "User");
  if (platform === "win32") return join(env["APPDATA"] ?? join(homeDir, "AppData", "Roaming"), "Code", "User");
  return join(configDir(around), "Code", "User");
}
