import type { Question } from "../question/question.ts";
import type { StatsRow } from "./stats-row.ts";

const STATUSES = ["answered", "timeout", "cancelled"] as const satisfies ReadonlyArray<Question["status"]>;

/**
 * The statistics rows of some closed questions, column by column: a tenth of the text of the questions themselves.
 * A name is its place in `names`, counted from 1; 0 is none.
 */
export interface StatsBlock extends Record<Column, number[]> {
  names: string[];
  dues: string[][];
}
type Column = "run" | "asked" | "waited" | "status" | "flags" | "person" | "channel" | "agent" | "repo" | "due";

const BY_POLICY = 1;
const AGENT_UNVERIFIED = 2;
const REPO_UNVERIFIED = 4;
const MET = 8;
const ASKED_BACK = 16;
const ACTED_BY_CONFIDENCE = 32;
const STOPPED_BY_CONFIDENCE = 64;

/** Packs the rows of closed questions. */
export function packStats(rows: readonly StatsRow[]): StatsBlock {
  const names = new Places();
  const dues = new Places();
  return {
    run: rows.map(({ run }) => run),
    asked: rows.map(({ askedMs }) => askedMs),
    waited: rows.map(({ askedMs, endedMs = askedMs }) => endedMs - askedMs),
    status: rows.map(({ status }) => STATUSES.findIndex((each) => each === status)),
    flags: rows.map(flagsOf),
    person: rows.map(({ person }) => names.of(person)),
    channel: rows.map(({ channel }) => names.of(channel)),
    agent: rows.map(({ agent }) => names.of(agent)),
    repo: rows.map(({ repo }) => names.of(repo)),
    due: rows.map(({ due }) => dues.of(due.length === 0 ? undefined : due.join("\n"))),
    names: names.all,
    dues: dues.all.map((text) => text.split("\n")),
  };
}

export function unpackStats(block: StatsBlock): StatsRow[] {
  const nameAt = (place: number | undefined) => (place ? block.names[place - 1] : undefined);
  return block.asked.map((askedMs, index): StatsRow => {
    const flags = block.flags[index] ?? 0;
    return {
      run: block.run[index] ?? 0,
      status: STATUSES[block.status[index] ?? 0] ?? "answered",
      askedMs,
      endedMs: askedMs + (block.waited[index] ?? 0),
      isByPolicy: (flags & BY_POLICY) !== 0,
      confidence: confidenceOf(flags),
      person: nameAt(block.person[index]),
      channel: nameAt(block.channel[index]),
      agent: nameAt(block.agent[index]),
      repo: nameAt(block.repo[index]),
      isAgentUnverified: (flags & AGENT_UNVERIFIED) !== 0,
      isRepoUnverified: (flags & REPO_UNVERIFIED) !== 0,
      due: block.dues[(block.due[index] ?? 0) - 1] ?? [],
      isMet: (flags & MET) !== 0,
      isAskedBack: (flags & ASKED_BACK) !== 0,
    };
  });
}

function confidenceOf(flags: number): StatsRow["confidence"] {
  if ((flags & ACTED_BY_CONFIDENCE) !== 0) return "acted";
  return (flags & STOPPED_BY_CONFIDENCE) === 0 ? undefined : "stopped";
}

function flagsOf({ isByPolicy, confidence, isAgentUnverified, isRepoUnverified, isMet, isAskedBack }: StatsRow) {
  return (
    (confidence === "acted" ? ACTED_BY_CONFIDENCE : 0) |
    (confidence === "stopped" ? STOPPED_BY_CONFIDENCE : 0) |
    (isByPolicy ? BY_POLICY : 0) |
    (isAgentUnverified ? AGENT_UNVERIFIED : 0) |
    (isRepoUnverified ? REPO_UNVERIFIED : 0) |
    (isMet ? MET : 0) |
    (isAskedBack ? ASKED_BACK : 0)
  );
}

/** Texts, each kept once. */
class Places {
  readonly all: string[] = [];
  readonly #places = new Map<string, number>();

  of(text: string | undefined): number {
    if (text === undefined) return 0;
    const known = this.#places.get(text);
    if (known !== undefined) return known;
    this.#places.set(text, this.all.push(text));
    return this.all.length;
  }
}
