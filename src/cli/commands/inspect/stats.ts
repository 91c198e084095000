import { viewAttention } from "../../../core/api/reach-route.ts";
import type { AttentionUse } from "../../../core/channel/attention.ts";
import { Refusal } from "../../../core/refusal.ts";
import { STATS_FIELDS, viewStats, type StatsGroup, type Stats } from "../../../core/stats/stats.ts";
import { pluralize } from "../../../core/text/plural.ts";
import { formatDuration } from "../../../core/text/duration.ts";
import { shortId } from "../../../core/id.ts";
import type { Instant } from "../../../core/instant.ts";
import { wrongUsage } from "../../arguments.ts";
import type { Command } from "../../command.ts";
import type { Flags } from "../../flags.ts";
import { replaceLostWorker } from "../../lost-worker.ts";
import { printResult } from "../../output.ts";
import { parsePast } from "../../view/time-argument.ts";
import { textWidth, type Style, cellsOf, cutCells, padCells } from "../../terminal/terminal.ts";
import { oneLine } from "../../view/sanitise.ts";
import { type ClockOffset, sayAgo, sayMoment } from "../../view/relative-time.ts";

const FIELDS: readonly string[] = [...STATS_FIELDS, "attention"];
const SHORT_TABLE = 5;
const LONGEST_NAME = 32;

/** The tables, each with the heading of its first column. */
export const GROUPS = {
  person: "PERSON",
  channel: "CHANNEL",
  agent: "AGENT",
  repo: "REPOSITORY",
  group: "GROUP",
  day: "DAY",
} as const;
type GroupName = keyof typeof GROUPS;

const flags = {
  since: { type: "string", value: "time", about: "Start of the period: 7d, 12h or 2026-11-01 (7d)" },
  until: { type: "string", value: "time", about: "End of the period (now)" },
  by: { type: "string", value: "what", about: `Show one full table: ${Object.keys(GROUPS).join(", ")}` },
  repo: { type: "string", value: "repo", about: "Only questions of this repository" },
  agent: { type: "string", value: "agent", about: "Only questions of this agent" },
} as const satisfies Flags;

/** The data of `askd stats`: a summary with the top of every table, or one full table. */
interface StatsPage {
  now: Instant;
  ahead: ClockOffset;
  width: number;
  stats: Stats;
  attention: readonly AttentionUse[];
  by?: GroupName | undefined;
}

export const command: Command<typeof flags> = {
  usage: "stats [--since <time>] [--by person|channel|agent|repo|group|day]",
  isLong: () => true,
  flags,
  fields: FIELDS,
  examples: ["askd stats --since 30d", "askd stats --by person", "askd stats --json --jq .median_ms"],
  isLooking: () => true,
  async run(args, context) {
    if (args.positionals.length > 0) throw wrongUsage(`Unexpected argument "${args.positionals[0]}"`, command.usage);
    const { since, until, by, repo, agent } = args.flags;
    const group = by === undefined ? undefined : readGroup(by);
    const engine = await context.engine();
    await replaceLostWorker(engine, context);
    const now = await engine.now();
    const stats = await engine.stats({
      ...(since !== undefined && { since: parsePast(since, now, context) }),
      ...(until !== undefined && { until: parsePast(until, now, context) }),
      repo,
      agent,
      aheadMs: context.ahead(now),
    });
    const attention = await engine.listAttention();
    const view = { now, ahead: context.ahead, width: textWidth(context.stdout.columns), stats, attention, by: group };
    printResult(context, FIELDS, {
      page: () => renderStats(view, context.style),
      json: () => ({ ...viewStats(stats), attention: attention.map(viewAttention) }),
    });
    return 0;
  },
};

function readGroup(text: string) {
  const name = Object.keys(GROUPS).find((each): each is GroupName => each === text || `${each}s` === text);
  if (name) return name;
  throw new Refusal("bad_input", `There is no table by "${text}"`, { hint: `Use ${Object.keys(GROUPS).join(", ")}` });
}

function renderStats(page: StatsPage, style: Style) {
  const { stats, by } = page;
  const blocks = by
    ? [table(tableOf(stats, by), style)]
    : [
        summary(page),
        ...(["person", "channel", "agent", "repo", "group"] as const).map((name) =>
          table(tableOf(stats, name, SHORT_TABLE), style),
        ),
        table(attentionTable(page.attention), style),
        alertLines(stats, style),
      ];
  const shown = blocks.filter((block) => block.length > 0).map((block) => block.join("\n"));
  return shown.length > 0 ? `${shown.join("\n\n")}\n` : "No questions in this period.\n";
}

function summary({ stats, now, ahead, width }: StatsPage) {
  const { oldest } = stats;
  const from = sayMoment(stats.since, ahead).slice(0, 16);
  const to = sayMoment(stats.until, ahead).slice(0, 16);
  const waiting = oldest
    ? `${stats.pending} waiting now, oldest ${shortId(oldest.id)} ${sayAgo(oldest.askedAt, now)}: ${oneLine(oldest.title)}`
    : "Nothing is waiting now";
  return [
    `Questions from ${from} to ${to}${stats.isPartial ? " (too many to count; the newest are left out)" : ""}`,
    cutCells(waiting, width),
    "",
    ...rows([
      ["Asked", `${stats.asked} by ${pluralize(stats.runs, "run")}${sayPerRun(stats)}`],
      ["Answered", `${stats.byPerson} by people, ${stats.byPolicy} by policy${sayShare(stats)}`],
      ["Timed out", `${stats.timedOut} (${sayPart(stats.timeoutRate)} of closed questions)`],
      ...(stats.byConfidence + stats.lowConfidence > 0 ? [["By confidence", sayConfidence(stats)] as const] : []),
      ...(stats.askedBack > 0 ? [["Asked back", String(stats.askedBack)] as const] : []),
      ...(stats.cancelled > 0 ? [["Cancelled", String(stats.cancelled)] as const] : []),
      ["Time to answer", sayWaits(stats)],
      ["Agents waited", `${formatDuration(stats.waitedMs)}, ${formatDuration(stats.waitedPerRunMs)} a run`],
    ]),
  ];
}

