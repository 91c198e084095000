import { join } from "node:path";
import { SECOND_MS } from "../core/instant.ts";
import type { Around, Format } from "./client.ts";
import { SERVER, callTimeoutMs, configDir, serverArgv } from "../agents/desired-server.ts";
import { renderSnippet } from "./snippet.ts";
import type { ServerWish } from "./desired-config.ts";

/** A client whose file is changed by hand: where it is and how it names a server. */
export interface OtherClient {
  name: string;
  title: string;
  file(around: Around): string;
  format: Format;
  key: string;
  line?: ServerWish["line"];
  fields?: (around: Around) => ServerWish["fields"];
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
    ...{ format: "toml", key: "mcp_servers" },
    fields: (around) => ({
      tool_timeout_sec: { value: callTimeoutMs("grok", around) / SECOND_MS, when: "at_least" },
    }),
  },
  {
    ...json("kilo", "Kilo Code", (around) => join(configDir(around), "kilo", "kilo.json")),
    ...{ key: "mcp", line: { command: "command" } },
    fields: (around) => ({
      type: { value: "local", when: "fresh" },
      enabled: { value: true, when: "absent" },
      timeout: { value: callTimeoutMs("kilo", around), when: "at_least" },
    }),
  },
  {
    ...json("kimi", "Kimi Code", ({ homeDir, env }) =>
      join(env["KIMI_CODE_HOME"] || join(homeDir, ".kimi-code"), "mcp.json"),
    ),
    fields: (around) => ({ toolTimeoutMs: { value: callTimeoutMs("kimi", around), when: "at_least" } }),
  },
  {
    ...json("kiro", "Kiro", ({ homeDir }) => join(homeDir, ".kiro", "settings", "mcp.json")),
    fields: (around) => ({ timeout: { value: callTimeoutMs("kiro", around), when: "at_least" } }),
  },
  json("windsurf", "Windsurf", ({ homeDir }) => join(homeDir, ".codeium", "windsurf", "mcp_config.json")),
];

/** What to put into the file of such a client, or of any that takes the usual shape. */
export function renderOther(client: OtherClient | undefined, around: Around): string {
  const wish: ServerWish = {
    is: "server",
    path: [client?.key ?? "mcpServers", SERVER],
    argv: serverArgv("user", around),
    line: client?.line ?? { command: "command", args: "args" },
    fields: client?.fields?.(around) ?? {},
  };
  return renderSnippet(client?.format ?? "json", [wish]);
}

function appDir(around: Around): string {
  const { platform, homeDir, env } = around;
  if (platform === "darwin") return join(homeDir, "Library", "Application Support");
  if (platform === "win32") return env["APPDATA"] ?? join(homeDir, "AppData", "Roaming");
  return configDir(around);
}
