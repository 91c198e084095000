import type { Change } from "../store/store.ts";

// A longer timer would overflow and fire at once.
const LONGEST_SLEEP_MS = 3_600_000;

/** Callers that sleep until a question changes; each is woken by its own question only. */
export class Waiters {
  readonly #byQuestion = new Map<string, Set<() => void>>();

  get count(): number {
    return this.#byQuestion.size;
  }

  /** Wakes whoever waits for one of the changed questions. */
  wake(change: Change): void {
    if (this.#byQuestion.size === 0) return;
    if (change.all) {
      for (const id of [...this.#byQuestion.keys()]) this.#wakeOne(id);
      return;
    }
    for (const id of change.questions) this.#wakeOne(id);
  }

  /**
   * Listens for a question from now on; `next` resolves at its next change, after the given time, or on abort.
   * Listening starts before the caller reads, so that no change can fall between the two.
   */
  listen(id: string): { next(maxMs: number, signal?: AbortSignal): Promise<void>; close(): void } {
    let hasChanged = false;
    let resume: (() => void) | undefined;
    const onChange = () => {
      hasChanged = true;
      resume?.();
    };
    this.#add(id, onChange);
    return {
      next: async (maxMs, signal) => {
        if (!hasChanged && !signal?.aborted) {
          await new Promise<void>((resolve) => {
            const done = () => {
              clearTimeout(timer);
              signal?.removeEventListener("abort", done);
              resolve();
            };
            const timer = setTimeout(done, Math.min(Math.max(0, maxMs), LONGEST_SLEEP_MS));
            resume = done;
            signal?.addEventListener("abort", done, { once: true });
          });
        }
        hasChanged = false;
        resume = undefined;
      },
      close: () => this.#remove(id, onChange),
    };
  }

  #add(id: string, onChange: () => void): void {
    const listeners = this.#byQuestion.get(id) ?? new Set();
    listeners.add(onChange);
    this.#byQuestion.set(id, listeners);
  }

  #remove(id: string, onChange: () => void): void {
    const listeners = this.#byQuestion.get(id);
    listeners?.delete(onChange);
    if (listeners?.size === 0) this.#byQuestion.delete(id);
  }

  #wakeOne(id: string): void {
    for (const onChange of this.#byQuestion.get(id) ?? []) onChange();
  }
}
