import { join } from "node:path";
import { PROBE_KEY, PROBE_PROMPT, type ProbeAgent } from "../probe.ts";

/** How Codex is measured. */
export const codexProbe: ProbeAgent = {
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
  env: ({ home }) => ({ PROBE_KEY: PROBE_KEY, RUST_LOG: "error", CODEX_HOME: join(home, ".codex") }),
  args: ["exec", "--json", "--skip-git-repo-check", PROBE_PROMPT],
};
