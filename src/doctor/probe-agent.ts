import { join } from "node:path";

/** Where an agent is looked at: a home of its own, and a model on this machine. */
export interface ProbeBox {
  home: string;
  dir: string;
  modelUrl: string;
}

/** How an agent is started without a person, with a model that is none. */
export interface ProbeAgent {
  /** What its settings file says before our server is put into it. */
  base(box: ProbeBox): string;
  env(box: ProbeBox): Record<string, string>;
  args: readonly string[];
  /** What it calls our tool, where it can be called without having been offered. */
  tool?: string;
  /** The variable for how long it waits without progress, where that is another limit than the one of its settings. */
  idleEnv?: string;
}

const PROMPT = "Ask a person.";
const KEY = "not-a-key";

/** The agents that can be measured; nothing of what they do leaves this machine. */
export const PROBED: Readonly<Record<string, ProbeAgent>> = {
  claude: {
    base: () => "",
    env: ({ modelUrl }) => ({
      ...{ ANTHROPIC_BASE_URL: modelUrl, ANTHROPIC_API_KEY: KEY, CLAUDE_CODE_MAX_RETRIES: "1" },
      ...{ CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1", DISABLE_AUTOUPDATER: "1" },
      ...{ DISABLE_TELEMETRY: "1", DISABLE_ERROR_REPORTING: "1" },
    }),
    args: ["-p", PROMPT, "--output-format", "stream-json", "--verbose"],
    tool: "mcp__askd__ask_human",
    idleEnv: "CLAUDE_CODE_MCP_TOOL_IDLE_TIMEOUT",
  },
  codex: {
    base: ({ modelUrl }) =>
      [
        ...['model = "gpt-5.2"', 'model_provider = "probe"', "check_for_update_on_startup = false", "", "[analytics]"],
        ...["enabled = false", "", "[model_providers.probe]", 'name = "probe"', `base_url = "${modelUrl}/v1"`],
        ...['wire_api = "responses"', 'env_key = "PROBE_KEY"', "request_max_retries = 1", "stream_max_retries = 1", ""],
      ].join("\n"),
    env: ({ home }) => ({ PROBE_KEY: KEY, RUST_LOG: "error", CODEX_HOME: join(home, ".codex") }),
    args: ["exec", "--json", "--skip-git-repo-check", PROMPT],
  },
  gemini: {
    base: () =>
      JSON.stringify({
        general: { enableAutoUpdate: false, enableAutoUpdateNotification: false },
        privacy: { usageStatisticsEnabled: false },
        telemetry: { enabled: false },
        security: { auth: { selectedType: "gemini-api-key" }, folderTrust: { enabled: false } },
      }),
    env: ({ modelUrl }) => ({
      ...{ GEMINI_API_KEY: KEY, GOOGLE_GEMINI_BASE_URL: modelUrl, GEMINI_CLI_NO_RELAUNCH: "true" },
    }),
    args: ["-m", "gemini-2.5-pro", "--output-format", "stream-json", "-p", PROMPT],
  },
  opencode: {
    base: ({ modelUrl }) =>
      JSON.stringify({
        ...{ autoupdate: false, share: "disabled", model: "probe/probe-1", small_model: "probe/probe-1" },
        provider: {
          probe: {
            ...{ npm: "@ai-sdk/openai-compatible", name: "Probe" },
            options: { baseURL: `${modelUrl}/v1`, apiKey: KEY },
            models: { "probe-1": { name: "Probe", tool_call: true, limit: { context: 200_000, output: 8000 } } },
          },
        },
      }),
    env: () => ({
      ...{ OPENCODE_DISABLE_AUTOUPDATE: "1", OPENCODE_DISABLE_MODELS_FETCH: "1" },
      ...{ OPENCODE_DISABLE_LSP_DOWNLOAD: "1", OPENCODE_DISABLE_DEFAULT_PLUGINS: "1" },
    }),
    args: ["run", "--format", "json", PROMPT],
  },
};
