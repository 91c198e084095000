import { join } from "node:path";
import { UNKNOWN_CLIENT } from "../core/door/client-profile.ts";
import { SECOND_MS } from "../core/instant.ts";
import type { ClientSurroundings, DesiredServer } from "../agents/wiring.ts";
import type { Format } from "../edit/editor.ts";
import { SERVER } from "../agents/mcp-config.ts";
import { callTimeoutMs, configDir, wiredServerArgv } from "../agents/desired-server.ts";
import { renderSnippet } from "./snippet.ts";

/** A client whose file is changed by hand: where it is and how it names a server. */
export interface OtherClient {
  name: string;
  title: string;
  file(around: ClientSurroundings): string;
  format: Format;
  key: string;
  line?: DesiredServer["line"];
  fields?: (around: ClientSurroundings) => DesiredServer["fields"];
}

const json = (name: string, title: string, file: OtherClient["file"]): OtherClient => {
  return { name, title, file, format: "json", key: "mcpServers" };
};

/** Clients that init does not change itself. */
export const OTHER_CLIENTS: readonly OtherClient[] = [
  json("antigravity", "Antigravity", ({ homeDir }) => join(homeDir, ".gemini", "config", "mcp_config.json")),
  json("claude-desktop", "Claude Desktop", (around) => join(appDir(around), "Claude", "claude_desktop_config.json")),
  json("cline", "Cline", (around) => {
    const storage = ["Code", "User", "globalStorage", "saoudrizwan.claude-dev", "settings"];
    return join(appDir(around), ...storage, "cline_mcp_settings.json");
  }),
  {
    ...json("grok", "Grok Build", ({ homeDir, env }) =>
      join(env["GROK_HOME"] || join(homeDir, ".grok"), "config.toml"),
    ),
    format: "toml",
    key: "mcp_servers",
    fields: (around) => ({
      tool_timeout_sec: { value: callTimeoutMs(UNKNOWN_CLIENT, around) / SECOND_MS, when: "at_least" },
    }),
  },
  {
    ...json("kilo", "Kilo Code", (around) => join(configDir(around), "kilo", "kilo.json")),
    key: "mcp",
    line: { command: "command" },
    fields: (around) => ({
      type: { value: "local", when: "fresh" },
      enabled: { value: true, when: "absent" },
      timeout: { value: callTimeoutMs(UNKNOWN_CLIENT, around), when: "at_least" },
    }),
  },
  {
    ...json("kimi", "Kimi Code", ({ homeDir, env }) =>
      join(env["KIMI_CODE_HOME"] || join(homeDir, ".kimi-code"), "mcp.json"),
    ),
    fields: (around) => ({ toolTimeoutMs: { value: callTimeoutMs(UNKNOWN_CLIENT, around), when: "at_least" } }),
  },
  {
    ...json("kiro", "Kiro", ({ homeDir }) => join(homeDir, ".kiro", "settings", "mcp.json")),
    fields: (around) => ({ timeout: { value: callTimeoutMs(UNKNOWN_CLIENT, around), when: "at_least" } }),
  },
  json("windsurf", "Windsurf", ({ homeDir }) => join(homeDir, ".codeium", "windsurf", "mcp_config.json")),
];

/** Renders the settings for such a client, or for any client that takes the usual shape. */
export function renderOther(client: OtherClient | undefined, around: ClientSurroundings): string {
  const wish: DesiredServer = {
    is: "server",
    path: [client?.key ?? "mcpServers", SERVER],
    argv: wiredServerArgv("user", around),
    line: client?.line ?? { command: "command", args: "args" },
    fields: client?.fields?.(around) ?? {},
  };
  return renderSnippet(client?.format ?? "json", [wish]);
}

function appDir(around: ClientSurroundings): string {
  const { platform, homeDir, env } = around;
  if (platform === "darwin") return join(homeDir, "Library", "Application Support");
  if (platform === "win32") return env["APPDATA"] ?? join(homeDir, "AppData", "Roaming");
  return configDir(around);
}
