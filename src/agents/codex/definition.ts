import { join } from "node:path";
import { type KnownClient, sameLimits } from "../../core/door/client-profile.ts";
import { MINUTE_MS, SECOND_MS } from "../../core/instant.ts";
import { OWN_VARIABLES } from "../mcp-config.ts";
import { PROBE_KEY, PROBE_PROMPT, type ProbeAgent } from "../probe.ts";
import type { AgentDefinition } from "../registry.ts";
import { type ClientSurroundings, callTimeoutMs, oneFileClient } from "../wiring.ts";
import { codexApp } from "./app-server.ts";
import { STARTUP_S, codex } from "./codex.ts";
import { codexHook } from "./hook.ts";

const CALL_TIMEOUT_MS = 5 * MINUTE_MS;

/** The variables that it leaves to its servers. */
const INHERITED = ["HOME", "LANG", "LC_ALL", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "TZ", "USER"];

/** Codex as a client of MCP servers. */
export const codexProfile: KnownClient = {
  clientName: /^codex/i,
  agent: "codex",
  limits: sameLimits(CALL_TIMEOUT_MS, false),
  names: { sessionMeta: "threadId", callMeta: "callId" },
  attended: "unknown",
};

/** Codex: its servers get a scrubbed environment, and a call without leave fails where nobody can be asked. */
const client = oneFileClient({
  name: "codex",
  title: "Codex",
  programs: ["codex"],
  homes: (around) => [codexHome(around)],
  inherited: [...INHERITED, ...OWN_VARIABLES],
  file: (scope, around) => join(scope === "project" ? join(around.dir, ".codex") : codexHome(around), "config.toml"),
  format: "toml",
  key: "mcp_servers",
  shape: (around) => ({
    fields: {
      env_vars: { value: [...OWN_VARIABLES], when: "absent" },
      default_tools_approval_mode: { value: "approve", when: "absent" },
      startup_timeout_sec: { value: STARTUP_S, when: "absent" },
      // Without it Codex waits about a second for a server, then works without its tools, and could not ask.
      required: { value: true, when: "absent" },
      tool_timeout_sec: { value: callTimeoutMs(codexProfile, around) / SECOND_MS, when: "at_least" },
    },
    timeout: { field: "tool_timeout_sec", unitMs: SECOND_MS, defaultMs: CALL_TIMEOUT_MS },
  }),
  isLocalGlobal: true,
});

/** How Codex is measured. */
const probe: ProbeAgent = {
  base: ({ modelUrl }) =>
    [
      'model = "gpt-5.2"',
      'model_provider = "probe"',
      "check_for_update_on_startup = false",
      "",
      "[analytics]",
      "enabled = false",
      "",
      "[model_providers.probe]",
      'name = "probe"',
      `base_url = "${modelUrl}/v1"`,
      'wire_api = "responses"',
      'env_key = "PROBE_KEY"',
      "request_max_retries = 1",
      "stream_max_retries = 1",
      "",
    ].join("\n"),
  env: ({ home }) => ({ PROBE_KEY, RUST_LOG: "error", CODEX_HOME: join(home, ".codex") }),
  args: ["exec", "--json", "--skip-git-repo-check", PROBE_PROMPT],
};

export const codexDefinition: AgentDefinition = {
  agent: codex,
  ways: [{ agent: codexApp, env: "ASKD_CODEX", is: "app-server" }],
  client,
  projectFiles: [".codex"],
  profile: codexProfile,
  hook: codexHook,
  bridge: () => import("./bridge.ts"),
  probe,
};

function codexHome({ env, homeDir }: ClientSurroundings): string {
  return env["CODEX_HOME"] || join(homeDir, ".codex");
}
