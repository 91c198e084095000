import { Hono } from "hono";
import type { KeptEvent } from "../../core/event.ts";
import { SECOND_MS, msBetween } from "../../core/instant.ts";
import type { Engine } from "../../engine/engine.ts";
import type { Store } from "../../store/store.ts";
import type { Part } from "../app.ts";
import type { Signed } from "../credential.ts";
import type { Live } from "../events/live.ts";
import type { Feed } from "../events/tail.ts";
import { requireScope } from "../rest/call.ts";
import { Series } from "./series.ts";
import { Tally } from "./tally.ts";

const CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8";
const MOST_JOBS = 1_000;
const READERS = ["human", "admin"] as const;

export interface MonitorDeps {
  engine: Engine;
  feed: Feed;
  live: Live;
  /** The store itself, where it is here. */
  store: Store | undefined;
  /** Callers that wait in this process. */
  holds: () => number;
}

/** What this server says about itself and its store, in the text format that Prometheus reads. */
export class Monitor {
  readonly #deps: MonitorDeps;
  readonly #tally = new Tally();

  constructor(deps: MonitorDeps) {
    this.#deps = deps;
  }

  /** Counts from now on; the returned function ends it. */
  start(): Promise<() => void> {
    return this.#deps.live.tail.join((events) => this.#take(events));
  }

  part(): Part {
    const signed = new Hono<Signed>();
    signed.get("/metrics", async (context) => {
      requireScope(context.get("actor"), READERS);
      context.header("Content-Type", CONTENT_TYPE);
      return context.body(`${this.#tally.write()}${await this.#writeGauges()}`);
    });
    return { path: "/", signed };
  }

  #take(events: readonly KeptEvent[]): void {
    for (const { event } of events) this.#tally.count(event);
  }

  async #writeGauges(): Promise<string> {
    const { engine, live, holds } = this.#deps;
    const gauges = [
      gauge("askd_questions_pending", "Questions that wait for an answer.", await engine.countQuestions("pending")),
      gauge("askd_holds", "Callers that wait in this process with their agent alive.", holds()),
      gauge("askd_sse_clients", "Readers of live events in this process.", live.streams),
      gauge("askd_jobs_due", `Jobs that are due and in nobody's hands, up to ${MOST_JOBS}.`, await this.#jobsDue()),
      gauge("askd_feed_lag_seconds", "Age of the oldest event that is not counted yet.", await this.#lagSeconds()),
    ];
    return gauges.map((each) => each.write()).join("");
  }

  async #jobsDue(): Promise<number> {
    const { store } = this.#deps;
    if (!store) return 0;
    const now = await store.now();
    const jobs = await store.listJobs(MOST_JOBS);
    return jobs.filter(({ dueAt, leaseUntil }) => dueAt <= now && (leaseUntil === undefined || leaseUntil <= now))
      .length;
  }

  async #lagSeconds(): Promise<number> {
    const { engine, feed, live } = this.#deps;
    if (live.tail.cursor === undefined) return 0;
    const [next] = await feed.read(live.tail.cursor, 1);
    return next ? Math.max(0, msBetween(next.event.at, await engine.now())) / SECOND_MS : 0;
  }
}

function gauge(name: string, help: string, value: number): Series {
  const series = new Series("gauge", name, help);
  series.set(value);
  return series;
}
