import type { StatsRow } from "./stats-row.ts";
import { DAY_MS, type Instant, epochMs, instant } from "../instant.ts";
import type { Rules } from "../rules.ts";
import type { StatsDay, StatsGroup, StatsSla, Stats } from "./stats.ts";

/** The largest groups are kept; the rest are left out. */
const MOST_GROUPS = 100;

/** The input of a tally besides the questions. */
interface TallyContext extends Pick<Stats, "since" | "until" | "pending" | "oldest" | "isPartial"> {
  rules: Pick<Rules, "alerts">;
}

/** The running counts of one group. */
class GroupCounts {
  asked = 0;
  answered = 0;
  timedOut = 0;
  unverified = 0;
  waitedMs = 0;
  readonly waits: number[] = [];

  add({ status, isAskedBack }: StatsRow, waitedMs: number): void {
    this.asked += 1;
    this.waitedMs += waitedMs;
    if (status === "timeout") this.timedOut += 1;
    if (status === "answered" && !isAskedBack) this.answered += 1;
  }
}

/** Counts questions one by one; it keeps numbers, never the questions. */
export class StatsTally {
  readonly #nowMs: number;
  readonly #aheadMs: number;
  readonly #all = new GroupCounts();
  readonly #people = new Map<string, GroupCounts>();
  readonly #channels = new Map<string, GroupCounts>();
  readonly #agents = new Map<string, GroupCounts>();
  readonly #repos = new Map<string, GroupCounts>();
  readonly #days = new Map<number, GroupCounts>();
  readonly #sla = new Map<string, StatsSla>();
  readonly #runs = new Map<number, number>();
  #byPolicy = 0;
  #byConfidence = 0;
  #lowConfidence = 0;
  #cancelled = 0;
  #askedBack = 0;

  constructor(now: Instant, aheadMs = 0) {
    this.#nowMs = epochMs(now);
    this.#aheadMs = aheadMs;
  }

