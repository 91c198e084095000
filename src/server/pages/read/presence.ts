import { SECOND_MS } from "../../../core/instant.ts";

const STAYS_MS = 30 * SECOND_MS;
const MOST_QUESTIONS = 1_000;

/** Remembers who has which question open. Kept in memory only; nothing depends on it. */
export class Presence {
  readonly #seen = new Map<string, Map<string, number>>();

  /** Records that a person has a question open. */
  note(question: string, person: string, nowMs: number): void {
    const viewers = this.#seen.get(question) ?? new Map<string, number>();
    viewers.set(person, nowMs);
    // Reinsert, so that the least recently viewed question is dropped first.
    this.#seen.delete(question);
    this.#seen.set(question, viewers);
    const [oldest] = this.#seen.keys();
    if (this.#seen.size > MOST_QUESTIONS && oldest !== undefined) this.#seen.delete(oldest);
  }

  viewers(question: string, nowMs: number): string[] {
    return [...(this.#seen.get(question) ?? [])]
      .filter(([, atMs]) => nowMs - atMs < STAYS_MS)
      .map(([person]) => person)
      .sort();
  }
}
