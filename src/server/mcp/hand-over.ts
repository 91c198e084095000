import { randomBytes } from "node:crypto";
import type { QuestionSnapshot } from "../../core/changes.ts";
import { actorName } from "../../core/people/actor.ts";
import { formatDuration } from "../../core/text/duration.ts";
import { DELIMITER_BYTES, delimiterFrom, quoteName } from "../../core/text/foreign-text.ts";
import { liveWindow, withoutProgress } from "../../core/door/client-profile.ts";
import { type Instant, MINUTE_MS, SECOND_MS, later, msBetween } from "../../core/instant.ts";
import { type PendingQuestion, findAnswer, isPending, owesOutcome } from "../../core/question/question.ts";
import { CLIENT_SETTLE_MS, handOverOutcome, holdQuestion, readOwedCorrections } from "../../engine/hold-question.ts";
import { ownEpoch } from "./asker.ts";
import { type ToolCall, type ToolResult, progressToken } from "./caller.ts";
import { type BegunHold, beginHold } from "./rejoin.ts";
import { parkedResult, resultOf } from "./result.ts";
import type { HeldStream } from "./stream-id.ts";

/** A resumed call: since when it waits, and what happens at the end of its hold. */
export type Resumed = Pick<HeldStream, "since" | "after">;

/** Waits for the outcome of a question that is there, and gives it to the agent. */
export async function holdFor(
  call: ToolCall,
  begun: BegunHold,
  windowMs: number,
  resumed?: Resumed,
): Promise<ToolResult> {
  if (windowMs > 0 && isPending(begun.read.question)) await announce(call, begun.read.question, windowMs, resumed);
  return handOver(call, await waitFor(call, begun, windowMs, resumed));
}

/** Waits for the outcome of a question, or for the end of the window. */
export async function waitFor(
  call: ToolCall,
  begun: BegunHold,
  windowMs: number,
  resumed?: Resumed,
): Promise<QuestionSnapshot> {
  if (windowMs <= 0) return begun.read;
  const { read, isHeld } = begun.isHeld ? begun : await beginHold(call, begun.read, windowMs, resumed?.after);
  const { engine } = call.deps;
  const { context, signal } = call;
  const token = progressToken(context);
  const settleMs = CLIENT_SETTLE_MS + (resumed ? 0 : windowFor(call, Infinity) - windowMs);
  const options = { windowMs, signal, isHeld, settleMs: Number.isFinite(settleMs) ? settleMs : undefined };
  if (token === undefined) return holdQuestion(engine, read, options);
  const now = await engine.now();
  const since = resumed?.since ?? now;
  const total = msBetween(since, later(now, windowMs)) / SECOND_MS;
  const onProgress = async (seen: QuestionSnapshot, at: Instant) => {
    const progress = msBetween(since, at) / SECOND_MS;
    const params = { progressToken: token, progress, total, message: sayHolding(seen, since, at) };
    // A client that has left shows by its signal; a progress report that fails says nothing more.
    await context.mcpReq.notify({ method: "notifications/progress", params }).catch(() => undefined);
  };
  return holdQuestion(engine, read, { ...options, onProgress });
}

/** `waiting for a person, 1m 20s, mika is looking` */
export function sayHolding({ question }: QuestionSnapshot, from: Instant, now: Instant): string {
  const waitedMs = msBetween(from, now);
  const minutes = Math.floor(waitedMs / MINUTE_MS);
  const seconds = Math.floor((waitedMs % MINUTE_MS) / SECOND_MS);
  const waited = minutes > 0 && minutes < 60 ? `${minutes}m ${seconds}s` : formatDuration(waitedMs);
  return `waiting for a person, ${waited}${question.claim ? `, ${quoteName(actorName(question.claim.by))} is looking` : ""}`;
}

/** Announces the call to a client that can come back for the reply, so that the client can name it then. */
async function announce(call: ToolCall, question: PendingQuestion, windowMs: number, resumed: Resumed | undefined) {
  if (!call.caller.announce) return;
  const now = await call.deps.engine.now();
  const token = progressToken(call.context);
  call.caller.announce({
    requestId: call.context.mcpReq.id,
    questionId: question.id,
    since: resumed?.since ?? now,
    until: later(now, windowMs),
    after: resumed?.after ?? question.hold?.after ?? "park",
    progressToken: token,
  });
}

/** Returns the outcome, or that the question is parked. */
export async function handOver(call: ToolCall, read: QuestionSnapshot): Promise<ToolResult> {
  const out = await bringOut(call, read, { isNamed: true });
  if (!out) return parkedResult(read);
  const corrected = isPending(out.question) ? [] : await bringCorrections(call, out);
  return resultOf(out, delimiterFrom(randomBytes(DELIMITER_BYTES)), corrected);
}

/** Corrections of earlier answers go along with the next outcome. */
async function bringCorrections(call: ToolCall, out: QuestionSnapshot) {
  const corrected = await readOwedCorrections(call.deps.engine, out);
  const brought = await Promise.all(corrected.map((read) => bringOut(call, read, { isNamed: true })));
  return brought.filter((read) => read !== undefined);
}

/**
 * Commits an outcome as on its way before it is written, and as given once it is out. Undefined if the call has ended:
 * a server that stops may still write its reply, but nobody would record that the outcome was given with it.
 */
export async function bringOut(
  call: ToolCall,
  read: QuestionSnapshot,
  { isNamed }: { isNamed: boolean },
): Promise<QuestionSnapshot | undefined> {
  if (call.signal.aborted && !isPending(read.question) && owesOutcome(read.question)) return undefined;
  const { engine, holders } = call.deps;
  const { read: handed, confirm } = await handOverOutcome(engine, read, {
    witness: "mcp",
    epoch: ownEpoch(call.caller),
    holder: holders.own,
  });
  // A worker that follows the agent sees in its transcript whether an answer with a name arrived. A reply without that
  // name, such as a permission, is given by the call that returns it.
  const isSeenByWorker = isNamed && handed.run.worker !== undefined && findAnswer(handed.question) !== undefined;
  if (confirm && !isSeenByWorker) {
    call.caller.afterReply(call.context.mcpReq.id, async () => {
      await confirm();
    });
  }
  return handed;
}

/** How long this call can be held if that long is wanted. */
export function windowFor({ profile, caller, context }: ToolCall, wantedMs: number): number {
  return liveWindow(
    progressToken(context) === undefined ? withoutProgress(profile) : profile,
    caller.transport,
    wantedMs,
  );
}