function sayPerRun({ runs, questionsPerRun, mostPerRun }: Stats) {
  return runs === 0 ? "" : `, ${questionsPerRun.toFixed(1)} a run, at most ${mostPerRun}`;
}

function sayShare({ byPerson, byPolicy }: Stats) {
  const all = byPerson + byPolicy;
  return all === 0 ? "" : ` (${sayPart(byPerson / all)} by people)`;
}

function sayConfidence({ byConfidence, lowConfidence }: Stats) {
  return `${byConfidence} went on alone, ${lowConfidence} stopped as too unsure`;
}

function sayWaits({ medianMs, p90Ms }: Pick<Stats, "medianMs" | "p90Ms">) {
  if (medianMs === undefined || p90Ms === undefined) return "no answers yet";
  return `${formatDuration(medianMs)} median, ${formatDuration(p90Ms)} p90`;
}

function alertLines({ alerts }: Stats, style: Style) {
  return alerts
    .filter(({ isAbove }) => isAbove)
    .map(({ name, value, threshold }) =>
      style.red(
        name === "pending"
          ? `! ${value} questions are waiting; the threshold is ${threshold}`
          : `! ${sayPart(value)} of the questions timed out; the threshold is ${sayPart(threshold)}`,
      ),
    );
}

/** Aligns a table: the first column is text, the others are numbers. */
interface Table {
  heading: string[];
  rows: string[][];
  more: number;
}

function tableOf(stats: Stats, by: GroupName, most = Infinity): Table {
  const heading = GROUPS[by];
  if (by === "group") {
    const all = stats.sla.map(({ name, due, met, missed }) => [
      name,
      due,
      met,
      missed,
      sayPart(due === 0 ? 0 : met / due),
    ]);
    return cut([heading, "WITH DEADLINE", "IN TIME", "MISSED", "MET"], all, most);
  }
  if (by === "day") {
    const all = stats.days.map((each) => [each.day, each.asked, each.answered, each.timedOut, sayMs(each.medianMs)]);
    return cut([heading, "ASKED", "ANSWERED", "TIMED OUT", "MEDIAN"], all, most);
  }
  if (by === "person" || by === "channel") {
    const groups = by === "person" ? stats.people : stats.channels;
    const all = groups.map((each) => [each.name, each.answered, sayMs(each.medianMs), sayMs(each.p90Ms)]);
    return cut([heading, "ANSWERED", "MEDIAN", "P90"], all, most);
  }
  const groups: StatsGroup[] = by === "agent" ? stats.agents : stats.repos;
  const all = groups.map((each) => [
    sayGroup(each),
    each.asked,
    each.answered,
    each.timedOut,
    sayMs(each.medianMs),
    sayMs(each.p90Ms),
    formatDuration(each.waitedMs),
  ]);
  return cut([heading, "ASKED", "ANSWERED", "TIMED OUT", "MEDIAN", "P90", "WAITED"], all, most);
}

/** How often messages interrupted people, of how often they may. */
function attentionTable(attention: readonly AttentionUse[]): Table {
  const all = attention.map(({ person, lastHour, perHour, lastDay, collected, waiting }) => [
    person,
    perHour === undefined ? lastHour : `${lastHour} of ${perHour}`,
    lastDay,
    collected,
    waiting,
  ]);
  return cut(["INTERRUPTED", "LAST HOUR", "LAST DAY", "IN DIGESTS", "HELD"], all, SHORT_TABLE);
}

/** `acme/api (2 unverified)`: two questions name this repository without proof. */
function sayGroup({ name, asked, unverified }: StatsGroup) {
  if (name === "none") return "(no agent)";
  if (unverified === 0) return name;
  return `${name} (${unverified === asked ? "" : `${unverified} `}unverified)`;
}

function cut(heading: string[], all: ReadonlyArray<ReadonlyArray<string | number>>, most: number): Table {
  const shown = all.slice(0, most).map((row) => row.map((cell) => cutCells(oneLine(String(cell)), LONGEST_NAME)));
  return { heading, rows: shown, more: all.length - shown.length };
}

function table({ heading, rows: body, more }: Table, style: Style) {
  if (body.length === 0) return [];
  const widths = heading.map((name, column) =>
    Math.max(...[name, ...body.map((row) => row[column] ?? "")].map(cellsOf)),
  );
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, column) => {
        const width = widths[column] ?? 0;
        return column === 0 ? padCells(cell, width) : " ".repeat(Math.max(0, width - cellsOf(cell))) + cell;
      })
      .join("  ");
  return [style.bold(line(heading)), ...body.map(line), ...(more > 0 ? [style.dim(`and ${more} more`)] : [])];
}

function rows(pairs: ReadonlyArray<readonly [string, string]>) {
  const width = Math.max(...pairs.map(([name]) => name.length)) + 1;
  return pairs.map(([name, value]) => `${`${name}:`.padEnd(width)} ${value}`);
}

function sayMs(ms: number | undefined) {
  return ms === undefined ? "-" : formatDuration(ms);
}

function sayPart(part: number) {
  return `${Math.round(part * 100)} %`;
}
