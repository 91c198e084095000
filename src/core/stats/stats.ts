import { z } from "zod";
import { ALERTS } from "./alert.ts";
import { QuestionId } from "../id.ts";
import { Instant } from "../instant.ts";
import { toSnakeCase } from "../api/snake-case.ts";

/** A query: questions asked from `since` until before `until`, of one repository or agent if named. */
export interface StatsQuery {
  since?: Instant;
  until?: Instant;
  repo?: string;
  agent?: string;
  /** The reader's offset from UTC, which decides where a day begins. */
  aheadMs?: number;
}

const Count = z.int();

/** Median and 90th percentile of the waiting times. */
const Waits = z.object({ medianMs: z.number().optional(), p90Ms: z.number().optional() });

/** The counts of one person, channel, agent or repository. */
const StatsGroup = Waits.extend({
  name: z.string(),
  asked: Count,
  answered: Count,
  timedOut: Count,
  /** How many of those asked belong to this group only by the asker's word. */
  unverified: Count,
  /** The total waiting time of agents. */
  waitedMs: z.number(),
});
export type StatsGroup = z.infer<typeof StatsGroup>;

const StatsDay = Waits.extend({ day: z.string(), asked: Count, answered: Count, timedOut: Count });
export type StatsDay = z.infer<typeof StatsDay>;

/** How many questions with a deadline these people answered in time. */
const StatsSla = z.object({ name: z.string(), due: Count, met: Count, missed: Count });
export type StatsSla = z.infer<typeof StatsSla>;

const Alert = z.object({ name: z.enum(ALERTS), value: z.number(), threshold: z.number(), isAbove: z.boolean() });

/** Statistics of the questions of a period. */
export const Stats = Waits.extend({
  since: Instant,
  until: Instant,
  /** Pending now, whenever asked. */
  pending: Count,
  oldest: z.object({ id: QuestionId, title: z.string(), askedAt: Instant }).optional(),
  asked: Count,
  answered: Count,
  byPerson: Count,
  byPolicy: Count,
  /** Answered without a person because the asker was sure enough. */
  byConfidence: Count,
  timedOut: Count,
  cancelled: Count,
  /** Of those cancelled: the asker was too unsure, so nobody was asked. */
  lowConfidence: Count,
  /** Closed because a person asked back; the answer is that of the next question. */
  askedBack: Count,
  /** The share of timeouts among answered and timed-out questions; 0 if there are none. */
  timeoutRate: z.number(),
  runs: Count,
  questionsPerRun: z.number(),
  mostPerRun: Count,
  waitedMs: z.number(),
  waitedPerRunMs: z.number(),
  alerts: z.array(Alert),
  people: z.array(StatsGroup),
  channels: z.array(StatsGroup),
  agents: z.array(StatsGroup),
  repos: z.array(StatsGroup),
  sla: z.array(StatsSla),
  days: z.array(StatsDay),
  /** There were more than can be counted; the newest are left out. */
  isPartial: z.boolean(),
});
export type Stats = z.infer<typeof Stats>;

const Ms = z.number().nullable();
const WaitsView = z.object({ median_ms: Ms, p90_ms: Ms });
const GroupView = WaitsView.extend({
  name: z.string(),
  asked: Count,
  answered: Count,
  timed_out: Count,
  waited_ms: z.number(),
  unverified: Count,
});

/** The wire format. */
export const StatsView = WaitsView.extend({
  since: Instant,
  until: Instant,
  pending: Count,
  oldest: z.object({ id: z.string(), title: z.string(), asked_at: Instant }).nullable(),
  asked: Count,
  answered: Count,
  by_person: Count,
  by_policy: Count,
  by_confidence: Count,
  timed_out: Count,
  cancelled: Count,
  low_confidence: Count,
  asked_back: Count,
  timeout_rate: z.number(),
  runs: Count,
  questions_per_run: z.number(),
  most_per_run: Count,
  waited_ms: z.number(),
  waited_per_run_ms: z.number(),
  alerts: z.array(z.object({ name: z.string(), value: z.number(), threshold: z.number(), is_above: z.boolean() })),
  people: z.array(GroupView),
  channels: z.array(GroupView),
  agents: z.array(GroupView),
  repos: z.array(GroupView),
  sla: z.array(StatsSla),
  days: z.array(WaitsView.extend({ day: z.string(), asked: Count, answered: Count, timed_out: Count })),
  is_partial: z.boolean(),
});
export const STATS_FIELDS: readonly string[] = Object.keys(StatsView.shape);

export function viewStats(stats: Stats): z.infer<typeof StatsView> {
  return StatsView.parse(
    toSnakeCase({
      ...withNulls(stats),
      oldest: stats.oldest ?? null,
      people: stats.people.map(withNulls),
      channels: stats.channels.map(withNulls),
      agents: stats.agents.map(withNulls),
      repos: stats.repos.map(withNulls),
      days: stats.days.map(withNulls),
    }),
  );
}

/** Absent values are null on the wire. */
function withNulls<Row extends z.infer<typeof Waits>>(row: Row): object {
  return { ...row, medianMs: row.medianMs ?? null, p90Ms: row.p90Ms ?? null };
}
