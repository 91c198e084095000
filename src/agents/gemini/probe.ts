import { PROBE_KEY, PROBE_PROMPT, type ProbeAgent } from "../probe.ts";

/** How Gemini CLI is measured. */
export const geminiProbe: ProbeAgent = {
  base: () =>
    JSON.stringify({
      general: { enableAutoUpdate: false, enableAutoUpdateNotification: false },
      privacy: { usageStatisticsEnabled: false },
      telemetry: { enabled: false },
      security: { auth: { selectedType: "gemini-api-key" }, folderTrust: { enabled: false } },
    }),
  env: ({ modelUrl }) => ({
    GEMINI_API_KEY: PROBE_KEY,
    GOOGLE_GEMINI_BASE_URL: modelUrl,
    GEMINI_CLI_NO_RELAUNCH: "true",
  }),
  args: ["-m", "gemini-2.5-pro", "--output-format", "stream-json", "-p", PROBE_PROMPT],
};
