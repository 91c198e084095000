import type { QuestionSnapshot } from "../core/changes.ts";
import { JUMP_MS } from "../core/run/clock-jump.ts";
import type { QuestionId } from "../core/id.ts";
import { type Instant, MINUTE_MS, epochMs } from "../core/instant.ts";
import { Refusal } from "../core/refusal.ts";
import type { StoreChange } from "../store/store.ts";
import type { WaitOptions } from "./engine.ts";

// A longer timer would overflow and fire at once.
const LONGEST_SLEEP_MS = 3_600_000;
/** How long a waiting caller waits for the store to come back. */
const LONGEST_ABSENCE_MS = 2 * MINUTE_MS;
const AWAY_PAUSE_MS = 500;

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

  wake() {
    this.#hasChanged = true;
    this.#resume?.();
  }

  /** Resolves at the next change, after the given time, or on abort. */
  next(maxMs: number, signal?: AbortSignal) {
    const isWoken = this.#hasChanged || (signal?.aborted ?? false);
    this.#hasChanged = false;
    if (isWoken) return Promise.resolve();
    return new Promise<void>((resolve) => {
      const done = () => {
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

interface WaitDeps {
  waiters: Waiters;
  /** The question as this process remembers it, if it does. */
  recall(id: QuestionId): QuestionSnapshot | undefined;
  read(id: QuestionId): Promise<QuestionSnapshot>;
  now(): Instant;
  /** Real time, whatever the clock is set to. */
  uptimeMs(): number;
}

/** Returns when the question is closed, or at the given time with the question as it is then. */
export async function waitFor(
  id: QuestionId,
  { until, signal, takes = false }: WaitOptions,
  deps: WaitDeps,
): Promise<QuestionSnapshot> {
  const { waiters, now, uptimeMs } = deps;
  const waiter = waiters.listen(id, { takes });
  // A clock that jumps ahead does not end a wait: it lasts its real time.
  const endsAtMs = uptimeMs() + epochMs(until) - epochMs(now());
  try {
    for (;;) {
      const read = deps.recall(id) ?? (await readPatiently(id, signal, deps));
      if (read.question.status !== "pending") return read;
      const leftMs = Math.max(epochMs(until) - epochMs(now()), endsAtMs - uptimeMs() - JUMP_MS);
      if (leftMs <= 0 || signal?.aborted) return await readPatiently(id, signal, deps);
      await waiter.next(leftMs, signal);
    }
  } finally {
    waiters.leave(id, waiter);
  }
}

/** Reads the question; a caller that waits for an answer also waits for a store that is away for a moment. */
async function readPatiently(id: QuestionId, signal: AbortSignal | undefined, deps: WaitDeps) {
  const giveUpAtMs = performance.now() + LONGEST_ABSENCE_MS;
  for (;;) {
    try {
      return await deps.read(id);
    } catch (error) {
      const isAway = error instanceof Refusal && error.code === "store_unreachable";
      if (!isAway || signal?.aborted || performance.now() > giveUpAtMs) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, AWAY_PAUSE_MS));
  }
}
