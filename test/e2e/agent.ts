import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { type ProgramName, programFile } from "./install.ts";

/** How an agent reaches our tools. */
export type Door =
  | { kind: "stdio"; argv: readonly string[]; env: Readonly<Record<string, string>> }
  | { kind: "http"; url: string; token: string }
  /** Nothing is configured; whoever starts the agent sees to that. */
  | { kind: "none" };

/** Where one agent lives while it runs. */
export interface Box {
  home: string;
  dir: string;
  modelUrl: string;
}

/** How an agent is started. */
export interface Start {
  argv: string[];
  env: Record<string, string>;
}

/** The built program. */
export const ASKD = resolve("bin", "askd");
/** The same as a line for a shell. */
export const ASKD_LINE = `'${process.execPath}' '${ASKD}'`;

/** What a person would type behind the program's name. */
export const TYPED: Record<ProgramName, readonly string[]> = {
  claude: ["-p"],
  codex: ["exec", "--skip-git-repo-check"],
  gemini: ["-m", "gemini-2.5-pro", "-p"],
  opencode: ["run"],
};

/** What a person types behind the program to go on in a session, without a terminal. */
export const RESUMED: Record<ProgramName, (argv: string[], session: readonly string[]) => string[]> = {
  claude: (argv, session) => [...argv, "--allowedTools", "mcp__askd__check_answer", ...session],
  // `codex exec [options] prompt` becomes `codex exec resume [options] session prompt`.
  codex: ([file = "", , ...rest], [, session = ""]) => [
    file,
    "exec",
    "resume",
    ...rest.slice(0, -1),
    session,
    ...rest.slice(-1),
  ],
  gemini: (argv, session) => [...argv, ...session],
  opencode: (argv, session) => [...argv.slice(0, -1), ...session, ...argv.slice(-1)],
};

/** Writes the configuration that a person would write, and returns how the agent is started with a prompt. */
export const AGENTS: Record<ProgramName, (box: Box, door: Door, prompt: string) => Start> = {
  claude,
  codex,
  gemini,
  opencode,
};

function claude(box: Box, door: Door, prompt: string): Start {
  const server =
    door.kind === "stdio"
      ? { type: "stdio", command: door.argv[0], args: door.argv.slice(1), env: door.env }
      : door.kind === "http"
        ? { type: "http", url: door.url, headers: { Authorization: `Bearer ${door.token}` } }
        : undefined;
  const config = join(box.home, "mcp.json");
  write(config, JSON.stringify({ mcpServers: server ? { askd: { ...server, alwaysLoad: true } } : {} }));
  const flags = ["--output-format", "stream-json", "--verbose", "--mcp-config", config, "--strict-mcp-config"];
  return {
    argv: [programFile("claude"), "-p", prompt, ...flags, "--allowedTools", "mcp__askd__ask_human"],
    env: claudeEnv(box),
  };
}

/** The program as a person starts it who has configured nothing of askd. */
export function startUnwired(program: ProgramName, box: Box, prompt: string): Start {
  if (program !== "claude") return AGENTS[program](box, { kind: "none" }, prompt);
  return {
    argv: [programFile("claude"), "-p", prompt, "--output-format", "stream-json", "--verbose"],
    env: claudeEnv(box),
  };
}

/** What keeps Claude Code on this machine. */
export function claudeEnv({ modelUrl }: Box): Record<string, string> {
  return {
    ANTHROPIC_BASE_URL: modelUrl,
    ANTHROPIC_API_KEY: "dummy-key",
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    DISABLE_AUTOUPDATER: "1",
    DISABLE_TELEMETRY: "1",
    DISABLE_ERROR_REPORTING: "1",
  };
}

function codex(box: Box, door: Door, prompt: string): Start {
  const server =
    door.kind === "stdio"
      ? [
          `command = ${JSON.stringify(door.argv[0])}`,
          `args = ${JSON.stringify(door.argv.slice(1))}`,
          `env = { ${Object.entries(door.env)
            .map(([name, value]) => `${name} = ${JSON.stringify(value)}`)
            .join(", ")} }`,
        ]
      : door.kind === "http"
        ? [`url = ${JSON.stringify(door.url)}`, 'bearer_token_env_var = "ASKD_TOKEN"']
        : [];
  const lines = [
    'model = "gpt-5.2"',
    'model_provider = "mock"',
    "check_for_update_on_startup = false",
    "[analytics]",
    "enabled = false",
    "[model_providers.mock]",
    'name = "mock"',
    `base_url = "${box.modelUrl}/v1"`,
    'wire_api = "responses"',
    'env_key = "MOCK_API_KEY"',
    "request_max_retries = 1",
    "stream_max_retries = 1",
    // Without the last line it goes on without our tools if they take a second to come.
    ...(door.kind === "none" ? [] : ["[mcp_servers.askd]", ...server, "required = true"]),
  ];
  write(join(box.home, ".codex", "config.toml"), `${lines.join("\n")}\n`);
  return {
    argv: [programFile("codex"), "exec", "--json", "--skip-git-repo-check", prompt],
    env: { MOCK_API_KEY: "dummy-key", RUST_LOG: "error", ...(door.kind === "http" && { ASKD_TOKEN: door.token }) },
  };
}

