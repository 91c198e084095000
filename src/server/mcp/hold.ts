import { sayActor } from "../../core/people/actor.ts";
import type { Read } from "../../core/changes.ts";
import { sayDuration } from "../../core/text/duration.ts";
import { quoteName } from "../../core/text/foreign-text.ts";
import { type Instant, SECOND_MS, earlier, later, msBetween } from "../../core/instant.ts";
import { isPending } from "../../core/question/question.ts";
import type { Engine } from "../../engine/engine.ts";

const PROGRESS_MS = 15 * SECOND_MS;
/** How long after its undo window a reply may take to settle. */
const SETTLE_MS = 2 * SECOND_MS;

export interface Holding {
  engine: Engine;
  windowMs: number;
  signal: AbortSignal;
  /** Whether the question is held by this caller, so that its end is the end of the hold; it is unless said. */
  isHeld?: boolean;
  /** Since when the call waits, where that was before now. */
  since?: Instant;
  /** Hears every 15 seconds how long the wait has been, if it is wanted. */
  onProgress?(waitedMs: number, words: string): Promise<void>;
}

/**
 * Waits with the agent alive until there is an outcome or the window ends, and ends the hold.
 * A caller that left parks its question; nothing that a caller does by leaving cancels it.
 * Very many may be held at once, and each waits in one frame of its own.
 */
export async function hold(
  asked: Read,
  { engine, windowMs, signal, isHeld = true, since, onProgress }: Holding,
): Promise<Read> {
  const { id } = asked.question;
  const from = await engine.now();
  const until = later(from, windowMs);
  let read = asked;
  for (let now = from; isPending(read.question) && !signal.aborted && now < until; now = await engine.now()) {
    const begun = since ?? from;
    if (now > from || windowMs > PROGRESS_MS) await onProgress?.(msBetween(begun, now), sayHolding(read, begun, now));
    const next = onProgress ? earlier(later(now, PROGRESS_MS), until) : until;
    read = await engine.wait(id, { until: next, signal, takes: true });
  }
  return isHeld && isPending(read.question) ? endHold(read, engine, signal) : read;
}

async function endHold({ question: { id } }: Read, engine: Engine, signal: AbortSignal): Promise<Read> {
  if (signal.aborted) return engine.endHold(id, "gone");
  const ended = await engine.endHold(id, "window");
  if (!isPending(ended.question) || !ended.question.settling) return ended;
  // Somebody has answered and can still take it back for a moment: that is waited for.
  const settled = await engine.wait(id, {
    until: later(ended.question.settling.until, SETTLE_MS),
    signal,
    takes: true,
  });
  return isPending(settled.question) ? engine.endHold(id, signal.aborted ? "gone" : "window") : settled;
}

/** `waiting for a person, 1m 20s, mika is looking` */
export function sayHolding({ question }: Read, from: Instant, now: Instant): string {
  const waitedMs = msBetween(from, now);
  const minutes = Math.floor(waitedMs / (60 * SECOND_MS));
  const seconds = Math.floor((waitedMs % (60 * SECOND_MS)) / SECOND_MS);
  const waited = minutes > 0 && minutes < 60 ? `${minutes}m ${seconds}s` : sayDuration(waitedMs);
  return `waiting for a person, ${waited}${question.claim ? `, ${quoteName(sayActor(question.claim.by))} is looking` : ""}`;
}
