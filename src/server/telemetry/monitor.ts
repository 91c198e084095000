import { randomBytes } from "node:crypto";
import { Hono } from "hono";
import { idsFrom } from "../../core/id.ts";
import type { KeptEvent } from "../../core/trail/event.ts";
import { SECOND_MS, msBetween } from "../../core/instant.ts";
import type { Rules } from "../../core/rules.ts";
import { AlertWatch } from "../../engine/stats/alert-watch.ts";
import type { Engine } from "../../engine/engine.ts";
import type { Store } from "../../store/store.ts";
import type { RouteGroup } from "../app.ts";
import type { SignedIn } from "../credential.ts";
import type { LiveEvents } from "../events/live.ts";
import type { EventFeed } from "../events/tail.ts";
import { type Log, sayError } from "../log.ts";
import { requireScope } from "../rest/rest-call.ts";
import { type OtlpTarget, SpanSender, Tracer } from "./otlp.ts";
import { Series, MetricsTally } from "./metrics-tally.ts";

const CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8";
const MOST_JOBS = 1_000;
const SPANS_EVERY_MS = 2 * SECOND_MS;
const READERS = ["human", "admin"] as const;

export interface MonitorDeps {
  engine: Engine;
  feed: EventFeed;
  live: LiveEvents;
  /** The store itself, where it is here. */
  store: Store | undefined;
  /** Callers that wait in this process. */
  holds: () => number;
  rules: Rules;
  log: Log;
  version: string;
  /** Where spans are sent, if anywhere. */
  traces: OtlpTarget | undefined;
}

/** Metrics of this server and its store, in the text format of Prometheus. */
export class Monitor {
  readonly #deps: MonitorDeps;
  readonly #tally = new MetricsTally();
  readonly #alerts: AlertWatch | undefined;
  readonly #tracer: Tracer | undefined;

  constructor(deps: MonitorDeps) {
    this.#deps = deps;
    this.#alerts = deps.store && watchAlerts(deps.store, deps);
    this.#tracer = deps.traces && tracerTo(deps.traces, deps);
  }

  /** Counts and warns from now on; the returned function ends it. */
  async start(): Promise<() => Promise<void>> {
    const leave = await this.#deps.live.tail.join((events, after) => this.#take(events, after));
    this.#alerts?.start();
    return async () => {
      leave();
      await Promise.all([this.#alerts?.stop(), this.#tracer?.stop()]);
    };
  }

  part(): RouteGroup {
    const signed = new Hono<SignedIn>();
    signed.get("/metrics", async (context) => {
      requireScope(context.get("actor"), READERS);
      context.header("Content-Type", CONTENT_TYPE);
      return context.body(`${this.#tally.write()}${await this.#writeGauges()}`);
    });
    return { path: "/", signed };
  }

  #take(events: readonly KeptEvent[], after: string): void {
    for (const { event } of events) this.#tally.count(event);
    this.#alerts?.take(events, after);
    this.#tracer?.take(events);
  }

  async #writeGauges() {
    const { engine, live, holds } = this.#deps;
    const gauges = [
      gauge("askd_questions_pending", "Questions that wait for an answer.", await engine.countQuestions("pending")),
      gauge("askd_holds", "Callers that wait in this process with their agent alive.", holds()),
      gauge("askd_sse_clients", "Readers of live events in this process.", live.streams),
      gauge("askd_jobs_due", `Jobs that are due and in nobody's hands, up to ${MOST_JOBS}.`, await this.#jobsDue()),
      gauge("askd_feed_lag_seconds", "Age of the oldest event that is not counted yet.", await this.#lagSeconds()),
    ];
    if (this.#alerts) gauges.push(sayAlerts(await this.#alerts.list()));
    return gauges.map((each) => each.write()).join("");
  }

  async #jobsDue() {
    const { store } = this.#deps;
    if (!store) return 0;
    const now = await store.now();
    const jobs = await store.listJobs(MOST_JOBS);
    return jobs.filter(({ dueAt, leaseUntil }) => dueAt <= now && (leaseUntil === undefined || leaseUntil <= now))
      .length;
  }

  async #lagSeconds() {
    const { engine, feed, live } = this.#deps;
    if (live.tail.cursor === undefined) return 0;
    const [next] = await feed.read(live.tail.cursor, 1);
    return next ? Math.max(0, msBetween(next.event.at, await engine.now())) / SECOND_MS : 0;
  }
}

function gauge(name: string, help: string, value: number) {
  const series = new Series("gauge", name, help);
  series.set(value);
  return series;
}

function sayAlerts(alerts: Awaited<ReturnType<AlertWatch["list"]>>) {
  const series = new Series("gauge", "askd_alert", "1 while a value is above its threshold.");
  for (const { name, value } of alerts) series.set(value, { name });
  return series;
}

function watchAlerts(store: Store, { rules, log }: Pick<MonitorDeps, "rules" | "log">): AlertWatch {
  return new AlertWatch({
    store,
    rules,
    ids: idsFrom(Date.now, randomBytes),
    onAlert: (name, value) => log("warn", "alert", { name, value }),
    onFailure: (error) => log("warn", "alerts_not_seen", { message: sayError(error).message }),
  });
}

function tracerTo(target: OtlpTarget, { engine, version, log }: MonitorDeps): Tracer {
  const onFailure = (error: unknown, spans?: number): void =>
    log("warn", "traces_not_sent", { spans, message: sayError(error).message });
  const sender = new SpanSender({ target, version, everyMs: SPANS_EVERY_MS, onFailure });
  return new Tracer({ engine, sender, onFailure });
}
