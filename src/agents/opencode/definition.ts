import { existsSync } from "node:fs";
import { join } from "node:path";
import { type KnownClient, sameLimits } from "../../core/door/client-profile.ts";
import { MINUTE_MS } from "../../core/instant.ts";
import { PROBE_KEY, PROBE_PROMPT, type ProbeAgent } from "../probe.ts";
import type { AgentDefinition } from "../registry.ts";
import { type ClientSurroundings, callTimeoutMs, configDir, oneFileClient } from "../wiring.ts";
import { opencode } from "./opencode.ts";
import { opencodeServe } from "./serve.ts";

/** OpenCode as a client of MCP servers. */
const profile: KnownClient = {
  clientName: /^opencode/i,
  agent: "opencode",
  limits: sameLimits(MINUTE_MS, true),
  names: {},
  attended: "unknown",
};

/** OpenCode: reads both of its files where both are there. */
const client = oneFileClient({
  name: "opencode",
  title: "OpenCode",
  programs: ["opencode"],
  homes: (around) => [opencodeHome(around)],
  file: (scope, around) => chooseFile(scope === "user" ? opencodeHome(around) : around.dir),
  key: "mcp",
  shape: (around) => ({
    line: { command: "command" },
    fields: {
      type: { value: "local", when: "fresh" },
      enabled: { value: true, when: "absent" },
      timeout: { value: callTimeoutMs(profile, around), when: "at_least" },
    },
    timeout: { field: "timeout", unitMs: 1, defaultMs: MINUTE_MS, isExtended: true },
  }),
});

/** How OpenCode is measured. */
const probe: ProbeAgent = {
  base: ({ modelUrl }) =>
    JSON.stringify({
      autoupdate: false,
      share: "disabled",
      model: "probe/probe-1",
      small_model: "probe/probe-1",
      provider: {
        probe: {
          npm: "@ai-sdk/openai-compatible",
          name: "Probe",
          options: { baseURL: `${modelUrl}/v1`, apiKey: PROBE_KEY },
          models: { "probe-1": { name: "Probe", tool_call: true, limit: { context: 200_000, output: 8000 } } },
        },
      },
    }),
  env: () => ({
    OPENCODE_DISABLE_AUTOUPDATE: "1",
    OPENCODE_DISABLE_MODELS_FETCH: "1",
    OPENCODE_DISABLE_LSP_DOWNLOAD: "1",
    OPENCODE_DISABLE_DEFAULT_PLUGINS: "1",
  }),
  args: ["run", "--format", "json", PROBE_PROMPT],
};

export const opencodeDefinition: AgentDefinition = {
  agent: opencode,
  ways: [{ agent: opencodeServe, env: "ASKD_OPENCODE", is: "serve" }],
  client,
  projectFiles: ["opencode.json", "opencode.jsonc"],
  profile,
  bridge: () => import("./bridge.ts"),
  probe,
};

function opencodeHome(around: ClientSurroundings): string {
  return join(configDir(around), "opencode");
}

function chooseFile(dir: string): string {
  const names = ["opencode.jsonc", "opencode.json"].map((name) => join(dir, name));
  return names.find((file) => existsSync(file)) ?? join(dir, "opencode.json");
}
