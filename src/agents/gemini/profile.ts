import { type KnownClient, sameLimits } from "../../core/door/client-profile.ts";
import { MINUTE_MS } from "../../core/instant.ts";

/** Gemini CLI as a client of MCP servers. */
export const geminiProfile: KnownClient = {
  clientName: /^gemini/i,
  agent: "gemini",
  limits: sameLimits(10 * MINUTE_MS, false),
  names: {},
  attended: "unknown",
};
