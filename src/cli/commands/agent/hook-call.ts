import { isAskedAgain } from "../../../core/question/ask.ts";
import { type AskInput, parseAsk } from "../../../core/question/ask-input.ts";
import type { Read } from "../../../core/changes.ts";
import {
  type HookCall,
  type HookClient,
  type HookReply,
  denyFor,
  replyTo,
  replyUnanswered,
} from "../../../core/door/hook.ts";
import { type Instant, msBetween } from "../../../core/instant.ts";
import { isHanding, isPending, owes } from "../../../core/question/question.ts";
import { Refusal, type RefusalCode } from "../../../core/refusal.ts";
import { mayHold } from "../../../core/question/take-hold.ts";
import type { Engine } from "../../../engine/engine.ts";
import { hold } from "../../../server/mcp/hold.ts";
import type { Context } from "../../context.ts";
import type { Resumable } from "./hook-launch.ts";
import { type HookPlace, findHookPlace, findSeen, placeAsk } from "./hook-place.ts";
import { whileWorking } from "../../terminal/while-working.ts";

/** What keeps the question from being asked at all; the agent must not hear of it as an answer. */
const FAILURES: ReadonlySet<RefusalCode> = new Set([
  ...(["store_unusable", "store_unreachable", "newer_schema", "sign_in", "not_found", "moved"] as const),
]);

/** A call that is held up, and what is needed to decide it. */
export interface Hooked {
  engine: Engine;
  client: HookClient;
  call: HookCall;
  context: Context;
  windowMs: number;
  /** When the agent made the call, where it had to wait for others of the same agent. */
  calledAt?: Instant;
}

/** What to say, and what to write down once it is said. */
export interface Decided {
  reply: HookReply;
  /** What the reply hands over. */
  handed?: Read;
  afterwards?: () => Promise<unknown>;
}

/** Asks, waits as long as the program lets its hook wait, and says what becomes of the call. */
export async function decideCall(hooked: Hooked): Promise<Decided> {
  try {
    const place = await findHookPlace(hooked.engine, hooked.client, hooked.call.session, hooked.context);
    const { asked, isResumable } = await ask(hooked, place);
    const isOpen = isPending(asked.question) && mayHold(asked.run);
    const read = isOpen ? await holdWithWork(hooked, asked) : asked;
    if (!isPending(read.question)) return await handOver(hooked, place, read);
    return await leaveOpen(hooked, place, isResumable ? read : askingAgain(read));
  } catch (error) {
    if (!(error instanceof Refusal) || FAILURES.has(error.code)) throw error;
    // Another start of this agent has the run; this one ends without having changed anything.
    if (error.code === "stale_epoch") return { reply: { do: "park", why: error.message } };
    return { reply: denyFor(error) };
  }
}

interface Asked {
  asked: Read;
  /** The agent can be parked: somebody starts it again with the answer. */
  isResumable: boolean;
}

/** Before anything is asked it is known whether the session can be resumed, so that nobody is promised more. */
async function ask(hooked: Hooked, place: HookPlace): Promise<Asked> {
  if (place.isOurs) return { asked: await askOnce(hooked, place, undefined), isResumable: true };
  // Loaded when needed: the agents of our own runs ask much more often.
  const { dropUnused, keepForResume } = await import("./hook-launch.ts");
  const resumable = await keepForResume(hooked, place);
  let asked: Read | undefined;
  try {
    asked = await askOnce(hooked, place, resumable);
    return { asked, isResumable: resumable !== undefined };
  } finally {
    if (resumable) await dropUnused(resumable, asked?.run.id, hooked.context);
  }
}

async function askOnce(hooked: Hooked, place: HookPlace, resumable: Resumable | undefined): Promise<Read> {
  const { engine, call, context, windowMs, client } = hooked;
  const door = {
    via: "hook",
    ...call.door,
    holdMs: windowMs,
    ...((call.isSubagent || call.is === "form") && { afterHold: "keep" as const }),
  };
  const parsed = parseAsk(call.ask, door, context.rules, await engine.now());
  const input: AskInput = {
    ...parsed,
    holdMs: Math.min(parsed.holdMs ?? windowMs, windowMs),
    ...(call.key !== undefined && { key: call.key }),
  };
  const open = await readOpen(engine, place);
  const same = open.find(({ question }) => isAskedAgain(question, input));
  if (same) return waitAgain(hooked, place, input, same);
  await withdrawLeft(hooked, place, open);
  const { calledAt } = hooked;
  const options = await placeAsk(place, call, client, context, resumable);
  return engine.ask(input, place.by, { ...options, ...(calledAt && { calledAt }) });
}

