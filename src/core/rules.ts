import type { AlertRules } from "./stats/alert.ts";
import { parseDuration } from "./text/duration.ts";
import { TimeoutDo } from "./question/timeout-policy.ts";
import { DAY_MS, MINUTE_MS, SECOND_MS } from "./instant.ts";

/** What can be configured about questions; the defaults are the product's promise. */
export interface Rules {
  liveWindowMs: number;
  timeoutMs: number;
  onTimeout: "wait" | "proceed" | "skip" | "default" | "escalate" | "fail" | "defer";
  /** Parts of the time left at which people are reminded. */
  remindAt: readonly number[];
  /** A channel that proves who a person is exists, so high risk needs it. */
  personChannel: boolean;
  /** Confidence at or above which an agent goes on alone, and below which it hands over; off unless set. */
  confidence: { act: number; ask: number } | undefined;
  /** How long an answer can be taken back, by where it was given. */
  undoMs: Readonly<Record<"web" | "slack" | "cli" | "api", number>>;
  /** What is taken out besides the usual forms of secrets; each pattern is global. */
  redact: readonly RegExp[];
  /** Lets callbacks go to programs on this machine, without TLS. */
  callbackLoopback: boolean;
  alerts: AlertRules;
  limits: Limits;
}

export interface Limits {
  questionBytes: number;
  contextBytes: number;
  answerBytes: number;
  items: number;
  options: number;
  headerChars: number;
  asksPerRun: number;
  asksPerMinute: number;
  pending: number;
  repliesPerMinute: number;
  comments: number;
  /** Requests of one token to a server. */
  requestsPerMinute: number;
  /** Requests from one address to a server that come without a token. */
  anonymousPerMinute: number;
  /** Readers of live events at a time, and of one token. */
  streams: number;
  streamsPerToken: number;
  /** Requests that a server holds open at a time, and of one token. */
  holds: number;
  holdsPerToken: number;
}

export const DEFAULT_LIMITS: Limits = {
  questionBytes: 16 * 1024,
  contextBytes: 64 * 1024,
  answerBytes: 64 * 1024,
  items: 10,
  options: 50,
  headerChars: 30,
  asksPerRun: 100,
  asksPerMinute: 10,
  pending: 10_000,
  repliesPerMinute: 10,
  comments: 200,
  requestsPerMinute: 6_000,
  anonymousPerMinute: 3_000,
  streams: 256,
  streamsPerToken: 64,
  holds: 20_000,
  holdsPerToken: 10_000,
};

export const DEFAULT_RULES: Rules = {
  liveWindowMs: 3 * MINUTE_MS,
  timeoutMs: DAY_MS,
  onTimeout: "fail",
  remindAt: [0.5, 0.9],
  personChannel: false,
  confidence: undefined,
  undoMs: { web: 5 * SECOND_MS, slack: 5 * SECOND_MS, cli: 0, api: 0 },
  redact: [],
  callbackLoopback: false,
  alerts: { pendingQuestions: 10, timeoutRate: 0.3, windowMs: DAY_MS },
  limits: DEFAULT_LIMITS,
};

/** The rules as the environment of a run's agent changes them: what its starter wanted for this run. */
export function rulesFor(env: Readonly<Record<string, string | undefined>>, rules: Rules): Rules {
  const onTimeout = TimeoutDo.safeParse(env["ASKD_ON_TIMEOUT"]);
  const most = Number(env["ASKD_MAX_QUESTIONS"] || Number.NaN);
  const asksPerRun = most >= 0 ? Math.min(most, rules.limits.asksPerRun) : rules.limits.asksPerRun;
  const timeoutMs = findDuration(env["ASKD_TIMEOUT"]);
  return {
    ...rules,
    ...(onTimeout.success && { onTimeout: onTimeout.data }),
    ...(timeoutMs !== undefined && { timeoutMs }),
    limits: { ...rules.limits, asksPerRun },
  };
}

function findDuration(text: string | undefined): number | undefined {
  try {
    return text ? parseDuration(text) : undefined;
  } catch {
    return undefined; // whoever started the agent was told
  }
}

/** How long the holder's hand-over may take before somebody looks after it. */
export const HANDOVER_GRACE_MS = 15 * SECOND_MS;
