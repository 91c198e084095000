import { SYSTEM } from "../people/actor.ts";
import type { DecisionContext, Changes, Entry } from "../changes.ts";
import type { Notice } from "../channel/notice.ts";
import type { Instant } from "../instant.ts";
import type { Event } from "../trail/event.ts";
import type { QuestionId, RunId } from "../id.ts";
import { changeEntry } from "../trail/store-event.ts";
import { unreachable } from "../unreachable.ts";

/** The alerts: too many pending questions, and too high a timeout rate. */
export const ALERTS = ["pending", "timeout_rate"] as const;
/** Everything that people are warned of; the statistics show the first two. */
export const WATCHED = [...ALERTS, "failing_jobs", "silent_machine"] as const;
export type AlertName = (typeof WATCHED)[number];

/** The thresholds of alerts. */
export interface AlertRules {
  /** Alerts above this number of pending questions. */
  pendingQuestions: number;
  /** Alerts above this share of timeouts among the questions closed within the window. */
  timeoutRate: number;
  windowMs: number;
  /** People and groups who are told; everybody if it names nobody. */
  to: readonly string[];
}

/** One reading of an alert. The entry is read before the value, so it is never newer. */
export interface AlertRead {
  name: AlertName;
  entry: Entry | undefined;
  value: number;
  cause: AlertCause | undefined;
}

/** The run that crossed the threshold, with its question if it is one's fault, and the values of the message. */
export interface AlertCause {
  runId: RunId;
  questionId?: QuestionId | undefined;
  values?: Readonly<Record<string, string | number>> | undefined;
}

/** Reports that a value rose above its threshold, once until it falls below; of concurrent readers one reports. */
export function watchAlert(read: AlertRead, at: Pick<DecisionContext, "now" | "rules">): Changes {
  const threshold = thresholdOf(read.name, at.rules.alerts);
  const isAbove = read.value > threshold;
  if (isAbove === isRaised(read.entry)) return {};
  if (isAbove && !read.cause) return {};
  const entry: Entry = {
    kind: "alert",
    id: read.name,
    version: read.entry?.version ?? 0,
    body: { is_raised: isAbove, at: at.now, value: read.value, threshold },
  };
  if (isAbove && read.cause) return { entries: [entry], events: [alertEvent(read.name, read.cause, entry, at)] };
  const detail = { alert: read.name, value: read.value, threshold };
  return changeEntry({ type: "alert.cleared", entry, from: "above", to: "below", detail }, { ...at, by: SYSTEM });
}

/** Says whether an alert is raised. */
export function isRaised(entry: Entry | undefined): boolean {
  return entry?.body["is_raised"] === true;
}

/** The news of an alert that was raised. */
export function alertNotice({ name, value, cause }: AlertRead & { cause: AlertCause }, now: Instant): Notice {
  const percent = Math.round(value * 100);
  return { what: `alert.${name}`, at: now, runId: cause.runId, values: { value, percent, ...cause.values } };
}

function thresholdOf(name: AlertName, rules: AlertRules) {
  switch (name) {
    case "pending":
      return rules.pendingQuestions;
    case "timeout_rate":
      return rules.timeoutRate;
    case "failing_jobs":
    case "silent_machine":
      return 0;
    default:
      return unreachable(name);
  }
}

function alertEvent(
  name: AlertName,
  cause: AlertCause,
  { version, body }: Entry,
  at: Pick<DecisionContext, "now">,
): Event {
  return {
    type: `alert.${name}`,
    at: at.now,
    by: SYSTEM,
    runId: cause.runId,
    questionId: cause.questionId,
    from: "below",
    to: "above",
    version: version + 1,
    detail: { value: body["value"], threshold: body["threshold"] },
  };
}
