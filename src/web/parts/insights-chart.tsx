import type { AttentionUse } from "../../core/channel/attention.ts";
import { SECOND_MS } from "../../core/instant.ts";
import type { StatsDay, StatsGroup, Stats } from "../../core/stats/stats.ts";
import { makeVisible } from "../../core/text/visible.ts";
import { Bars, Columns } from "./chart.tsx";
import { sayNumber, sayShare } from "./number-format.ts";
import { type PageReader, tell, tellSpan } from "./page-reader.ts";
import type { MessageKey } from "../words/words.ts";

const MOST_BARS = 8;

/** Questions per day by outcome, and the timeout rate per day. */
export function DayCharts({ reader, stats: { days, alerts } }: { reader: PageReader; stats: Stats }) {
  const limit = alerts.find(({ name }) => name === "timeout_rate")?.threshold ?? 0;
  const busiest = days.toSorted((one, other) => other.asked - one.asked)[0];
  const most = busiest?.asked ?? 0;
  const rates = days.map(rateOf);
  const asked = days.reduce((sum, day) => sum + day.asked, 0);
  const about = tell(reader, "insights.daysAbout", {
    n: days.length,
    asked: sayNumber(reader, asked),
    day: sayDay(reader, busiest?.day ?? ""),
    most: sayNumber(reader, most),
  });
  const aboutRates = tell(reader, "insights.ratesAbout", {
    limit: sayShare(reader, limit),
    days: days.length,
    n: rates.filter((rate) => rate > limit).length,
  });
  return (
    <>
      <section>
        <h2>{tell(reader, "insights.days")}</h2>
        <Columns
          id="days"
          title={tell(reader, "insights.days")}
          about={about}
          most={most}
          mostLabel={sayNumber(reader, most)}
          columns={days.map((day) => ({
            label: sayDay(reader, day.day),
            parts: [day.answered, day.timedOut, restOf(day)],
          }))}
        />
        <Legend reader={reader} keys={["insights.col.answered", "insights.col.timedOut", "insights.col.open"]} />
      </section>
      <section>
        <h2>{tell(reader, "insights.rates")}</h2>
        <Columns
          id="rates"
          title={tell(reader, "insights.rates")}
          about={aboutRates}
          most={1}
          mostLabel={sayShare(reader, 1)}
          columns={days.map((day) => ({ label: sayDay(reader, day.day), parts: [0, rateOf(day)] }))}
          limit={{ value: limit, label: sayShare(reader, limit) }}
        />
      </section>
      <Numbers
        reader={reader}
        columns={["day", "asked", "answered", "timedOut", "rate", "median", "p90"]}
        rows={days.map((day) => [
          sayDay(reader, day.day),
          ...[day.asked, day.answered, day.timedOut].map((value) => sayNumber(reader, value)),
          sayShare(reader, rateOf(day)),
          ...[day.medianMs, day.p90Ms].map((ms) => saySpan(reader, ms)),
        ])}
      />
    </>
  );
}

/** Time to answer by person, channel or agent. */
export function GroupCharts(given: {
  reader: PageReader;
  name: "people" | "channels" | "agents";
  groups: StatsGroup[];
}) {
  const { reader, name, groups } = given;
  const title = tell(reader, `insights.${name}`);
  const slowest = groups.toSorted((one, other) => (other.medianMs ?? 0) - (one.medianMs ?? 0))[0];
  const shown = groups.slice(0, MOST_BARS);
  if (!slowest) {
    return (
      <section>
        <h2>{title}</h2>
        <p class="quiet">{tell(reader, "insights.groupNone")}</p>
      </section>
    );
  }
  const about = tell(reader, "insights.groupAbout", {
    n: shown.length,
    name: makeVisible(slowest.name),
    span: saySpan(reader, slowest.medianMs),
  });
  return (
    <section>
      <h2>{title}</h2>
      <Bars
        id={name}
        title={title}
        about={about}
        bars={shown.map((group) => ({
          name: group.name,
          value: barOf(group.medianMs),
          beyond: barOf(group.p90Ms),
          label: [group.medianMs, group.p90Ms].map((ms = 0) => tellSpan(reader, ms)).join(" / "),
        }))}
      />
      <Legend reader={reader} keys={["insights.col.median", "insights.col.p90"]} isBars />
      <Numbers
        reader={reader}
        columns={["name", "answered", "median", "p90", "waited"]}
        rows={groups.map((group) => [
          makeVisible(group.name),
          sayNumber(reader, group.answered),
          ...[group.medianMs, group.p90Ms, group.waitedMs].map((ms) => saySpan(reader, ms)),
        ])}
      />
    </section>
  );
}

