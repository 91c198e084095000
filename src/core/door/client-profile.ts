import { MINUTE_MS, SECOND_MS } from "../instant.ts";

export type Transport = "stdio" | "http";

type Env = Readonly<Record<string, string | undefined>>;

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

/** The measured behaviour of a client that calls tools. */
export interface ClientProfile {
  /** The agent name of its runs. */
  agent: string;
  limits: Readonly<Record<Transport, CallLimit>>;
  names: CallNames;
  /** Says whether a person sits at it; `env` where it tells its servers so. */
  attended: "always" | "unknown" | { env: string; is: string };
  /** The limits that hold in its environment, where variables change them. */
  limitsIn?(profile: ClientProfile, env: Env): ClientProfile["limits"];
}

/** A client that an agent's folder knows, and the name by which it presents itself. */
export interface KnownClient extends ClientProfile {
  clientName: RegExp;
}

/** Time between our reply and the moment when the client gives up. */
const MARGIN_MS = 15 * SECOND_MS;
const SHORTEST_WINDOW_MS = SECOND_MS;

/** The same limit over both transports. */
export function sameLimits(limitMs: number, progressExtends: boolean): ClientProfile["limits"] {
  return { stdio: { limitMs, progressExtends }, http: { limitMs, progressExtends } };
}

/** Editors have nobody but the person in front of them; how long they wait was not measured. */
const EDITOR: KnownClient = {
  clientName: /^(?:visual studio code|cursor|zed|windsurf)\b/i,
  agent: "editor",
  limits: sameLimits(MINUTE_MS, false),
  names: {},
  attended: "always",
};

/** A client that nobody has measured: the default of the official libraries. */
export const UNKNOWN_CLIENT: ClientProfile = {
  agent: "mcp",
  limits: sameLimits(MINUTE_MS, false),
  names: {},
  attended: "unknown",
};

/** A client as it names itself. */
export interface ClientName {
  name: string;
  version: string;
}

/** The profile of a client, found by its name among those that agents brought; a stranger's runs have its own name. */
export function profileOf(client: ClientName | undefined, known: readonly KnownClient[]): ClientProfile {
  const name = client?.name ?? "";
  const found = known.find(({ clientName }) => clientName.test(name));
  if (found) return found;
  const agent = client?.name
    .toLowerCase()
    .match(/[a-z0-9.-]+/g)
    ?.join("-")
    .slice(0, 40);
  const base = EDITOR.clientName.test(name) ? EDITOR : UNKNOWN_CLIENT;
  return { ...base, agent: agent ?? UNKNOWN_CLIENT.agent };
}

/** The client with the limits that hold in its environment. */
export function withEnv(profile: ClientProfile, env: Env): ClientProfile {
  return profile.limitsIn ? { ...profile, limits: profile.limitsIn(profile, env) } : profile;
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
