import { existsSync } from "node:fs";
import { join } from "node:path";
import { UNKNOWN_CLIENT } from "../core/door/client-profile.ts";
import { MINUTE_MS, SECOND_MS } from "../core/instant.ts";
import { SERVER } from "../agents/mcp-config.ts";
import type { AgentRegistry } from "../agents/registry.ts";
import { findProgram, readVersion } from "../agents/runner/launch.ts";
import {
  type Client,
  type ClientSurroundings,
  type ServerShape,
  callTimeoutMs,
  configDir,
  oneFileClient,
  serverWish,
} from "../agents/wiring.ts";
import type { Format } from "../edit/editor.ts";
import { renderSnippet } from "./desired-config.ts";

/** Some programs take seconds to say their version; nothing depends on it. */
const VERSION_MS = 8 * SECOND_MS;
/** Goose's own limit of one call. */
const GOOSE_TIMEOUT_MS = 5 * MINUTE_MS;

/** Programs that askd wires and never starts: all that it knows of them are their settings. */
const ONLY_WIRED: readonly Client[] = [
  oneFileClient({
    name: "cursor",
    title: "Cursor",
    programs: ["cursor", "cursor-agent"],
    homes: ({ homeDir }) => [join(homeDir, ".cursor")],
    file: (scope, { homeDir, dir }) => join(scope === "user" ? homeDir : dir, ".cursor", "mcp.json"),
    key: "mcpServers",
  }),
  oneFileClient({
    name: "vscode",
    title: "VS Code",
    programs: ["code"],
    // Servers of a person lie in the folder of the default profile.
    homes: (around) => [join(appDir(around), "Code", "User")],
    file: (scope, around) =>
      join(scope === "user" ? join(appDir(around), "Code", "User") : join(around.dir, ".vscode"), "mcp.json"),
    key: "servers",
    shape: () => ({ fields: { type: { value: "stdio", when: "fresh" } } }),
  }),
  oneFileClient({
    name: "copilot",
    title: "Copilot CLI",
    programs: ["copilot"],
    homes: (around) => [copilotHome(around)],
    file: (scope, around) =>
      scope === "project" ? copilotProjectFile(around) : join(copilotHome(around), "mcp-config.json"),
    key: "mcpServers",
    shape: () => ({ fields: { type: { value: "stdio", when: "fresh" }, tools: { value: ["*"], when: "absent" } } }),
    isLocalGlobal: true,
  }),
  oneFileClient({
    name: "zed",
    title: "Zed",
    programs: ["zed", "zeditor"],
    homes: (around) => [join(configDir(around), "zed")],
    // Its servers stand in its settings, which people write by hand.
    file: (scope, around) =>
      join(scope === "user" ? join(configDir(around), "zed") : join(around.dir, ".zed"), "settings.json"),
    key: "context_servers",
    shape: () => ({ fields: { source: { value: "custom", when: "fresh" } } }),
  }),
  oneFileClient({
    name: "goose",
    title: "Goose",
    programs: ["goose"],
    homes: (around) => [join(configDir(around), "goose")],
    file: (scope, around) =>
      join(scope === "project" ? join(around.dir, ".goose") : join(configDir(around), "goose"), "config.yaml"),
    format: "yaml",
    // A server is an extension among others.
    key: "extensions",
    shape: (around) => ({
      line: { command: "cmd", args: "args" },
      fields: {
        name: { value: SERVER, when: "fresh" },
        type: { value: "stdio", when: "fresh" },
        enabled: { value: true, when: "absent" },
        timeout: {
          value: Math.max(GOOSE_TIMEOUT_MS, callTimeoutMs(UNKNOWN_CLIENT, around)) / SECOND_MS,
          when: "at_least",
        },
      },
      timeout: { field: "timeout", unitMs: SECOND_MS, defaultMs: GOOSE_TIMEOUT_MS },
    }),
    isLocalGlobal: true,
  }),
];

/** A client whose file is changed by hand: where it is and how it names a server. */
interface OtherClient {
  name: string;
  title: string;
  file(around: ClientSurroundings): string;
  format?: Format;
  key?: string;
  shape?(around: ClientSurroundings): ServerShape;
}

