import type { AllowedAddresses } from "./channel/allowed-address.ts";
import type { AttentionRules } from "./channel/attention.ts";
import type { AlertRules } from "./stats/alert.ts";
import type { Route } from "./channel/route.ts";
import { type Directory, EMPTY_DIRECTORY } from "./people/directory.ts";
import type { Language } from "./text/language.ts";
import { parseDuration } from "./text/duration.ts";
import type { QuietHours } from "./people/quiet-hours.ts";
import type { EscalationStep, OnTimeout } from "./question/question.ts";
import { TimeoutPolicy } from "./question/timeout-policy.ts";
import { DAY_MS, MINUTE_MS, SECOND_MS } from "./instant.ts";

/** The configurable rules for questions; the defaults are the product's promise. */
export interface Rules {
  liveWindowMs: number;
  timeoutMs: number;
  onTimeout: TimeoutPolicy;
  /** The steps of `escalate` for questions that name none. */
  escalation: (Pick<OnTimeout, "then"> & { steps: EscalationStep[] }) | undefined;
  /** The fractions of the duration at which people are reminded. */
  remindAt: readonly number[];
  /** The configured channels, in the order in which people are told. */
  reach: readonly ReachChannel[];
  /** When nobody is sent a message unless the risk is high: in general, and by person. */
  quietHours: { general: QuietHours | undefined; people: Readonly<Record<string, QuietHours>> };
  /** How often people may be interrupted, unless they chose otherwise. */
  attention: AttentionRules;
  /** The rules that choose people and channels for questions that name none; the first that matches counts. */
  routes: readonly Route[];
  /** The people and groups of the settings, beside those in the store. */
  directory: Directory;
  /** The addresses that questions may name, by channel. */
  addresses: AllowedAddresses;
  /** The language of messages to people who chose none. */
  language: Language;
  /** The address under which people reach the server from outside. */
  publicUrl: string | undefined;
  /** A channel that proves identity is configured, so high risk requires it. */
  personChannel: boolean;
  /**
   * The confidence at or above which an agent continues alone, if it may, and that below which people are asked all the
   * same, or its run is skipped or blocked.
   */
  confidence: { act: number | undefined; ask: number; below: "ask" | "skip" | "block" };
  /** Undo windows by channel. */
  undoMs: Readonly<Record<"web" | "slack" | "cli" | "api", number>>;
  /** Patterns to redact besides known secret formats; each is global. */
  redact: readonly RegExp[];
  /** Allows callbacks to this machine without TLS. */
  callbackLoopback: boolean;
  /** How old lines of the trail must be to move into the archive, together with the runs that ended with them. */
  archiveAfterMs: number;
  alerts: AlertRules;
  limits: Limits;
}

/** A configured channel, as far as decisions need it. */
export interface ReachChannel {
  name: string;
  /** The person whose address it is, if it is one person's. */
  person: string | undefined;
  /** Messages go to people at addresses of their own, not to one configured address. */
  isPersonal: boolean;
  /** It only has a place for questions that belong to an issue. */
  needsIssue?: boolean | undefined;
  /** It can label, assign and comment the issue of a question. */
  hasIssues?: boolean;
  /** One message for all, whose readers are known by accounts of their own: nobody gets another one. */
  isShared?: boolean;
}

export const DEFAULT_LIMITS = {
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
  /** Requests per token. */
  requestsPerMinute: 6_000,
  /** Requests without a token, per address. */
  anonymousPerMinute: 3_000,
  /** Concurrent SSE clients, and per token. */
  streams: 256,
  streamsPerToken: 64,
  /** Concurrent held requests, and per token. */
  holds: 20_000,
  holdsPerToken: 10_000,
};
export type Limits = typeof DEFAULT_LIMITS;

export const DEFAULT_RULES: Rules = {
  liveWindowMs: 3 * MINUTE_MS,
  timeoutMs: DAY_MS,
  onTimeout: "fail",
  escalation: undefined,
  remindAt: [0.5, 0.9],
  reach: [],
  quietHours: { general: undefined, people: {} },
  attention: { perMinute: 5, perHour: 20, digestMs: undefined },
  routes: [],
  directory: EMPTY_DIRECTORY,
  addresses: {},
  language: "en",
  publicUrl: undefined,
  personChannel: false,
  confidence: { act: undefined, ask: 0.5, below: "ask" },
  undoMs: { web: 5 * SECOND_MS, slack: 5 * SECOND_MS, cli: 0, api: 0 },
  redact: [],
  callbackLoopback: false,
  archiveAfterMs: DAY_MS,
  alerts: { pendingQuestions: 10, timeoutRate: 0.3, windowMs: DAY_MS, to: [] },
  limits: DEFAULT_LIMITS,
};

/** Applies the environment of a run's agent: settings of its starter for this run. */
export function rulesForRun(env: Readonly<Record<string, string | undefined>>, rules: Rules): Rules {
  const onTimeout = TimeoutPolicy.safeParse(env["ASKD_ON_TIMEOUT"]);
  const most = Number(env["ASKD_MAX_QUESTIONS"] || Number.NaN);
  const asksPerRun = most >= 0 ? Math.min(most, rules.limits.asksPerRun) : rules.limits.asksPerRun;
  const timeoutMs = findDuration(env["ASKD_TIMEOUT"]);
  return {
    ...rules,
    onTimeout: onTimeout.success ? onTimeout.data : rules.onTimeout,
    timeoutMs: timeoutMs ?? rules.timeoutMs,
    limits: { ...rules.limits, asksPerRun },
  };
}

function findDuration(text: string | undefined) {
  try {
    return text ? parseDuration(text) : undefined;
  } catch {
    return undefined; // reported when the agent was started
  }
}

/** How long a holder's hand-over may take before it is checked. */
export const HANDOVER_GRACE_MS = 15 * SECOND_MS;
