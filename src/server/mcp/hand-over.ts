import { randomBytes } from "node:crypto";
import type { Read } from "../../core/changes.ts";
import { DELIMITER_BYTES, delimiterFrom } from "../../core/text/foreign-text.ts";
import { liveWindow, withoutProgress } from "../../core/door/client-profile.ts";
import { isOnlyCorrected } from "../../core/run/handover.ts";
import { later, msBetween } from "../../core/instant.ts";
import { type Pending, findAnswer, isHanding, isPending, owes } from "../../core/question/question.ts";
import { ownEpoch } from "./asker.ts";
import { type ToolCall, type ToolResult, progressToken } from "./caller.ts";
import { hold } from "./hold.ts";
import { type Begun, beginHold } from "./rejoin.ts";
import { parkedResult, resultOf } from "./result.ts";
import type { HeldStream } from "./stream-id.ts";

/** A call that is gone on with: since when it waits, and what comes after. */
export type Resumed = Pick<HeldStream, "since" | "after">;

/** Waits for the outcome of a question that is there, and gives it to the agent. */
export async function holdFor(call: ToolCall, begun: Begun, windowMs: number, resumed?: Resumed): Promise<ToolResult> {
  if (windowMs > 0 && isPending(begun.read.question)) await announce(call, begun.read.question, windowMs, resumed);
  return handOver(call, await waitFor(call, begun, windowMs, resumed));
}

/** Waits for the outcome of a question, or for the end of the window. */
export async function waitFor(call: ToolCall, begun: Begun, windowMs: number, resumed?: Resumed): Promise<Read> {
  if (windowMs <= 0) return begun.read;
  const { read, isHeld } = begun.isHeld ? begun : await beginHold(call, begun.read, windowMs, resumed?.after);
  const { engine } = call.deps;
  const { context, signal } = call;
  const token = progressToken(context);
  if (token === undefined) return hold(read, { engine, windowMs, signal, isHeld });
  const now = await engine.now();
  const since = resumed?.since ?? now;
  const totalMs = msBetween(since, later(now, windowMs));
  const onProgress = async (waitedMs: number, message: string): Promise<void> => {
    const params = { progressToken: token, progress: waitedMs / 1000, total: totalMs / 1000, message };
    // A client that has left shows by its signal; that it cannot be told so is no news.
    await context.mcpReq.notify({ method: "notifications/progress", params }).catch(() => undefined);
  };
  return hold(read, { engine, windowMs, signal, isHeld, since, onProgress });
}

/** Tells a client that can come back for the reply how it names this call then. */
async function announce(call: ToolCall, question: Pending, windowMs: number, resumed: Resumed | undefined) {
  if (!call.caller.announce) return;
  const now = await call.deps.engine.now();
  const token = progressToken(call.context);
  call.caller.announce({
    ...{ requestId: call.context.mcpReq.id, questionId: question.id },
    ...{ since: resumed?.since ?? now, until: later(now, windowMs) },
    after: resumed?.after ?? question.hold?.after ?? "park",
    ...(token !== undefined && { progressToken: token }),
  });
}

/** Returns what there is. */
export async function handOver(call: ToolCall, read: Read): Promise<ToolResult> {
  const out = await bringOut(call, read, { isNamed: true });
  if (!out) return parkedResult(read);
  const corrected = isPending(out.question) ? [] : await bringCorrections(call, out);
  return resultOf(out, delimiterFrom(randomBytes(DELIMITER_BYTES)), corrected);
}

/** Corrections of earlier answers go along with the next outcome. */
async function bringCorrections(call: ToolCall, { run, question }: Read): Promise<Read[]> {
  const others = run.owes.filter((id) => id !== question.id);
  const owed = await Promise.all(others.map((id) => call.deps.engine.read(id)));
  const corrected = owed.filter((read) => isOnlyCorrected(read.question));
  const brought = await Promise.all(corrected.map((read) => bringOut(call, read, { isNamed: true })));
  return brought.filter((read) => read !== undefined);
}

/**
 * Commits an outcome as on its way before it is written, and as given once it is out. Undefined if the call has ended:
 * a server that stops may still write its reply, but nobody would record that the outcome was given with it.
 */
export async function bringOut(
  call: ToolCall,
  read: Read,
  { isNamed }: { isNamed: boolean },
): Promise<Read | undefined> {
  const { engine } = call.deps;
  const { id } = read.question;
  if (isPending(read.question) || !owes(read.question)) return read;
  if (call.signal.aborted) return undefined;
  const isUnderWay = isHanding(read.question, read.run.epoch, "call");
  const handed = isUnderWay ? read : await engine.handOver(id, ownEpoch(call.caller), call.deps.holders.own);
  // Whoever follows the agent sees in its record whether an answer arrived that is named in what is written out. A reply
  // without that name, a permission for one, is given by the call that returns it.
  if (isNamed && handed.run.worker !== undefined && findAnswer(handed.question)) return handed;
  call.caller.afterReply(call.context.mcpReq.id, async () => {
    await engine.given(id, "mcp", handed.run.epoch);
  });
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
