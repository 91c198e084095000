import { shortId } from "../../core/id.ts";
import type { AttentionUse } from "../../core/channel/attention.ts";
import type { Instant } from "../../core/instant.ts";
import type { StatsGroup, Stats } from "../../core/stats/stats.ts";
import { makeVisible } from "../../core/text/visible.ts";
import { AttentionTable, DayCharts, GroupCharts, SlaTable } from "../parts/insights-chart.tsx";
import { sayNumber, sayShare } from "../parts/number-format.ts";
import { type PageReader, tell, tellSpan } from "../parts/page-reader.ts";
import { Moment } from "../parts/time.tsx";

/** Periods to choose from; the second is the default. */
export const PERIODS = ["24h", "7d", "30d", "90d"] as const;
export type Period = (typeof PERIODS)[number];

export interface InsightsView {
  reader: PageReader;
  period: Period;
  stats: Stats;
  countedAt: Instant;
  attention: readonly AttentionUse[];
}

/** Statistics as numbers and charts. Works without a script. */
export function Insights({ view }: { view: InsightsView }) {
  const { reader, period, stats, countedAt } = view;
  return (
    <main id="main" class="page wide">
      <h1>{tell(reader, "insights.title")}</h1>
      <nav class="tabs" aria-label={tell(reader, "insights.period")}>
        {PERIODS.map((each) => (
          <a href={`/insights?for=${each}`} aria-current={each === period ? "page" : undefined}>
            {tell(reader, `insights.${each}`)}
          </a>
        ))}
      </nav>
      <p class="quiet">
        {tell(reader, "insights.asOf")} <Moment reader={reader} at={countedAt} />.{" "}
        {stats.isPartial ? tell(reader, "insights.partial") : null}
      </p>
      <Alerts view={view} />
      <Tiles view={view} />
      {stats.asked === 0 ? (
        <p>{tell(reader, "insights.none")}</p>
      ) : (
        <div class="charts">
          <DayCharts reader={reader} stats={stats} />
          {GROUPS.map((name) => (
            <GroupCharts reader={reader} name={name} groups={withWaits(reader, stats[name])} />
          ))}
          <SlaTable reader={reader} stats={stats} />
          <AttentionTable reader={reader} attention={view.attention} />
        </div>
      )}
    </main>
  );
}

const GROUPS = ["people", "channels", "agents"] as const;

/** Groups with an answer; questions that no agent asked have a group of their own. */
function withWaits(reader: PageReader, groups: readonly StatsGroup[]) {
  return groups
    .filter(({ medianMs }) => medianMs !== undefined)
    .map((group) => (group.name === "none" ? { ...group, name: tell(reader, "insights.noAgent") } : group));
}

/** Alerts above their limits; otherwise the limits. */
function Alerts({ view: { reader, stats } }: { view: InsightsView }) {
  const say = (name: string, value: number) =>
    name === "pending" ? sayNumber(reader, value) : sayShare(reader, value);
  const raised = stats.alerts.filter(({ isAbove }) => isAbove);
  const limitOf = (name: string) => say(name, stats.alerts.find((alert) => alert.name === name)?.threshold ?? 0);
  if (raised.length === 0) {
    const limits = { pending: limitOf("pending"), rate: limitOf("timeout_rate") };
    return <p class="quiet">{tell(reader, "insights.limits", limits)}</p>;
  }
  return (
    <>
      {raised.map(({ name, value, threshold }) => (
        <p class="banner bad">
          {tell(reader, `insights.alert.${name}`, { value: say(name, value), limit: say(name, threshold) })}
        </p>
      ))}
    </>
  );
}

function Tiles({ view: { reader, stats } }: { view: InsightsView }) {
  const number = (value: number) => sayNumber(reader, value);
  const span = (ms: number | undefined) => (ms === undefined ? "–" : tellSpan(reader, ms, 2));
  const closed = stats.answered + stats.timedOut;
  const { oldest, byConfidence, lowConfidence } = stats;
  const byRule = stats.byPolicy + stats.byPerson;
  return (
    <dl class="tiles">
      <Tile name={tell(reader, "insights.pending")} value={number(stats.pending)}>
        {oldest ? (
          <a href={`/q/${oldest.id}`} title={shortId(oldest.id)}>
            {tell(reader, "insights.oldest", { title: makeVisible(oldest.title) })}
          </a>
        ) : null}
      </Tile>
      <Tile name={tell(reader, "insights.asked")} value={number(stats.asked)}>
        {tell(reader, "insights.answered", {
          n: number(stats.answered),
          back: number(stats.askedBack),
          cancelled: number(stats.cancelled),
        })}
      </Tile>
      <Tile name={tell(reader, "insights.median")} value={span(stats.medianMs)}>
        {stats.p90Ms === undefined ? null : tell(reader, "insights.p90", { span: span(stats.p90Ms) })}
      </Tile>
      <Tile name={tell(reader, "insights.rate")} value={sayShare(reader, stats.timeoutRate)}>
        {tell(reader, "insights.rateOf", { n: number(stats.timedOut), closed: number(closed) })}
      </Tile>
      <Tile name={tell(reader, "insights.policy")} value={sayShare(reader, byRule === 0 ? 0 : stats.byPolicy / byRule)}>
        {tell(reader, "insights.policyOf", { n: number(stats.byPolicy), people: number(stats.byPerson) })}
      </Tile>
      {byConfidence + lowConfidence === 0 ? null : (
        <Tile name={tell(reader, "insights.confidence")} value={number(byConfidence)}>
          {tell(reader, "insights.confidenceLow", { n: number(lowConfidence) })}
        </Tile>
      )}
      <Tile name={tell(reader, "insights.perRun")} value={sayNumber(reader, stats.questionsPerRun)}>
        {tell(reader, "insights.perRunMost", { runs: number(stats.runs), most: number(stats.mostPerRun) })}
      </Tile>
      <Tile name={tell(reader, "insights.waited")} value={span(stats.waitedMs)}>
        {tell(reader, "insights.waitedRun", { span: span(stats.waitedPerRunMs) })}
      </Tile>
    </dl>
  );
}

function Tile({ name, value, children }: { name: string; value: string; children: unknown }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>
        <strong>{value}</strong>
        <span class="quiet">{children}</span>
      </dd>
    </div>
  );
}