/** Another call for a question that is there: nobody held it any more, or what held it is looked after by its own time. */
async function waitAgain(hooked: Hooked, place: HookPlace, input: AskInput, same: Read): Promise<Read> {
  const { question, run } = same;
  if (!isPending(question) || !mayHold(run)) return same;
  const seen = findSeen(place, hooked.context);
  return hooked.engine.hold(question.id, { windowMs: input.holdMs ?? 0, after: input.afterHold, seen });
}

/** Who sits at the agent has dealt with what it asked before: it would not ask the next thing otherwise. */
async function withdrawLeft({ engine }: Hooked, { seat, by }: HookPlace, open: readonly Read[]): Promise<void> {
  const left = open.find(({ question }) => isPending(question) && question.hold === undefined);
  if (seat.isAttended && left) await engine.cancel(left.question.id, { reason: "dealt with at the agent" }, by);
}

/** No server may be running: what falls due meanwhile is done here. */
async function holdWithWork({ engine, context, windowMs }: Hooked, asked: Read): Promise<Read> {
  const signal = context.interrupt();
  // A hook before this one may have begun to wait and died: what it promised ends when it said.
  const until = isPending(asked.question) ? asked.question.hold?.until : undefined;
  const leftMs = until === undefined ? windowMs : Math.max(0, msBetween(await engine.now(), until));
  const held = { engine, windowMs: Math.min(windowMs, leftMs), signal, onProgress: () => Promise.resolve() };
  return whileWorking(engine, () => hold(asked, held));
}

/** The question of a session that nobody can resume: its agent gets the answer when it asks again. */
function askingAgain(read: Read): Read {
  return { ...read, run: { ...read.run, giveBack: "poll" } };
}

async function leaveOpen({ engine, call, client }: Hooked, { seat, by }: HookPlace, read: Read): Promise<Decided> {
  // Nobody can take the answer to a form later on.
  if (call.is === "form") await engine.cancel(read.question.id, { reason: "nobody waits for it any more" }, by);
  return { reply: replyUnanswered(call, read, { park: client.mayPark, isAttended: seat.isAttended }) };
}

/** The outcome is committed as on its way before it is written. Of our own agents a worker sees whether it arrived. */
async function handOver({ engine, call }: Hooked, place: HookPlace, read: Read): Promise<Decided> {
  const { id } = read.question;
  if (!owes(read.question)) return { reply: replyTo(call, read) };
  const handed = await engine.handOver(id, place.epoch);
  const reply = replyTo(call, handed);
  return place.isOurs
    ? { reply, handed }
    : { reply, handed, afterwards: () => engine.given(id, "hook", handed.run.epoch) };
}

/**
 * The call is over: what was handed to it has arrived, and what it still asks somebody dealt with there. An answer that was
 * not handed to it came too late: the agent has the one that was typed there.
 */
export async function endCall(hooked: Omit<Hooked, "call" | "windowMs">, ended: { session: string; key: string }) {
  const { engine, client, context } = hooked;
  const place = await findHookPlace(engine, client, ended.session, context);
  const found = (await readOpen(engine, place)).find(({ question }) => question.key === `=${ended.key}`);
  if (!found) return;
  const { id } = found.question;
  if (isPending(found.question)) await engine.cancel(id, { reason: "dealt with at the agent" }, place.by);
  else if (isHanding(found.question, found.run.epoch)) await engine.given(id, "hook", place.epoch);
}

function readOpen(engine: Engine, { run }: HookPlace): Promise<Read[]> {
  const ids = run ? [...(run.pendingId ? [run.pendingId] : []), ...run.owes] : [];
  return Promise.all(ids.map((id) => engine.read(id)));
}
