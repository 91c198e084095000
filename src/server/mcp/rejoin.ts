import { isSameAsk } from "../../core/question/ask.ts";
import type { AskInput } from "../../core/question/ask-input.ts";
import type { QuestionSnapshot } from "../../core/changes.ts";
import { type AfterHold, type Question, isPending, outcomeHandover } from "../../core/question/question.ts";
import { type Asker, nameAsk } from "./asker.ts";
import type { ToolCall } from "./caller.ts";

/** A question that is there, and whether this call is the one that holds it now. */
export interface BegunHold {
  read: QuestionSnapshot;
  isHeld: boolean;
}

/**
 * The question that an ask repeats: one of its session, or one that the same client asked in a connection that is gone.
 * It waits and nobody holds it, or its outcome was never given. Undefined if this is a new question.
 */
export async function rejoin(call: ToolCall, asker: Asker, input: AskInput): Promise<BegunHold | undefined> {
  for (const read of await findOpen(call, asker, input)) {
    const begun = isSameAsk(read.question, input) ? await goOnWith(call, asker, input, read) : undefined;
    if (begun) return begun;
  }
  return undefined;
}

/** Makes this call the one that holds, unless another one does that may be alive. */
export async function beginHold(
  call: ToolCall,
  read: QuestionSnapshot,
  windowMs: number,
  wanted?: AfterHold,
): Promise<BegunHold> {
  const { question, run } = read;
  if (!isPending(question)) return { read, isHeld: false };
  // The worker that follows the agent of such a run looks after its holds.
  if (run.giveBack !== "poll") return { read, isHeld: true };
  const before = await findHolder(call, question);
  if (before.isThere || !call.caller.claim(call.context.mcpReq.id, question.id)) return { read, isHeld: false };
  const { holders, engine } = call.deps;
  const after = wanted ?? question.hold?.after ?? "park";
  const { isNew, ...held } = await engine.hold(question.id, {
    windowMs,
    after,
    holder: holders.own,
    gone: before.gone,
  });
  return { read: held, isHeld: isNew };
}

async function findOpen(call: ToolCall, asker: Asker, input: AskInput): Promise<QuestionSnapshot[]> {
  const { run } = asker;
  const ids = run?.giveBack === "poll" ? [...(run.pendingId ? [run.pendingId] : []), ...run.owes] : [];
  const own = await call.deps.engine.readMany(ids);
  const others = await findAskedElsewhere(call, asker, input);
  return [...own, ...others.filter(({ question }) => !ids.includes(question.id))];
}

/** Finds what the same client asked in the same words in another session, where its sessions have no names. */
export async function findAskedElsewhere(
  call: ToolCall,
  { isNamed }: Asker,
  input: AskInput,
): Promise<QuestionSnapshot[]> {
  const found = isNamed ? [] : await call.deps.engine.findAsked(nameAsk(call, input));
  return found.filter(({ run }) => run.giveBack === "poll");
}

async function goOnWith(
  call: ToolCall,
  asker: Asker,
  input: AskInput,
  read: QuestionSnapshot,
): Promise<BegunHold | undefined> {
  const { question, run } = read;
  // In one session, where calls have no names, the same words are the same question, whoever waits for it.
  const shared = run.id === asker.run?.id && asker.key === undefined ? { read, isHeld: false } : undefined;
  const before = await findHolder(call, question);
  if (before.isThere || !call.caller.claim(call.context.mcpReq.id, question.id)) return shared;
  const session = asker.isNamed || asker.run ? undefined : asker.session;
  const { isNew, ...held } = await call.deps.engine.hold(question.id, {
    windowMs: input.holdMs ?? 0,
    after: input.afterHold,
    session,
    holder: call.deps.holders.own,
    gone: before.gone,
  });
  const isTaken = !isNew && isPending(held.question) && held.question.hold !== undefined;
  return isTaken ? shared : { read: held, isHeld: isNew };
}

/** Finds the holder of a question or of its outcome: one that may be alive, one that is gone, or none. */
async function findHolder(
  { caller, context, deps: { holders } }: ToolCall,
  question: Question,
): Promise<{ isThere: boolean; gone?: string }> {
  const holder = holderOf(question);
  if (holder === undefined) return { isThere: isPending(question) && question.hold !== undefined };
  // A question held by this process belongs to a call in progress.
  const isGone = holder === holders.own ? caller.claim(context.mcpReq.id, question.id) : await holders.isGone(holder);
  return isGone ? { isThere: false, gone: holder } : { isThere: true };
}

function holderOf(question: Question) {
  if (isPending(question)) return question.hold?.holder;
  const handover = outcomeHandover(question);
  return handover.state === "handing" ? handover.holder : undefined;
}
