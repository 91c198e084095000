import { z } from "zod";
import { ALERTS } from "./alert.ts";
import { QuestionId } from "../id.ts";
import { Instant } from "../instant.ts";
import { toWire } from "../api/snake-case.ts";

/** What to count: questions asked from `since` until right before `until`, of one repository or agent if named. */
export interface StatsQuery {
  since?: Instant;
  until?: Instant;
  repo?: string;
  agent?: string;
  /** How far the reader's clock is ahead of UTC: where a day begins. */
  aheadMs?: number;
}

/** How long people took: half of them at most the median, nine of ten at most p90. */
const Waits = z.object({ medianMs: z.number().optional(), p90Ms: z.number().optional() });

/** What was counted for one person, channel, agent or repository. */
const Group = Waits.extend({
  name: z.string(),
  asked: z.int(),
  answered: z.int(),
  timedOut: z.int(),
  /** Of those asked, how many belong to this agent or repository only by the asker's word. */
  unverified: z.int(),
  /** How long agents waited in all. */
  waitedMs: z.number(),
});
export type Group = z.infer<typeof Group>;

const Day = Waits.extend({ day: z.string(), asked: z.int(), answered: z.int(), timedOut: z.int() });
export type Day = z.infer<typeof Day>;

/** Of the questions with a deadline for these people, how many a person answered before it. */
const Sla = z.object({ name: z.string(), due: z.int(), met: z.int(), missed: z.int() });
export type Sla = z.infer<typeof Sla>;

const Alert = z.object({ name: z.enum(ALERTS), value: z.number(), threshold: z.number(), isAbove: z.boolean() });

/** What is known of the questions of a time, in numbers. */
export const Stats = Waits.extend({
  since: Instant,
  until: Instant,
  /** Waiting now, whenever they were asked. */
  pending: z.int(),
  oldest: z.object({ id: QuestionId, title: z.string(), askedAt: Instant }).optional(),
  asked: z.int(),
  answered: z.int(),
  byPerson: z.int(),
  byPolicy: z.int(),
  timedOut: z.int(),
  cancelled: z.int(),
  /** Of those that were answered or timed out; 0 where nothing was. */
  timeoutRate: z.number(),
  runs: z.int(),
  questionsPerRun: z.number(),
  mostPerRun: z.int(),
  waitedMs: z.number(),
  waitedPerRunMs: z.number(),
  alerts: z.array(Alert),
  people: z.array(Group),
  channels: z.array(Group),
  agents: z.array(Group),
  repos: z.array(Group),
  sla: z.array(Sla),
  days: z.array(Day),
  /** There were more than can be counted at once; the newest are left out. */
  isPartial: z.boolean(),
});
export type Stats = z.infer<typeof Stats>;

const Ms = z.number().nullable();
const WaitsView = z.object({ median_ms: Ms, p90_ms: Ms });
const GroupView = WaitsView.extend({
  ...{ name: z.string(), asked: z.int(), answered: z.int(), timed_out: z.int(), waited_ms: z.number() },
  unverified: z.int(),
});

/** The same as programs see it. */
export const StatsView = WaitsView.extend({
  ...{ since: Instant, until: Instant, pending: z.int() },
  oldest: z.object({ id: z.string(), title: z.string(), asked_at: Instant }).nullable(),
  ...{ asked: z.int(), answered: z.int(), by_person: z.int(), by_policy: z.int(), timed_out: z.int() },
  ...{ cancelled: z.int(), timeout_rate: z.number(), runs: z.int(), questions_per_run: z.number() },
  ...{ most_per_run: z.int(), waited_ms: z.number(), waited_per_run_ms: z.number() },
  alerts: z.array(z.object({ name: z.string(), value: z.number(), threshold: z.number(), is_above: z.boolean() })),
  ...{ people: z.array(GroupView), channels: z.array(GroupView), agents: z.array(GroupView) },
  repos: z.array(GroupView),
  sla: z.array(Sla),
  days: z.array(WaitsView.extend({ day: z.string(), asked: z.int(), answered: z.int(), timed_out: z.int() })),
  is_partial: z.boolean(),
});
export const STATS_FIELDS: readonly string[] = Object.keys(StatsView.shape);

export function viewStats(stats: Stats): z.infer<typeof StatsView> {
  return StatsView.parse(
    toWire({
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

/** Absent is null for programs. */
function withNulls<Row extends z.infer<typeof Waits>>(row: Row): object {
  return { ...row, medianMs: row.medianMs ?? null, p90Ms: row.p90Ms ?? null };
}
