import { PROBE_KEY, PROBE_PROMPT, type ProbeAgent } from "../probe.ts";

/** How Claude Code is measured. */
export const claudeProbe: ProbeAgent = {
  base: () => "",
  env: ({ modelUrl }) => ({
    ANTHROPIC_BASE_URL: modelUrl,
    ANTHROPIC_API_KEY: PROBE_KEY,
    CLAUDE_CODE_MAX_RETRIES: "1",
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    DISABLE_AUTOUPDATER: "1",
    DISABLE_TELEMETRY: "1",
    DISABLE_ERROR_REPORTING: "1",
  }),
  args: ["-p", PROBE_PROMPT, "--output-format", "stream-json", "--verbose"],
  tool: "mcp__askd__ask_human",
  idleEnv: "CLAUDE_CODE_MCP_TOOL_IDLE_TIMEOUT",
};
