import type { QuestionSnapshot } from "../core/changes.ts";
import { JUMP_MS } from "../core/run/clock-jump.ts";
import type { QuestionId } from "../core/id.ts";
import { type Instant, MINUTE_MS, epochMs } from "../core/instant.ts";
import { Refusal } from "../core/refusal.ts";
import type { WaitOptions } from "./engine.ts";
import type { Waiters } from "./waiters.ts";

/** How long a waiting caller waits for the store to come back. */
const LONGEST_ABSENCE_MS = 2 * MINUTE_MS;
const AWAY_PAUSE_MS = 500;

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
async function readPatiently(
  id: QuestionId,
  signal: AbortSignal | undefined,
  deps: WaitDeps,
): Promise<QuestionSnapshot> {
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
