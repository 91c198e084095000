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
  steps = 0;
  /** Replies that could not be judged, as others had changed the same rows at that moment. */
  contested = 0;

  /** Counts a step and keeps it for the trail of its run. */
  step(verb: string, runId: RunId | undefined, words: string): void {
    this.steps += 1;
    this.counts[verb] = (this.counts[verb] ?? 0) + 1;
    this.note(runId, `${verb}: ${words}`);
  }

  /** Keeps a line for the trail of a run, or of all of them. */
  note(runId: RunId | undefined, words: string): void {
    const name = runId ?? "";
    this.#trails.set(name, [...(this.#trails.get(name) ?? []), { atMs: Date.now(), words }].slice(-LONGEST_TRAIL));
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

  factsOf(runId: RunId): Fact[] {
    return this.facts.filter((fact) => fact.runId === runId);
  }

  /** Since the walk began, so that all lines of a trail can be compared. */
  sayTime(atMs: number): string {
    return `+${((atMs - this.#startedAtMs) / 1000).toFixed(2)}s`;
  }
}
