import type { QuestionSnapshot } from "../core/changes.ts";
import { type Instant, SECOND_MS, earlier, later } from "../core/instant.ts";
import { type Question, isHandingOver, isOutcomeOpen, isPending, owesOutcome } from "../core/question/question.ts";
import type { Engine } from "./engine.ts";

const PROGRESS_MS = 15 * SECOND_MS;
/** How long the job that settles an answer may take after the undo window. */
const SETTLE_GRACE_MS = 2 * SECOND_MS;

/**
 * How long after the window a client can still be kept waiting for an answer that settles. Windows end 15 s before the
 * client gives up; the rest of that time is for writing the outcome out.
 */
export const CLIENT_SETTLE_MS = 10 * SECOND_MS;

export interface HoldOptions {
  windowMs: number;
  /** Aborts when the caller leaves. */
  signal: AbortSignal;
  /** How long after the window to wait for an answer in its undo window; until it settles unless given. */
  settleMs?: number | undefined;
  /** False if another call holds the question: then the end of this wait does not end the hold. */
  isHeld?: boolean;
  /** Called every 15 seconds while the question is pending. */
  onProgress?: ((read: QuestionSnapshot, now: Instant) => Promise<void>) | undefined;
}

/**
 * Waits with the agent alive until there is an outcome or the window ends, and ends the hold. An answer in its undo
 * window is waited for. A caller that leaves parks its question and never cancels it.
 */
export async function holdQuestion(
  engine: Engine,
  asked: QuestionSnapshot,
  { windowMs, signal, settleMs, isHeld = true, onProgress }: HoldOptions,
): Promise<QuestionSnapshot> {
  // Very many callers may wait at once, so each keeps this one frame and no helper of it.
  const { id } = asked.question;
  const from = await engine.now();
  const until = later(from, windowMs);
  const lastUntil = settleMs === undefined ? undefined : later(until, settleMs);
  let read = asked;
  for (let now = from; isPending(read.question); now = await engine.now()) {
    if (signal.aborted) return isHeld ? engine.endHold(id, "gone") : read;
    const end = waitEnd(read.question, until, lastUntil);
    if (now < end) {
      if (now > from || windowMs > PROGRESS_MS) await onProgress?.(read, now);
      read = await engine.wait(id, {
        until: onProgress ? earlier(later(now, PROGRESS_MS), end) : end,
        signal,
        takes: true,
      });
      continue;
    }
    if (!isHeld) return read;
    // A reply may have come since the last look: the commit that ends the hold decides, and leaves such a hold alone.
    read = await engine.endHold(id, "window");
    if (now >= waitEnd(read.question, until, lastUntil)) return read;
  }
  return read;
}

/** The end of the window, or later where an answer settles after it. */
function waitEnd(question: Question, until: Instant, lastUntil: Instant | undefined) {
  if (!isPending(question) || !question.settling) return until;
  const settled = earlier(later(question.settling.until, SETTLE_GRACE_MS), lastUntil);
  return settled > until ? settled : until;
}

export interface HandOverOptions {
  /** Recorded as the evidence that the outcome arrived. */
  witness: string;
  /** The start of the agent that takes it; the current one unless given. */
  epoch?: number | undefined;
  /** The process that writes it out. */
  holder?: string | undefined;
}

/** An outcome that may be written out now. */
export interface HandedOutcome {
  read: QuestionSnapshot;
  /** Commits that it was given, to be called once it is written out; undefined if nothing was owed. */
  confirm?: () => Promise<QuestionSnapshot>;
}

/** Commits that an outcome is about to be written out. A pending question and an outcome given before stay as they are. */
export async function handOverOutcome(
  engine: Engine,
  read: QuestionSnapshot,
  { witness, epoch, holder }: HandOverOptions,
): Promise<HandedOutcome> {
  const { question, run } = read;
  if (isPending(question) || !owesOutcome(question)) return { read };
  const isOwnStart = epoch === undefined || epoch === run.epoch;
  // An answer given in this process was committed as on its way at once.
  const isOnItsWay = isOwnStart && isHandingOver(question, run.epoch, "call");
  const handed = isOnItsWay ? read : await engine.handOver(question.id, epoch, holder);
  return { read: handed, confirm: () => engine.given(question.id, witness, handed.run.epoch) };
}

/** Questions answered earlier whose corrections go along with this outcome of their run. */
export async function readOwedCorrections(
  engine: Pick<Engine, "read">,
  { run, question }: QuestionSnapshot,
): Promise<QuestionSnapshot[]> {
  const others = run.owes.filter((id) => id !== question.id);
  const owed = await Promise.all(others.map((id) => engine.read(id)));
  // A correction on its way belongs to a call whose reply was lost: this one comes in its place.
  return owed.filter(({ question: each }) => owesOutcome(each) && !isPending(each) && !isOutcomeOpen(each));
}