export function gemini(box: Box, door: Door, prompt: string, more: object = {}): Start {
  const server =
    door.kind === "stdio"
      ? { command: door.argv[0], args: door.argv.slice(1), env: door.env }
      : door.kind === "http"
        ? { httpUrl: door.url, headers: { Authorization: `Bearer ${door.token}` } }
        : undefined;
  const settings = {
    general: { enableAutoUpdate: false, enableAutoUpdateNotification: false },
    privacy: { usageStatisticsEnabled: false },
    telemetry: { enabled: false },
    security: { auth: { selectedType: "gemini-api-key" }, folderTrust: { enabled: false } },
    ...(server && { mcpServers: { askd: { ...server, trust: true } } }),
    ...more,
  };
  write(join(box.home, ".gemini", "settings.json"), JSON.stringify(settings));
  return {
    argv: [programFile("gemini"), "-m", "gemini-2.5-pro", "--output-format", "stream-json", "-p", prompt],
    env: { GEMINI_API_KEY: "dummy-key", GOOGLE_GEMINI_BASE_URL: box.modelUrl, GEMINI_CLI_NO_RELAUNCH: "true" },
  };
}

/** Adds our hook to the settings of Claude Code. */
export function addClaudeHook(box: Box, matcher: string): void {
  const hooks = [{ type: "command", command: `${ASKD_LINE} hook claude`, timeout: 600 }];
  write(join(box.home, ".claude", "settings.json"), JSON.stringify({ hooks: { PreToolUse: [{ matcher, hooks }] } }));
}

/** Adds our hook to the settings of Gemini CLI. */
export function addGeminiHook(box: Box, matcher = ".*ask_human"): void {
  const file = join(box.home, ".gemini", "settings.json");
  const hooks = [{ type: "command", command: `${ASKD_LINE} hook gemini`, timeout: 60_000 }];
  const settings: object = JSON.parse(readFileSync(file, "utf8"));
  write(file, JSON.stringify({ ...settings, hooks: { BeforeTool: [{ matcher, hooks }] } }));
}

/** Adds our hook to the settings of Codex. */
export function addCodexHook(box: Box, matcher = "request_user_input"): void {
  const command = JSON.stringify(`${ASKD_LINE} hook codex`);
  const hook = ["[[hooks.PreToolUse.hooks]]", 'type = "command"', "timeout = 60", `command = ${command}`];
  const lines = ["[[hooks.PreToolUse]]", `matcher = "${matcher}"`, ...hook];
  appendFileSync(join(box.home, ".codex", "config.toml"), `${lines.join("\n")}\n`);
}

function opencode(box: Box, door: Door, prompt: string): Start {
  const server =
    door.kind === "stdio"
      ? { type: "local", command: door.argv, environment: door.env, enabled: true }
      : door.kind === "http"
        ? {
            type: "remote",
            url: door.url,
            headers: { Authorization: `Bearer ${door.token}` },
            oauth: false,
            enabled: true,
          }
        : undefined;
  const provider = {
    npm: "@ai-sdk/openai-compatible",
    name: "Mock",
    options: { baseURL: `${box.modelUrl}/v1`, apiKey: "dummy-key" },
    models: { "mock-1": { name: "Mock 1", tool_call: true, limit: { context: 200_000, output: 8000 } } },
  };
  const config = {
    autoupdate: false,
    share: "disabled",
    model: "mock/mock-1",
    small_model: "mock/mock-1",
    provider: { mock: provider },
    mcp: server ? { askd: server } : {},
  };
  write(join(box.home, ".config", "opencode", "opencode.json"), JSON.stringify(config));
  return {
    argv: [programFile("opencode"), "run", "--format", "json", prompt],
    env: {
      OPENCODE_DISABLE_AUTOUPDATE: "1",
      OPENCODE_DISABLE_MODELS_FETCH: "1",
      OPENCODE_DISABLE_LSP_DOWNLOAD: "1",
      OPENCODE_DISABLE_DEFAULT_PLUGINS: "1",
    },
  };
}

/** Writes a file and the folders above it. */
export function write(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}
