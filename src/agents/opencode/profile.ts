import { type KnownClient, sameLimits } from "../../core/door/client-profile.ts";
import { MINUTE_MS } from "../../core/instant.ts";

/** OpenCode as a client of MCP servers. */
export const opencodeProfile: KnownClient = {
  clientName: /^opencode/i,
  agent: "opencode",
  limits: sameLimits(MINUTE_MS, true),
  names: {},
  attended: "unknown",
};