  add(fact: StatsRow): void {
    const { status, isByPolicy, askedMs, endedMs = this.#nowMs } = fact;
    const groups = [this.#all, groupOf(this.#days, Math.floor((askedMs + this.#aheadMs) / DAY_MS))];
    if (fact.agent !== undefined) groups.push(claimedGroup(this.#agents, fact.agent, fact.isAgentUnverified));
    if (fact.repo !== undefined) groups.push(claimedGroup(this.#repos, fact.repo, fact.isRepoUnverified));
    if (fact.person !== undefined) groups.push(groupOf(this.#people, fact.person));
    if (fact.channel !== undefined) groups.push(groupOf(this.#channels, fact.channel));
    this.#runs.set(fact.run, (this.#runs.get(fact.run) ?? 0) + 1);
    if (status === "cancelled") this.#cancelled += 1;
    if (isByPolicy) this.#byPolicy += 1;
    if (fact.confidence === "acted") this.#byConfidence += 1;
    if (fact.confidence === "stopped") this.#lowConfidence += 1;
    if (fact.isAskedBack) this.#askedBack += 1;
    this.#addSla(fact);
    const waitedMs = Math.max(0, endedMs - askedMs);
    const isByPerson = status === "answered" && !isByPolicy && !fact.isAskedBack;
    for (const group of groups) {
      group.add(fact, waitedMs);
      if (isByPerson) group.waits.push(waitedMs);
    }
  }

  /** Yields now and then, so that a long count does not block the event loop. */
  *count({ rules, ...around }: TallyContext): Generator<void, Stats, void> {
    const { asked, answered, timedOut, waitedMs, waits } = this.#all;
    const timeoutRate = timedOut === 0 ? 0 : timedOut / (answered + timedOut);
    const { pendingQuestions, timeoutRate: most } = rules.alerts;
    const runs = this.#runs.size;
    let mostPerRun = 0;
    for (const count of this.#runs.values()) mostPerRun = Math.max(mostPerRun, count);
    yield;
    return {
      ...around,
      asked,
      answered,
      byPerson: waits.length,
      byPolicy: this.#byPolicy,
      byConfidence: this.#byConfidence,
      timedOut,
      cancelled: this.#cancelled,
      lowConfidence: this.#lowConfidence,
      askedBack: this.#askedBack,
      timeoutRate,
      runs,
      questionsPerRun: runs === 0 ? 0 : asked / runs,
      mostPerRun,
      waitedMs,
      waitedPerRunMs: runs === 0 ? 0 : waitedMs / runs,
      ...summarizeWaits(waits),
      alerts: [alertOf("pending", around.pending, pendingQuestions), alertOf("timeout_rate", timeoutRate, most)],
      people: yield* listGroups(this.#people),
      channels: yield* listGroups(this.#channels),
      agents: yield* listGroups(this.#agents),
      repos: yield* listGroups(this.#repos),
      sla: [...this.#sla.values()].sort((one, other) => other.due - one.due || compare(one.name, other.name)),
      days: yield* listDays(this.#days),
    };
  }

  #addSla({ due, isMet }: StatsRow) {
    for (const name of due) {
      const sla = this.#sla.get(name) ?? { name, due: 0, met: 0, missed: 0 };
      sla.due += 1;
      if (isMet) sla.met += 1;
      else sla.missed += 1;
      this.#sla.set(name, sla);
    }
  }
}

function groupOf<Name>(groups: Map<Name, GroupCounts>, name: Name): GroupCounts {
  let group = groups.get(name);
  if (!group) groups.set(name, (group = new GroupCounts()));
  return group;
}

/** The group of a name; counts members that only claim to belong to it. */
function claimedGroup(groups: Map<string, GroupCounts>, name: string, isUnverified: boolean): GroupCounts {
  const group = groupOf(groups, name);
  if (isUnverified) group.unverified += 1;
  return group;
}

function* listGroups(groups: ReadonlyMap<string, GroupCounts>): Generator<void, StatsGroup[], void> {
  const first = [...groups]
    .sort(([name, one], [otherName, other]) => other.asked - one.asked || compare(name, otherName))
    .slice(0, MOST_GROUPS);
  const listed: StatsGroup[] = [];
  for (const [name, { asked, answered, timedOut, unverified, waitedMs, waits }] of first) {
    yield;
    listed.push({ name, asked, answered, timedOut, unverified, waitedMs, ...summarizeWaits(waits) });
  }
  return listed;
}

function* listDays(days: ReadonlyMap<number, GroupCounts>): Generator<void, StatsDay[], void> {
  const listed: StatsDay[] = [];
  for (const [day, { asked, answered, timedOut, waits }] of [...days].sort(([one], [other]) => one - other)) {
    yield;
    listed.push({ day: instant(day * DAY_MS).slice(0, 10), asked, answered, timedOut, ...summarizeWaits(waits) });
  }
  return listed;
}

function alertOf(name: Stats["alerts"][number]["name"], value: number, threshold: number): Stats["alerts"][number] {
  return { name, value, threshold, isAbove: value > threshold };
}

function summarizeWaits(waits: readonly number[]): { medianMs?: number; p90Ms?: number } {
  if (waits.length === 0) return {};
  const values = new Float64Array(waits);
  return { medianMs: percentileRank(values, 0.5), p90Ms: percentileRank(values, 0.9) };
}

function compare(one: string, other: string) {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}

/** The percentile of values by nearest rank. Reorders the array, in expected linear time. */
export function percentileRank(values: Float64Array, part: number): number {
  const place = Math.max(0, Math.ceil(part * values.length) - 1);
  let [low, high] = [0, values.length - 1];
  while (low < high) {
    const [left, right] = split(values, low, high);
    if (place <= right) high = right;
    else if (place >= left) low = left;
    else break;
  }
  return values[place] ?? 0;
}

/** Partitions the values; equal ones go to both sides, so that many of them cost no more. */
function split(values: Float64Array, low: number, high: number): [left: number, right: number] {
  const pivot = middleOf(values[low] ?? 0, values[(low + high) >>> 1] ?? 0, values[high] ?? 0);
  let [left, right] = [low, high];
  while (left <= right) {
    while ((values[left] ?? 0) < pivot) left += 1;
    while ((values[right] ?? 0) > pivot) right -= 1;
    if (left > right) break;
    const kept = values[left] ?? 0;
    values[left] = values[right] ?? 0;
    values[right] = kept;
    left += 1;
    right -= 1;
  }
  return [left, right];
}

function middleOf(one: number, two: number, three: number) {
  return Math.max(Math.min(one, two), Math.min(Math.max(one, two), three));
}
