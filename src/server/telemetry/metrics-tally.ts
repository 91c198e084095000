import type { Event } from "../../core/trail/event.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from "../../core/instant.ts";
import { TimeoutPolicy } from "../../core/question/timeout-policy.ts";
import { RunStatus, isParked } from "../../core/run/run.ts";
import { Histogram, Series } from "./series.ts";

const SECONDS = [1, 5, 15].map((seconds) => seconds * SECOND_MS);
const MINUTES = [1, 5, 15, 30].map((minutes) => minutes * MINUTE_MS);
const HOURS = [1, 2, 4, 8, 12].map((hours) => hours * HOUR_MS);
const DAYS = [1, 2, 3, 7].map((days) => days * DAY_MS);
const BOUNDS = [...SECONDS, ...MINUTES, ...HOURS, ...DAYS].map((ms) => ms / SECOND_MS);

/** Counts events only, so that the work of every process is counted. */
export class MetricsTally {
  readonly #posted = new Series("counter", "askd_questions_posted_total", "Questions that were asked.");
  readonly #answered = new Series("counter", "askd_questions_answered_total", "Questions that were answered, by whom.");
  readonly #timedOut = new Series(
    "counter",
    "askd_questions_timed_out_total",
    "Questions that nobody answered in time, by what was done then.",
  );
  readonly #cancelled = new Series("counter", "askd_questions_cancelled_total", "Questions that were withdrawn.");
  readonly #latency = new Histogram("askd_answer_latency_seconds", "From the question to its answer.", BOUNDS);
  readonly #suspended = new Series("counter", "askd_runs_suspended_total", "Times that a run was parked or set aside.");
  readonly #resumed = new Series("counter", "askd_runs_resumed_total", "Times that a suspended run went on.");
  readonly #suspension = new Histogram("askd_run_suspension_seconds", "How long suspensions took.", BOUNDS);
  readonly #notifications = new Series("counter", "askd_notifications_total", "Attempts to tell people.");
  readonly #alerts = new Series("counter", "askd_alerts_total", "Times that a threshold was crossed.");

  constructor() {
    for (const by of ["human", "policy", "rule"]) this.#answered.add({ by }, 0);
    for (const action of TimeoutPolicy.options) this.#timedOut.add({ action }, 0);
    for (const name of ["pending", "timeout_rate"]) this.#alerts.add({ name }, 0);
    for (const series of [this.#posted, this.#cancelled, this.#suspended, this.#resumed]) series.add({}, 0);
  }

  count(event: Event): void {
    switch (event.type) {
      case "question.asked":
        return this.#posted.add();
      case "question.answered":
        this.#answered.add({ by: answererOf(event) });
        return observe(this.#latency, event, "waited_ms");
      case "question.timed_out":
        return this.#timedOut.add({ action: text(event, "policy") ?? "none" });
      case "question.cancelled":
        return this.#cancelled.add();
      case "question.notified":
        return this.#countNotification(event, "sent");
      case "question.delivery_failed":
        // Without a channel it is an outcome that its agent never took, not a message to people.
        return text(event, "channel") === undefined ? undefined : this.#countNotification(event, "failed");
      case "alert.pending":
      case "alert.timeout_rate":
        return this.#alerts.add({ name: event.type.slice("alert.".length) });
      default:
        return this.#countRun(event);
    }
  }

  write(): string {
    const questions = [this.#posted, this.#answered, this.#timedOut, this.#cancelled, this.#latency];
    const runs = [this.#suspended, this.#resumed, this.#suspension];
    return [...questions, ...runs, this.#notifications, this.#alerts].map((each) => each.write()).join("");
  }

  #countRun(event: Event): void {
    if (!event.type.startsWith("run.")) return;
    const wasSuspended = isSuspendedIn(event.from);
    if (!wasSuspended && event.to !== "resuming" && isSuspendedIn(event.to)) this.#suspended.add();
    if (!wasSuspended) return;
    // A run made for one ask has no agent to start again: it is complete when its answer is taken.
    if (event.to === "running" || event.to === "completed") this.#resumed.add();
    observe(this.#suspension, event, "suspended_ms");
  }

  /** Only what was sent by a channel is counted; a hand-over that failed names none. */
  #countNotification(event: Event, outcome: string): void {
    const channel = text(event, "channel");
    if (channel !== undefined) this.#notifications.add({ channel, outcome });
  }
}

function answererOf(event: Event): "human" | "policy" | "rule" {
  const policy = text(event, "policy");
  if (policy === undefined) return "human";
  return policy.startsWith("rule:") ? "rule" : "policy";
}

function isSuspendedIn(status: string | undefined): boolean {
  const known = RunStatus.safeParse(status);
  return known.success && isParked({ status: known.data });
}

function observe(histogram: Histogram, { detail }: Event, name: string): void {
  const ms = detail?.[name];
  if (typeof ms === "number") histogram.observe(ms / SECOND_MS);
}

function text({ detail }: Event, name: string): string | undefined {
  const value = detail?.[name];
  return typeof value === "string" ? value : undefined;
}
