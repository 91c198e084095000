import { sayActor } from "./actor.ts";
import { type Instant, later, msBetween } from "./instant.ts";
import type { Question } from "./question.ts";
import { rankOf } from "./rank.ts";
import type { Rules } from "./rules.ts";
import type { Run } from "./run.ts";
import type { Day, Group, Sla, Stats } from "./stats.ts";

/** Groups are shown by how much they have; what comes after the first so many is left out. */
const MOST_GROUPS = 100;
const EVERYONE = "everyone";

/** What a tally has to be told besides the questions. */
interface Around extends Pick<Stats, "since" | "until" | "pending" | "oldest" | "isPartial"> {
  rules: Pick<Rules, "alerts">;
}

/** Numbers of one group while they are gathered. */
class Gathered {
  asked = 0;
  answered = 0;
  timedOut = 0;
  waitedMs = 0;
  readonly waits: number[] = [];
}

/** Counts questions one after the other; it keeps a few numbers of each, never the question. */
export class Tally {
  readonly #now: Instant;
  readonly #aheadMs: number;
  readonly #all = new Gathered();
  readonly #people = new Map<string, Gathered>();
  readonly #channels = new Map<string, Gathered>();
  readonly #agents = new Map<string, Gathered>();
  readonly #repos = new Map<string, Gathered>();
  readonly #days = new Map<string, Gathered>();
  readonly #sla = new Map<string, Sla>();
  readonly #runs = new Map<string, number>();
  #byPolicy = 0;
  #cancelled = 0;

  constructor(now: Instant, aheadMs = 0) {
    this.#now = now;
    this.#aheadMs = aheadMs;
  }

  add(question: Question, run: Pick<Run, "agent" | "repo"> | undefined): void {
    const day = later(question.askedAt, this.#aheadMs).slice(0, 10);
    const groups = [
      this.#all,
      groupOf(this.#days, day),
      ...(run ? [groupOf(this.#agents, run.agent)] : []),
      ...(run?.repo === undefined ? [] : [groupOf(this.#repos, run.repo)]),
    ];
    this.#runs.set(question.runId, (this.#runs.get(question.runId) ?? 0) + 1);
    if (question.status === "cancelled") this.#cancelled += 1;
    if (isByPolicy(question)) this.#byPolicy += 1;
    this.#addSla(question);
    const waitedMs = msBetween(question.askedAt, endOf(question, this.#now));
    for (const group of groups) {
      group.asked += 1;
      group.waitedMs += Math.max(0, waitedMs);
      if (question.status === "timeout") group.timedOut += 1;
    }
    if (question.status !== "answered") return;
    for (const group of groups) group.answered += 1;
    if (isByPolicy(question)) return;
    const { by } = question.answer;
    const answerers = [groupOf(this.#people, sayActor(by)), groupOf(this.#channels, by.channel)];
    for (const group of answerers) {
      group.asked += 1;
      group.answered += 1;
      group.waitedMs += Math.max(0, waitedMs);
    }
    for (const group of [...groups, ...answerers]) group.waits.push(Math.max(0, waitedMs));
  }

  result({ rules, ...around }: Around): Stats {
    const { asked, answered, timedOut, waitedMs, waits } = this.#all;
    const timeoutRate = timedOut === 0 ? 0 : timedOut / (answered + timedOut);
    const { pendingQuestions, timeoutRate: most } = rules.alerts;
    const runs = this.#runs.size;
    let mostPerRun = 0;
    for (const count of this.#runs.values()) mostPerRun = Math.max(mostPerRun, count);
    return {
      ...around,
      ...{ asked, answered, byPerson: waits.length, byPolicy: this.#byPolicy, timedOut, cancelled: this.#cancelled },
      ...{ timeoutRate, runs, questionsPerRun: runs === 0 ? 0 : asked / runs, mostPerRun },
      ...{ waitedMs, waitedPerRunMs: runs === 0 ? 0 : waitedMs / runs },
      ...sayWaits(waits),
      alerts: [alertOf("pending", around.pending, pendingQuestions), alertOf("timeout_rate", timeoutRate, most)],
      people: listGroups(this.#people),
      channels: listGroups(this.#channels),
      agents: listGroups(this.#agents),
      repos: listGroups(this.#repos),
      sla: [...this.#sla.values()].sort((one, other) => other.due - one.due || compare(one.name, other.name)),
      days: [...this.#days].map(toDay).sort((one, other) => compare(one.day, other.day)),
    };
  }

  /** Only what had a deadline and is closed can have met or missed it; a withdrawn question did neither. */
  #addSla(question: Question): void {
    if (question.dueAt === undefined || question.status === "cancelled" || question.status === "pending") return;
    const isMet = question.status === "answered" && !isByPolicy(question) && question.answer.at <= question.dueAt;
    for (const name of question.to.length > 0 ? new Set(question.to) : [EVERYONE]) {
      const sla = this.#sla.get(name) ?? { name, due: 0, met: 0, missed: 0 };
      const next = { ...sla, due: sla.due + 1, met: sla.met + Number(isMet), missed: sla.missed + Number(!isMet) };
      this.#sla.set(name, next);
    }
  }
}

/** A rule answered it, not a person: a default at its deadline, or a policy that was there before. */
function isByPolicy(question: Question): boolean {
  if (question.status === "timeout") return question.answer !== undefined;
  if (question.status !== "answered") return false;
  return question.answer.policy !== undefined || question.answer.by.scope === "system";
}

/** Until when its agent had to wait. */
function endOf(question: Question, now: Instant): Instant {
  if (question.status === "answered") return question.answer.at;
  if (question.status === "timeout") return question.timedOutAt;
  return question.status === "cancelled" ? question.cancelledAt : now;
}

function groupOf(groups: Map<string, Gathered>, name: string): Gathered {
  const group = groups.get(name) ?? new Gathered();
  groups.set(name, group);
  return group;
}

function listGroups(groups: ReadonlyMap<string, Gathered>): Group[] {
  return [...groups]
    .sort(([name, one], [otherName, other]) => other.asked - one.asked || compare(name, otherName))
    .slice(0, MOST_GROUPS)
    .map(([name, { asked, answered, timedOut, waitedMs, waits }]) => ({
      ...{ name, asked, answered, timedOut, waitedMs },
      ...sayWaits(waits),
    }));
}

function toDay([day, { asked, answered, timedOut, waits }]: [string, Gathered]): Day {
  return { day, asked, answered, timedOut, ...sayWaits(waits) };
}

function alertOf(name: Stats["alerts"][number]["name"], value: number, threshold: number): Stats["alerts"][number] {
  return { name, value, threshold, isAbove: value > threshold };
}

function sayWaits(waits: readonly number[]): { medianMs?: number; p90Ms?: number } {
  if (waits.length === 0) return {};
  const values = Float64Array.from(waits);
  return { medianMs: rankOf(values, 0.5), p90Ms: rankOf(values, 0.9) };
}

function compare(one: string, other: string): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}
