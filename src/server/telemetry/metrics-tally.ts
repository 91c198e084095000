import { WATCHED } from "../../core/stats/alert.ts";
import type { Event } from "../../core/trail/event.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from "../../core/instant.ts";
import { TimeoutPolicy } from "../../core/question/timeout-policy.ts";
import { RunStatus, isParked } from "../../core/run/run.ts";

const SECONDS = [1, 5, 15].map((seconds) => seconds * SECOND_MS);
const MINUTES = [1, 5, 15, 30].map((minutes) => minutes * MINUTE_MS);
const HOURS = [1, 2, 4, 8, 12].map((hours) => hours * HOUR_MS);
const DAYS = [1, 2, 3, 7].map((days) => days * DAY_MS);
const BOUNDS = [...SECONDS, ...MINUTES, ...HOURS, ...DAYS].map((ms) => ms / SECOND_MS);
/** The labels of a value. */
type Labels = Readonly<Record<string, string>>;

const MOST_SERIES = 100;

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
    for (const name of WATCHED) this.#alerts.add({ name }, 0);
    for (const series of [this.#posted, this.#cancelled, this.#suspended, this.#resumed]) series.add({}, 0);
  }

  count(event: Event): void {
    switch (event.type) {
      case "question.asked":
        return this.#posted.add();
      case "question.answered":
        if (text(event, "outcome") === "clarify") return undefined; // asked back: the answer is that of the next question
        this.#answered.add({ by: answererOf(event) });
        return observe(this.#latency, event, "waited_ms");
      case "question.timed_out":
        return this.#timedOut.add({ action: text(event, "policy") ?? "none" });
      case "question.cancelled":
        return this.#cancelled.add();
      case "question.notified":
      case "run.notified":
        return this.#countNotification(event, "sent");
      case "run.delivery_failed":
      case "question.delivery_failed":
        // Without a channel it is an outcome that its agent never took, not a message to people.
        return text(event, "channel") === undefined ? undefined : this.#countNotification(event, "failed");
      case "alert.pending":
      case "alert.timeout_rate":
      case "alert.failing_jobs":
      case "alert.silent_machine":
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

function answererOf(event: Event) {
  const policy = text(event, "policy");
  if (policy === undefined) return "human";
  return policy.startsWith("rule:") ? "rule" : "policy";
}

function isSuspendedIn(status: string | undefined) {
  const known = RunStatus.safeParse(status);
  return known.success && isParked({ status: known.data });
}

function observe(histogram: Histogram, { detail }: Event, name: string) {
  const ms = detail?.[name];
  if (typeof ms === "number") histogram.observe(ms / SECOND_MS);
}

function text({ detail }: Event, name: string) {
  const value = detail?.[name];
  return typeof value === "string" ? value : undefined;
}

/** One number for each set of labels; labels beyond the limit are counted together, which bounds the memory. */
export class Series {
  readonly #name: string;
  readonly #help: string;
  readonly #type: "counter" | "gauge";
  readonly #values = new Map<string, number>();

  constructor(type: "counter" | "gauge", name: string, help: string) {
    this.#type = type;
    this.#name = name;
    this.#help = help;
  }

  /** Adds to a value; adding zero makes the labels visible before the first event. */
  add(labels: Labels = {}, by = 1): void {
    const key = this.#keyOf(labels);
    this.#values.set(key, (this.#values.get(key) ?? 0) + by);
  }

  set(value: number, labels: Labels = {}): void {
    this.#values.set(this.#keyOf(labels), value);
  }

  write(): string {
    const lines = [...this.#values].map(([labels, value]) => `${this.#name}${labels} ${value}\n`);
    return `${head(this.#name, this.#help, this.#type)}${lines.join("")}`;
  }

  #keyOf(labels: Labels) {
    const key = sayLabels(labels);
    if (this.#values.has(key) || this.#values.size < MOST_SERIES) return key;
    return sayLabels(Object.fromEntries(Object.keys(labels).map((name) => [name, "other"])));
  }
}

/** A histogram of durations: each bucket counts those of at most that many seconds. */
export class Histogram {
  readonly #name: string;
  readonly #help: string;
  readonly #bounds: readonly number[];
  readonly #counts: number[];
  #sum = 0;
  #count = 0;

  constructor(name: string, help: string, bounds: readonly number[]) {
    this.#name = name;
    this.#help = help;
    this.#bounds = bounds;
    this.#counts = bounds.map(() => 0);
  }

  observe(seconds: number): void {
    this.#sum += seconds;
    this.#count += 1;
    for (const [index, bound] of this.#bounds.entries()) {
      if (seconds <= bound) this.#counts[index] = (this.#counts[index] ?? 0) + 1;
    }
  }

  write(): string {
    const name = this.#name;
    const buckets = this.#bounds.map((bound, index) => `${name}_bucket{le="${bound}"} ${this.#counts[index]}\n`);
    const all = `${name}_bucket{le="+Inf"} ${this.#count}\n${name}_sum ${this.#sum}\n${name}_count ${this.#count}\n`;
    return `${head(name, this.#help, "histogram")}${buckets.join("")}${all}`;
  }
}

function head(name: string, help: string, type: string) {
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`;
}

function sayLabels(labels: Labels) {
  const parts = Object.entries(labels).map(([name, value]) => `${name}="${escapeLabel(value)}"`);
  return parts.length === 0 ? "" : `{${parts.join(",")}}`;
}

/** Inside quotes three characters have another meaning. */
function escapeLabel(value: string) {
  return value.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
}
