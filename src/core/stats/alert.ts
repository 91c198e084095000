import { SYSTEM } from "../people/actor.ts";
import type { DecisionContext, Changes, Entry } from "../changes.ts";
import type { Event } from "../trail/event.ts";
import type { Question } from "../question/question.ts";
import { changeEntry } from "../trail/store-event.ts";
import { unreachable } from "../unreachable.ts";

/** The alerts: too many pending questions, and too high a timeout rate. */
export const ALERTS = ["pending", "timeout_rate"] as const;
export type AlertName = (typeof ALERTS)[number];

/** The thresholds of alerts. */
export interface AlertRules {
  /** Alerts above this number of pending questions. */
  pendingQuestions: number;
  /** Alerts above this share of timeouts among the questions closed within the window. */
  timeoutRate: number;
  windowMs: number;
}

/** One reading of an alert. The entry is read before the value, so it is never newer. */
export interface AlertRead {
  name: AlertName;
  entry: Entry | undefined;
  value: number;
  /** The question that crossed the threshold. */
  cause: Pick<Question, "id" | "runId"> | undefined;
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

function thresholdOf(name: AlertName, rules: AlertRules) {
  switch (name) {
    case "pending":
      return rules.pendingQuestions;
    case "timeout_rate":
      return rules.timeoutRate;
    default:
      return unreachable(name);
  }
}

function alertEvent(
  name: AlertName,
  cause: Pick<Question, "id" | "runId">,
  { version, body }: Entry,
  at: Pick<DecisionContext, "now">,
): Event {
  return {
    type: `alert.${name}`,
    at: at.now,
    by: SYSTEM,
    runId: cause.runId,
    questionId: cause.id,
    from: "below",
    to: "above",
    version: version + 1,
    detail: { value: body["value"], threshold: body["threshold"] },
  };
}
