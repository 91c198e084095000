import { SECOND_MS } from "../../../core/instant.ts";

const STAYS_MS = 30 * SECOND_MS;
const MOST_QUESTIONS = 1_000;

/** Who has which question open, as far as this process was told lately. Nothing depends on it. */
export class Presence {
  readonly #seen = new Map<string, Map<string, number>>();

  /** Somebody looks at a question. */
  note(question: string, person: string, nowMs: number): void {
    const lookers = this.#seen.get(question) ?? new Map<string, number>();
    lookers.set(person, nowMs);
    // What was looked at last is forgotten last.
    this.#seen.delete(question);
    this.#seen.set(question, lookers);
    const [oldest] = this.#seen.keys();
    if (this.#seen.size > MOST_QUESTIONS && oldest !== undefined) this.#seen.delete(oldest);
  }

  lookers(question: string, nowMs: number): string[] {
    return [...(this.#seen.get(question) ?? [])]
      .filter(([, atMs]) => nowMs - atMs < STAYS_MS)
      .map(([person]) => person)
      .sort();
  }
}
