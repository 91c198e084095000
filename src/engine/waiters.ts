import type { Change } from "../store/store.ts";

// A longer timer would overflow and fire at once.
const LONGEST_SLEEP_MS = 3_600_000;

interface Waiter {
  onChange(): void;
  takes: boolean;
}

/** Callers that sleep until a question changes; each is woken by its own question only. */
export class Waiters {
  readonly #byQuestion = new Map<string, Set<Waiter>>();

  get count(): number {
    return this.#byQuestion.size;
  }

  /** Says whether somebody waits for this question to give its outcome to the agent. */
  hasTaker(id: string): boolean {
    for (const waiter of this.#byQuestion.get(id) ?? []) if (waiter.takes) return true;
    return false;
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
  listen(
    id: string,
    { takes }: Pick<Waiter, "takes">,
  ): { next(maxMs: number, signal?: AbortSignal): Promise<void>; close(): void } {
    let hasChanged = false;
    let resume: (() => void) | undefined;
    const onChange = () => {
      hasChanged = true;
      resume?.();
    };
    const waiter: Waiter = { onChange, takes };
    this.#add(id, waiter);
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
      close: () => this.#remove(id, waiter),
    };
  }

  #add(id: string, waiter: Waiter): void {
    const waiters = this.#byQuestion.get(id) ?? new Set();
    waiters.add(waiter);
    this.#byQuestion.set(id, waiters);
  }

  #remove(id: string, waiter: Waiter): void {
    const waiters = this.#byQuestion.get(id);
    waiters?.delete(waiter);
    if (waiters?.size === 0) this.#byQuestion.delete(id);
  }

  #wakeOne(id: string): void {
    for (const { onChange } of this.#byQuestion.get(id) ?? []) onChange();
  }
}
