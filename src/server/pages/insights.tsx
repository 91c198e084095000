import type { Hono } from "hono";
import { DAY_MS, HOUR_MS, later, type Instant, MINUTE_MS, SECOND_MS } from "../../core/instant.ts";
import { Insights, PERIODS, type Period } from "../../web/pages/insights.tsx";
import { Layout } from "../../web/parts/layout.tsx";
import { type PageReader, startOfDay, tell } from "../../web/parts/page-reader.ts";
import type { SignedIn } from "../credential.ts";
import { sayError } from "../log.ts";
import { ASSETS } from "./assets.ts";
import type { PageCall, PagesDeps } from "./deps.ts";
import { sendPage } from "./send-page.tsx";
import { readWaiting } from "./read/read-inbox.ts";
import { readReader } from "./read/read-reader.ts";
import type { Stats, StatsQuery } from "../../core/stats/stats.ts";
import type { Engine } from "../../engine/engine.ts";

const LENGTHS: Readonly<Record<Period, number>> = {
  "24h": DAY_MS,
  "7d": 7 * DAY_MS,
  "30d": 30 * DAY_MS,
  "90d": 90 * DAY_MS,
};
const FARTHEST_AHEAD_MS = 14 * HOUR_MS;
const FRESH_MS = MINUTE_MS;
/** How long a request waits for new numbers while older ones exist, and while those are very old. */
const PATIENCE_MS = 50;
const OLD_MS = 10 * MINUTE_MS;
const PATIENCE_WITH_OLD_MS = SECOND_MS;
const MOST_KEPT = 64;

/** Statistics, and when they were computed. */
interface Counted {
  stats: Stats;
  countedAt: Instant;
}
interface CachedStats extends Counted {
  atMs: number;
}

interface InsightsCacheDeps {
  engine: Pick<Engine, "stats" | "now">;
  onFailure: (error: unknown) => void;
  /** Monotonic clock. */
  nowMs?: () => number;
}

/** Route of the statistics page. */
export function addInsights(pages: Hono<SignedIn>, deps: PagesDeps): void {
  const cache = new InsightsCache({
    engine: deps.engine,
    onFailure: (error) => deps.log("warn", "stats_failed", sayError(error)),
  });
  pages.get("/insights", (context) => showInsights(context, deps, cache));
}

async function showInsights(context: PageCall, { engine }: PagesDeps, cache: InsightsCache) {
  const reader = await readReader(context, engine);
  const period = PERIODS.find((each) => each === context.req.query("for")) ?? "7d";
  const aheadMs = aheadOf(reader);
  const counted = await cache.read(`${period} ${aheadMs}`, (now) => ({ since: later(now, -LENGTHS[period]), aheadMs }));
  const waiting = await readWaiting(engine, reader);
  const title = tell(reader, "insights.title");
  return sendPage(
    context,
    <Layout frame={{ reader, assets: ASSETS, page: "insights", isBeside: true, title, waiting: waiting.length }}>
      <Insights view={{ reader, period, ...counted, attention: await engine.listAttention() }} />
    </Layout>,
  );
}

/** Offset of the reader's time zone from UTC; negative west of it. */
function aheadOf(reader: PageReader) {
  const aheadMs = (DAY_MS - (startOfDay(reader) % DAY_MS)) % DAY_MS;
  return aheadMs > FARTHEST_AHEAD_MS ? aheadMs - DAY_MS : aheadMs;
}

/** Computes each statistic at most once a minute, one at a time, and serves the previous result meanwhile. */
export class InsightsCache {
  readonly #deps: Required<InsightsCacheDeps>;
  readonly #kept = new Map<string, CachedStats>();
  readonly #counting = new Map<string, Promise<CachedStats>>();
  #last: Promise<unknown> = Promise.resolve();

  constructor(deps: InsightsCacheDeps) {
    this.#deps = { nowMs: () => performance.now(), ...deps };
  }

  async read(name: string, query: (now: Instant) => StatsQuery): Promise<Counted> {
    const kept = this.#kept.get(name);
    if (kept && this.#deps.nowMs() - kept.atMs < FRESH_MS) return kept;
    const counting = this.#counting.get(name) ?? this.#count(name, query);
    if (!kept) return counting;
    counting.catch(this.#deps.onFailure);
    const patienceMs = this.#deps.nowMs() - kept.atMs < OLD_MS ? PATIENCE_MS : PATIENCE_WITH_OLD_MS;
    return Promise.race([counting.catch(() => kept), after(patienceMs, kept)]);
  }

  #count(name: string, query: (now: Instant) => StatsQuery) {
    const work = async () => {
      const countedAt = await this.#deps.engine.now();
      const stats = await this.#deps.engine.stats(query(countedAt));
      const kept = { stats, countedAt, atMs: this.#deps.nowMs() };
      this.#kept.delete(name);
      this.#kept.set(name, kept);
      const [oldest] = this.#kept.keys();
      if (this.#kept.size > MOST_KEPT && oldest !== undefined) this.#kept.delete(oldest);
      return kept;
    };
    const counting = this.#last.then(work, work).finally(() => this.#counting.delete(name));
    this.#last = counting.catch(() => undefined);
    this.#counting.set(name, counting);
    return counting;
  }
}

function after<Value>(ms: number, value: Value): Promise<Value> {
  return new Promise((resolve) => {
    setTimeout(() => resolve(value), ms).unref();
  });
}
