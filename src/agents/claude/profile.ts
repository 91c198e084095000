import { type ClientProfile, type KnownClient, isAttended, sameLimits } from "../../core/door/client-profile.ts";
import { MINUTE_MS, SECOND_MS } from "../../core/instant.ts";

const BACKGROUND_MS = 2 * MINUTE_MS;

type Env = Readonly<Record<string, string | undefined>>;

/** Claude Code as a client of MCP servers. */
export const claudeProfile: KnownClient = {
  clientName: /^claude[- ]code/i,
  agent: "claude",
  // An SSE reply over HTTP; a single JSON body would be given up after 60 s.
  limits: {
    stdio: { limitMs: 30 * MINUTE_MS, progressExtends: true },
    http: { limitMs: 5 * MINUTE_MS, progressExtends: true },
  },
  names: { sessionEnv: "CLAUDE_CODE_SESSION_ID", callMeta: "claudecode/toolUseId" },
  attended: { env: "CLAUDE_CODE_SESSION_ATTENDED", is: "1" },
  limitsIn,
};

/**
 * A limit of the user's own is absolute, and so is the time after which the program moves a call into the background:
 * its model is then told to go on without the answer.
 */
function limitsIn(profile: ClientProfile, env: Env): ClientProfile["limits"] {
  const limits = [Number(env["MCP_TOOL_TIMEOUT"]), backgroundMs(profile, env)];
  // Values under a second are ignored by the client as well.
  const limitMs = Math.min(...limits.filter((ms) => ms >= SECOND_MS));
  return Number.isFinite(limitMs) ? sameLimits(limitMs, false) : profile.limits;
}

/** Headless sessions have no background unless told so; measured with 2.1.325. */
function backgroundMs(profile: ClientProfile, env: Env): number {
  const isOn = isAttended(profile, env) || Boolean(env["CLAUDE_AUTO_BACKGROUND_TASKS"]);
  return isOn ? Number(env["CLAUDE_CODE_MCP_AUTO_BACKGROUND_MS"] ?? BACKGROUND_MS) : Number.NaN;
}
