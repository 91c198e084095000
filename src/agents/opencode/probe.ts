import { PROBE_KEY, PROBE_PROMPT, type ProbeAgent } from "../probe.ts";

/** How OpenCode is measured. */
export const opencodeProbe: ProbeAgent = {
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
