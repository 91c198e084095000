import { MINUTE_MS, SECOND_MS } from "../instant.ts";

export type Transport = "stdio" | "http";

/** How long a client lets one tool call take before it gives up. */
interface CallLimit {
  /** Counted from the call, or from the last progress where progress extends it. */
  limitMs: number;
  progressExtends: boolean;
}

/** How a client names the session and the call that an ask comes from. */
interface CallNames {
  /** The variable of a stdio server's environment that holds the session. */
  sessionEnv?: string;
  /** The key of `_meta` that holds the session. */
  sessionMeta?: string;
  /** The key of `_meta` that names the call; the client uses it once only. */
  callMeta?: string;
}

/** What is known of a client that calls tools; measured with the real programs. */
export interface ClientProfile {
  /** What its runs are called after. */
  agent: string;
  limits: Readonly<Record<Transport, CallLimit>>;
  names: CallNames;
  /** Says whether a person sits at it; `env` where it tells its servers so. */
  attended: "always" | "unknown" | { env: string; is: string };
}

const CLAUDE_BACKGROUND_MS = 2 * MINUTE_MS;
/** What is left between our reply and the moment when the client gives up. */
const MARGIN_MS = 15 * SECOND_MS;
const SHORTEST_WINDOW_MS = SECOND_MS;

const same = (limitMs: number, progressExtends: boolean): ClientProfile["limits"] => ({
  stdio: { limitMs, progressExtends },
  http: { limitMs, progressExtends },
});

const CLAUDE: ClientProfile = {
  agent: "claude",
  // An SSE reply over HTTP; a single JSON body would be given up after 60 s.
  limits: {
    stdio: { limitMs: 30 * MINUTE_MS, progressExtends: true },
    http: { limitMs: 5 * MINUTE_MS, progressExtends: true },
  },
  names: { sessionEnv: "CLAUDE_CODE_SESSION_ID", callMeta: "claudecode/toolUseId" },
  attended: { env: "CLAUDE_CODE_SESSION_ATTENDED", is: "1" },
};

const CODEX: ClientProfile = {
  agent: "codex",
  limits: same(5 * MINUTE_MS, false),
  names: { sessionMeta: "threadId", callMeta: "callId" },
  attended: "unknown",
};

const GEMINI: ClientProfile = {
  agent: "gemini",
  limits: same(10 * MINUTE_MS, false),
  names: {},
  attended: "unknown",
};

const OPENCODE: ClientProfile = {
  agent: "opencode",
  limits: same(MINUTE_MS, true),
  names: {},
  attended: "unknown",
};

/** Editors have nobody but the person in front of them; how long they wait was not measured. */
const EDITOR: ClientProfile = { agent: "editor", limits: same(MINUTE_MS, false), names: {}, attended: "always" };

/** A client that nobody has measured: the default of the official libraries. */
const UNKNOWN: ClientProfile = { agent: "mcp", limits: same(MINUTE_MS, false), names: {}, attended: "unknown" };

const BY_NAME: ReadonlyArray<[RegExp, ClientProfile]> = [
  [/^claude[- ]code/i, CLAUDE],
  [/^codex/i, CODEX],
  [/^gemini/i, GEMINI],
  [/^opencode/i, OPENCODE],
  [/^(?:visual studio code|cursor|zed|windsurf)\b/i, EDITOR],
];

/** A client as it names itself. */
export interface ClientName {
  name: string;
  version: string;
}

/** What is known of the client of that name; a stranger's runs bear its own name. */
export function profileOf(client: ClientName | undefined): ClientProfile {
  const found = BY_NAME.find(([name]) => name.test(client?.name ?? ""))?.[1];
  if (found && found !== EDITOR) return found;
  const agent = client?.name
    .toLowerCase()
    .match(/[a-z0-9.-]+/g)
    ?.join("-")
    .slice(0, 40);
  return { ...(found ?? UNKNOWN), agent: agent ?? UNKNOWN.agent };
}

type Env = Readonly<Record<string, string | undefined>>;

/**
 * The client as it is with what its environment changes. A limit of the user's own is absolute, and so is the time
 * after which Claude Code moves a call into the background: its model is then told to go on without the answer.
 */
export function withEnv(profile: ClientProfile, env: Env): ClientProfile {
  if (profile.agent !== CLAUDE.agent) return profile;
  const limits = [Number(env["MCP_TOOL_TIMEOUT"]), claudeBackgroundMs(profile, env)];
  // Values under a second are ignored by the client as well.
  const limitMs = Math.min(...limits.filter((ms) => ms >= SECOND_MS));
  return Number.isFinite(limitMs) ? { ...profile, limits: same(limitMs, false) } : profile;
}

/** Headless sessions have no background unless told so; measured with 2.1.325. */
function claudeBackgroundMs(profile: ClientProfile, env: Env): number {
  const isOn = isAttended(profile, env) || Boolean(env["CLAUDE_AUTO_BACKGROUND_TASKS"]);
  return isOn ? Number(env["CLAUDE_CODE_MCP_AUTO_BACKGROUND_MS"] ?? CLAUDE_BACKGROUND_MS) : Number.NaN;
}

/** The client on a call that asked for no progress: nothing extends its limit. */
export function withoutProgress(profile: ClientProfile): ClientProfile {
  const { stdio, http } = profile.limits;
  const silent = (limit: CallLimit): CallLimit => ({ ...limit, progressExtends: false });
  return { ...profile, limits: { stdio: silent(stdio), http: silent(http) } };
}

/** How long a call can be held so that the client hears of its end before it gives up. */
export function liveWindow(profile: ClientProfile, transport: Transport, configuredMs: number): number {
  const { limitMs, progressExtends } = profile.limits[transport];
  if (progressExtends) return configuredMs;
  return Math.min(configuredMs, Math.max(SHORTEST_WINDOW_MS, limitMs - MARGIN_MS));
}

/** Says whether a person sits at the client and would see a form there. */
export function isAttended(profile: ClientProfile, env: Env): boolean {
  if (typeof profile.attended === "string") return profile.attended === "always";
  return env[profile.attended.env] === profile.attended.is;
}