/** Share of questions answered before their deadline, by group. */
export function SlaTable({ reader, stats: { sla } }: { reader: PageReader; stats: Stats }) {
  if (sla.length === 0) return null;
  return (
    <section class="whole">
      <h2>{tell(reader, "insights.sla")}</h2>
      <p class="quiet">{tell(reader, "insights.slaAbout")}</p>
      <Table
        reader={reader}
        columns={["name", "due", "met", "rate"]}
        rows={sla.map(({ name, due, met }) => [
          name === "everyone" ? tell(reader, "insights.everyone") : makeVisible(name),
          ...[due, met].map((value) => sayNumber(reader, value)),
          sayShare(reader, due === 0 ? 0 : met / due),
        ])}
      />
    </section>
  );
}

/** How often messages interrupted people, of how often they may. */
export function AttentionTable({ reader, attention }: { reader: PageReader; attention: readonly AttentionUse[] }) {
  if (attention.length === 0) return null;
  return (
    <section class="whole">
      <h2>{tell(reader, "insights.attention")}</h2>
      <p class="quiet">{tell(reader, "insights.attentionAbout")}</p>
      <Table
        reader={reader}
        columns={["name", "lastHour", "perHour", "lastDay", "collected"]}
        rows={attention.map(({ person, lastHour, perHour, lastDay, collected }) => [
          makeVisible(person),
          sayNumber(reader, lastHour),
          perHour === undefined ? "–" : sayNumber(reader, perHour),
          ...[lastDay, collected].map((value) => sayNumber(reader, value)),
        ])}
      />
    </section>
  );
}

type Heading =
  | "name"
  | "day"
  | "asked"
  | "answered"
  | "timedOut"
  | "rate"
  | "median"
  | "p90"
  | "waited"
  | "due"
  | "met"
  | "lastHour"
  | "perHour"
  | "lastDay"
  | "collected";
interface TableView {
  reader: PageReader;
  columns: readonly Heading[];
  rows: ReadonlyArray<readonly string[]>;
}

/** The numbers of a chart as a table. */
function Numbers(view: TableView) {
  return (
    <details class="whole">
      <summary>{tell(view.reader, "insights.numbers")}</summary>
      <Table {...view} />
    </details>
  );
}

function Table({ reader, columns, rows }: TableView) {
  return (
    <div class="scroll" tabindex={0}>
      <table class="numbers">
        <thead>
          <tr>
            {columns.map((column) => (
              <th scope="col">{tell(reader, `insights.col.${column}`)}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(([name, ...values]) => (
            <tr>
              <th scope="row">{name}</th>
              {values.map((value) => (
                <td>{value}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Legend({
  reader,
  keys,
  isBars = false,
}: {
  reader: PageReader;
  keys: readonly MessageKey[];
  isBars?: boolean;
}) {
  return (
    <p class="legend quiet">
      {keys.map((key, place) => (
        <span class={isBars && place === 1 ? "beyond" : `part-${place}`}>{tell(reader, key)}</span>
      ))}
    </p>
  );
}

function rateOf({ answered, timedOut }: StatsDay) {
  return timedOut === 0 ? 0 : timedOut / (answered + timedOut);
}

function restOf({ asked, answered, timedOut }: StatsDay) {
  return Math.max(0, asked - answered - timedOut);
}

/** Less than a second is shown as 0s, so its bar has no length. */
function barOf(ms = 0) {
  return ms < SECOND_MS ? 0 : ms;
}

function saySpan(reader: PageReader, ms: number | undefined) {
  return ms === undefined ? "–" : tellSpan(reader, ms, 2);
}

/** Formats `2026-11-16` in the reader's language; days are already in the reader's time zone. */
function sayDay({ language }: PageReader, day: string) {
  const [, month = "", date = ""] = day.split("-");
  return language === "de" ? `${date}.${month}.` : `${date}/${month}`;
}