/** Clients that init does not change itself. */
export const OTHER_CLIENTS: readonly OtherClient[] = [
  {
    name: "antigravity",
    title: "Antigravity",
    file: ({ homeDir }) => join(homeDir, ".gemini", "config", "mcp_config.json"),
  },
  {
    name: "claude-desktop",
    title: "Claude Desktop",
    file: (around) => join(appDir(around), "Claude", "claude_desktop_config.json"),
  },
  {
    name: "cline",
    title: "Cline",
    file: (around) => {
      const storage = ["Code", "User", "globalStorage", "saoudrizwan.claude-dev", "settings"];
      return join(appDir(around), ...storage, "cline_mcp_settings.json");
    },
  },
  {
    name: "grok",
    title: "Grok Build",
    file: ({ homeDir, env }) => join(env["GROK_HOME"] || join(homeDir, ".grok"), "config.toml"),
    format: "toml",
    key: "mcp_servers",
    shape: (around) => limitedBy("tool_timeout_sec", around, SECOND_MS),
  },
  {
    name: "kilo",
    title: "Kilo Code",
    file: (around) => join(configDir(around), "kilo", "kilo.json"),
    key: "mcp",
    shape: (around) => ({
      line: { command: "command" },
      fields: {
        type: { value: "local", when: "fresh" },
        enabled: { value: true, when: "absent" },
        ...limitedBy("timeout", around).fields,
      },
    }),
  },
  {
    name: "kimi",
    title: "Kimi Code",
    file: ({ homeDir, env }) => join(env["KIMI_CODE_HOME"] || join(homeDir, ".kimi-code"), "mcp.json"),
    shape: (around) => limitedBy("toolTimeoutMs", around),
  },
  {
    name: "kiro",
    title: "Kiro",
    file: ({ homeDir }) => join(homeDir, ".kiro", "settings", "mcp.json"),
    shape: (around) => limitedBy("timeout", around),
  },
  {
    name: "windsurf",
    title: "Windsurf",
    file: ({ homeDir }) => join(homeDir, ".codeium", "windsurf", "mcp_config.json"),
  },
];

/** Renders the settings for such a client, or for any client that takes the usual shape. */
export function renderOther(client: OtherClient | undefined, around: ClientSurroundings): string {
  const wish = serverWish([client?.key ?? "mcpServers"], "user", around, client?.shape?.(around));
  return renderSnippet(client?.format ?? "json", [wish]);
}

/** A client that is in use on this machine. */
export interface FoundClient {
  client: Client;
  /** Its program, where it is on the path, and what it says its version is. */
  program?: string;
  version?: string;
  /** The folder or file that shows that it is in use. */
  home?: string;
}

/** Every client whose files can be changed, in the order in which they are shown: agents first. */
export function clientsOf(registry: AgentRegistry): Client[] {
  return [...registry.flatMap(({ client }) => client ?? []), ...ONLY_WIRED];
}

/** The client of that name, or with that program. */
export function findClient(clients: readonly Client[], name: string): Client | undefined {
  return clients.find((client) => client.name === name || client.programs.includes(name));
}

/** Looks for a client: a program on the path, or settings of its own. */
export async function findOne(client: Client, around: ClientSurroundings): Promise<FoundClient | undefined> {
  const program = await findFirst(client.programs, around);
  const home = client.homes(around).find((path) => existsSync(path));
  if (program === undefined && home === undefined) return undefined;
  const at = { env: around.env, dir: around.dir, limitMs: VERSION_MS };
  const version = program === undefined ? undefined : await readVersion(program, at);
  return { client, program, version, home };
}

/** Every client that is in use here. */
export async function findClients(clients: readonly Client[], around: ClientSurroundings): Promise<FoundClient[]> {
  const found = await Promise.all(clients.map((client) => findOne(client, around)));
  return found.filter((one) => one !== undefined);
}

async function findFirst(names: readonly string[], { env, dir }: ClientSurroundings): Promise<string | undefined> {
  for (const name of names) {
    const program = await findProgram(name, env, dir);
    if (program !== undefined) return program;
  }
  return undefined;
}

/** A field that holds the limit of one call. */
function limitedBy(field: string, around: ClientSurroundings, unitMs = 1): ServerShape {
  return { fields: { [field]: { value: callTimeoutMs(UNKNOWN_CLIENT, around) / unitMs, when: "at_least" } } };
}

/** The folder of settings of desktop applications. */
function appDir(around: ClientSurroundings): string {
  const { platform, homeDir, env } = around;
  if (platform === "darwin") return join(homeDir, "Library", "Application Support");
  if (platform === "win32") return env["APPDATA"] ?? join(homeDir, "AppData", "Roaming");
  return configDir(around);
}

/** A project's servers are the ones that Claude Code reads too, unless it has a file of its own. */
function copilotProjectFile({ dir }: ClientSurroundings): string {
  const own = join(dir, ".github", "mcp.json");
  return existsSync(own) ? own : join(dir, ".mcp.json");
}

function copilotHome({ env, homeDir }: ClientSurroundings): string {
  return env["COPILOT_HOME"] || join(homeDir, ".copilot");
}
