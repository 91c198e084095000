import type { Hono } from "hono";
import { DAY_MS, HOUR_MS, later } from "../../core/instant.ts";
import { Insights, PERIODS, type Period } from "../../web/pages/insights.tsx";
import { Layout } from "../../web/parts/layout.tsx";
import { type PageReader, startOfDay, tell } from "../../web/parts/reader.ts";
import type { SignedIn } from "../credential.ts";
import { sayError } from "../log.ts";
import { ASSETS } from "./assets.ts";
import type { PageCall, PagesDeps } from "./deps.ts";
import { sendPage } from "./send-page.ts";
import { readWaiting } from "./read/read-inbox.ts";
import { readReader } from "./read/read-reader.ts";
import { StatsCache } from "./read/stats-cache.ts";

const LENGTHS: Readonly<Record<Period, number>> = {
  "24h": DAY_MS,
  "7d": 7 * DAY_MS,
  "30d": 30 * DAY_MS,
  "90d": 90 * DAY_MS,
};
const FARTHEST_AHEAD_MS = 14 * HOUR_MS;

/** Route of the statistics page. */
export function addInsights(pages: Hono<SignedIn>, deps: PagesDeps): void {
  const cache = new StatsCache({
    engine: deps.engine,
    onFailure: (error) => deps.log("warn", "stats_failed", sayError(error)),
  });
  pages.get("/insights", (context) => showInsights(context, deps, cache));
}

async function showInsights(context: PageCall, { engine }: PagesDeps, cache: StatsCache): Promise<Response> {
  const reader = await readReader(context, engine);
  const period = PERIODS.find((each) => each === context.req.query("for")) ?? "7d";
  const aheadMs = aheadOf(reader);
  const counted = await cache.read(`${period} ${aheadMs}`, (now) => ({ since: later(now, -LENGTHS[period]), aheadMs }));
  const waiting = await readWaiting(engine, reader);
  const title = tell(reader, "insights.title");
  return sendPage(
    context,
    <Layout frame={{ reader, assets: ASSETS, page: "insights", isBeside: true, title, waiting: waiting.length }}>
      <Insights view={{ reader, period, ...counted }} />
    </Layout>,
  );
}

/** Offset of the reader's time zone from UTC; negative west of it. */
function aheadOf(reader: PageReader): number {
  const aheadMs = (DAY_MS - (startOfDay(reader) % DAY_MS)) % DAY_MS;
  return aheadMs > FARTHEST_AHEAD_MS ? aheadMs - DAY_MS : aheadMs;
}
