import { type KnownClient, sameLimits } from "../../core/door/client-profile.ts";
import { MINUTE_MS } from "../../core/instant.ts";

/** Codex as a client of MCP servers. */
export const codexProfile: KnownClient = {
  clientName: /^codex/i,
  agent: "codex",
  limits: sameLimits(5 * MINUTE_MS, false),
  names: { sessionMeta: "threadId", callMeta: "callId" },
  attended: "unknown",
};
