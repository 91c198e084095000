import type { StoreChange } from "../store/store.ts";

// A longer timer would overflow and fire at once.
const LONGEST_SLEEP_MS = 3_600_000;

/** Callers that sleep until a question changes; each is woken by its own question only. */
export class Waiters {
  readonly #byQuestion = new Map<string, Waiter[]>();

  get count(): number {
    return this.#byQuestion.size;
  }

  /** Returns whether a caller waits for this question to give its outcome to the agent. */
  hasTaker(id: string): boolean {
    return this.#byQuestion.get(id)?.some(({ takes }) => takes) ?? false;
  }

  /** Wakes the callers that wait for one of the changed questions. */
  wake(change: StoreChange): void {
    if (this.#byQuestion.size === 0) return;
    for (const id of change.all ? [...this.#byQuestion.keys()] : change.questions) {
      for (const waiter of this.#byQuestion.get(id) ?? []) waiter.wake();
    }
  }

  /** Listens for a question from now on: before the caller reads, so that no change can fall between the two. */
  listen(id: string, { takes }: Pick<Waiter, "takes">): Waiter {
    const waiter = new Waiter(takes);
    this.#byQuestion.set(id, [...(this.#byQuestion.get(id) ?? []), waiter]);
    return waiter;
  }

  leave(id: string, waiter: Waiter): void {
    const others = this.#byQuestion.get(id)?.filter((each) => each !== waiter) ?? [];
    if (others.length > 0) this.#byQuestion.set(id, others);
    else this.#byQuestion.delete(id);
  }
}

/** One caller. There may be very many, so it keeps little while it sleeps. */
class Waiter {
  readonly takes: boolean;
  #hasChanged = false;
  #resume: (() => void) | undefined;

  constructor(takes: boolean) {
    this.takes = takes;
  }

  wake(): void {
    this.#hasChanged = true;
    this.#resume?.();
  }

  /** Resolves at the next change, after the given time, or on abort. */
  next(maxMs: number, signal?: AbortSignal): Promise<void> {
    const isWoken = this.#hasChanged || (signal?.aborted ?? false);
    this.#hasChanged = false;
    if (isWoken) return Promise.resolve();
    return new Promise((resolve) => {
      const done = (): void => {
        clearTimeout(timer);
        signal?.removeEventListener("abort", done);
        this.#hasChanged = false;
        this.#resume = undefined;
        resolve();
      };
      const timer = setTimeout(done, Math.min(Math.max(0, maxMs), LONGEST_SLEEP_MS));
      this.#resume = done;
      signal?.addEventListener("abort", done, { once: true });
    });
  }
}
