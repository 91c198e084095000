import type { OutcomeId, QuestionId, RunId } from "../../../src/core/id.ts";
import type { Deed } from "./deed.ts";

/** A deed that somebody was told is done. */
export interface Fact {
  deed: Deed;
  runId: RunId;
  questionId: QuestionId | undefined;
  /** The answer or correction under which it is kept. */
  outcomeId: OutcomeId | undefined;
  atMs: number;
}

/** Something that is not as it must be. */
export interface Fault {
  /** The same for all faults of one kind. */
  kind: string;
  detail: string;
  runId: RunId | undefined;
}

interface Told {
  atMs: number;
  words: string;
}

const LONGEST_TRAIL = 60;

/** What was done and acknowledged in a walk, and what was found wrong. */
export class Ledger {
  readonly facts: Fact[] = [];
  readonly faults: Fault[] = [];
  readonly counts: Record<string, number> = {};
  readonly #startedAtMs = Date.now();
  readonly #trails = new Map<string, Told[]>();
  /** What belongs to no run: troubles, and askers whose call gave nothing. */
  readonly #others: Told[] = [];
  steps = 0;
  /** Replies that could not be judged, as others had changed the same rows at that moment. */
  contested = 0;

  /** Counts a step and keeps it for the trail of its run. */
  step(verb: string, runId: RunId | undefined, words: string): void {
    this.steps += 1;
    this.counts[verb] = (this.counts[verb] ?? 0) + 1;
    this.note(runId, `${verb}: ${words}`);
  }

  /** Keeps a line for the trail of a run, or of none. */
  note(runId: RunId | undefined, words: string): void {
    const told = { atMs: Date.now(), words };
    if (runId === undefined) this.#others.push(told);
    else this.#trails.set(runId, [...(this.#trails.get(runId) ?? []), told].slice(-LONGEST_TRAIL));
  }

  contest(): void {
    this.contested += 1;
  }

  fault(kind: string, detail: string, runId?: RunId): void {
    this.faults.push({ kind, detail, runId });
    this.note(runId, `FAULT ${kind}: ${detail}`);
  }

  trailOf(runId: RunId): readonly Told[] {
    return this.#trails.get(runId) ?? [];
  }

  /** What was noted of other runs and of none that has these words in it, and what happened to all between two moments. */
  linesAround(words: readonly string[], fromMs: number, toMs: number): Told[] {
    const isAbout = (told: Told) => words.some((word) => told.words.includes(word));
    const troubles = this.#others.filter(({ atMs }) => atMs >= fromMs && atMs <= toMs);
    return [...this.#trails.values(), this.#others.filter((told) => !troubles.includes(told))]
      .flatMap((trail) => trail.filter(isAbout))
      .concat(troubles);
  }

  factsOf(runId: RunId): Fact[] {
    return this.facts.filter((fact) => fact.runId === runId);
  }

  /** Since the walk began, so that all lines of a trail can be compared. */
  sayTime(atMs: number): string {
    return `+${((atMs - this.#startedAtMs) / 1000).toFixed(2)}s`;
  }
}
