import { resolve } from "node:path";
import { isAskedAgain } from "../../../core/question/ask.ts";
import { type AskInput, MOST_FILE_CHARS, parseAsk } from "../../../core/question/ask-input.ts";
import type { QuestionSnapshot } from "../../../core/changes.ts";
import { findEditedPath } from "../../../core/question/tool-use.ts";
import { findEditedText } from "../../../agents/workspace/edited-file.ts";
import {
  type HookCall,
  type HookClient,
  type HookReply,
  denyFor,
  replyTo,
  replyUnanswered,
} from "../../../core/door/hook.ts";
import { type Instant, msBetween } from "../../../core/instant.ts";
import { isHandingOver, isPending } from "../../../core/question/question.ts";
import { Refusal, type RefusalCode } from "../../../core/refusal.ts";
import { mayHold } from "../../../core/question/hold.ts";
import type { Engine } from "../../../engine/engine.ts";
import { handOverOutcome, holdQuestion } from "../../../engine/hold-question.ts";
import type { BridgeHost } from "../../../agents/bridge.ts";
import { parseDuration } from "../../../core/text/duration.ts";
import type { Context } from "../../context.ts";
import { whileWorking } from "../../terminal/pause.ts";
import { requireOneArgument } from "../../arguments.ts";
import type { Command } from "../../command.ts";
import type { Flags } from "../../flags.ts";
import { oneLine } from "../../view/sanitise.ts";
import { ensureDeliveryAfter } from "../reach/ensure-delivery.ts";
import { VERSION } from "../../version.ts";
import type { ResumableSession } from "./hook-launch.ts";
import { type HookPlace, findHookPlace, findSeen, placeAsk } from "./hook-place.ts";

/** Failures to ask at all; the agent must not read them as an answer. */
const FAILURES: ReadonlySet<RefusalCode> = new Set<RefusalCode>([
  "store_unusable",
  "store_unreachable",
  "newer_schema",
  "sign_in",
  "not_found",
  "moved",
]);

/** A call that is held up, and what is needed to decide it. */
interface HookedCall {
  engine: Engine;
  client: HookClient;
  call: HookCall;
  context: Context;
  windowMs: number;
  /** How long after the window the program can still be kept waiting for an answer in its undo window. */
  settleMs?: number;
  /** When the agent made the call, where it had to wait for others of the same agent. */
  calledAt?: Instant;
}

/** The reply, and the commit that follows it. */
interface HookDecision {
  reply: HookReply;
  /** The outcome that the reply hands over. */
  handed?: QuestionSnapshot;
  afterwards?: (() => Promise<unknown>) | undefined;
}

const flags = {
  hold: { type: "string", value: "duration", about: "How long a question waits with the agent alive (3m)" },
  plan: { type: "string", value: "file", about: "What to start, as the worker wrote it" },
} as const satisfies Flags;

/** Asks, waits as long as the program lets its hook wait, and says what becomes of the call. */
export async function decideCall(hooked: HookedCall): Promise<HookDecision> {
  try {
    const place = await findHookPlace(hooked.engine, hooked.client, hooked.call.session, hooked.context);
    const { asked, isResumable } = await ask(hooked, place);
    if (isPending(asked.question)) await ensureDeliveryAfter(asked.question, hooked.context);
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

interface HookQuestion {
  asked: QuestionSnapshot;
  /** The agent can be parked: somebody starts it again with the answer. */
  isResumable: boolean;
}

/** Before anything is asked it is known whether the session can be resumed, so that nobody is promised more. */
async function ask(hooked: HookedCall, place: HookPlace): Promise<HookQuestion> {
  if (place.isOurs) return { asked: await askOnce(hooked, place, undefined), isResumable: true };
  // Loaded when needed: the agents of our own runs ask much more often.
  const { dropUnused, keepForResume } = await import("./hook-launch.ts");
  const resumable = await keepForResume(hooked, place);
  let asked: QuestionSnapshot | undefined;
  try {
    asked = await askOnce(hooked, place, resumable);
    return { asked, isResumable: resumable !== undefined };
  } finally {
    if (resumable) await dropUnused(resumable, asked?.run.id, hooked.context);
  }
}

async function askOnce(hooked: HookedCall, place: HookPlace, resumable: ResumableSession | undefined) {
  const { engine, call, context, windowMs, client } = hooked;
  const door = {
    via: "hook",
    isForeign: true,
    traceparent: context.env["TRACEPARENT"],
    ...call.door,
    holdMs: windowMs,
    ...((call.isSubagent || call.is === "form") && { afterHold: "keep" as const }),
  };
  const parsed = parseAsk(await withFile(call, context), door, context.rules, await engine.now());
  const input: AskInput = {
    ...parsed,
    holdMs: Math.min(parsed.holdMs ?? windowMs, windowMs),
    key: call.key ?? parsed.key,
  };
  const open = await readOpen(engine, place);
  const same = open.find(({ question }) => isAskedAgain(question, input));
  if (same) return waitAgain(hooked, place, input, same);
  await withdrawLeft(hooked, place, open);
  const { calledAt } = hooked;
  const options = await placeAsk(place, call, client, context, resumable);
  return engine.ask(input, place.by, { ...options, calledAt });
}

/** The ask with the file that the call edits, as it is now, so that people see line numbers and what is replaced. */
async function withFile({ ask: asked, is, input, dir }: HookCall, { cwd }: Context): Promise<Record<string, unknown>> {
  const path = is === "approval" ? findEditedPath(input) : undefined;
  const { tool } = asked;
  if (path === undefined || typeof tool !== "object") return asked;
  const file = await findEditedText(resolve(dir ?? cwd, path), MOST_FILE_CHARS);
  return { ...asked, tool: { ...tool, file } };
}

/** Another call for a question that is there: nobody held it any more, or what held it is looked after by its own time. */
async function waitAgain(hooked: HookedCall, place: HookPlace, input: AskInput, same: QuestionSnapshot) {
  const { question, run } = same;
  if (!isPending(question) || !mayHold(run)) return same;
  const seen = findSeen(place, hooked.context);
  return hooked.engine.hold(question.id, { windowMs: input.holdMs ?? 0, after: input.afterHold, seen });
}

/** A person at the agent has dealt with its earlier question: otherwise the agent would not ask the next one. */
async function withdrawLeft({ engine }: HookedCall, { seat, by }: HookPlace, open: readonly QuestionSnapshot[]) {
  const left = open.find(({ question }) => isPending(question) && question.hold === undefined);
  if (seat.isAttended && left) await engine.cancel(left.question.id, { reason: "dealt with at the agent" }, by);
}

/** No server may be running: what falls due meanwhile is done here. */
async function holdWithWork({ engine, context, windowMs, settleMs }: HookedCall, asked: QuestionSnapshot) {
  const signal = context.interrupt();
  // A hook before this one may have begun to wait and died: what it promised ends when it said.
  const until = isPending(asked.question) ? asked.question.hold?.until : undefined;
  const leftMs = until === undefined ? windowMs : Math.max(0, msBetween(await engine.now(), until));
  const held = { windowMs: Math.min(windowMs, leftMs), signal, settleMs };
  return whileWorking(engine, () => holdQuestion(engine, asked, held));
}

/** The question of a session that nobody can resume: its agent gets the answer when it asks again. */
function askingAgain(read: QuestionSnapshot): QuestionSnapshot {
  return { ...read, run: { ...read.run, giveBack: "poll" } };
}

async function leaveOpen(
  { engine, call, client }: HookedCall,
  { seat, by }: HookPlace,
  read: QuestionSnapshot,
): Promise<HookDecision> {
  // Nobody can take the answer to a form later on.
  if (call.is === "form") await engine.cancel(read.question.id, { reason: "nobody waits for it any more" }, by);
  return { reply: replyUnanswered(call, read, { park: client.mayPark, isAttended: seat.isAttended }) };
}

/** For agents that askd started, the worker sees whether the outcome arrived. */
async function handOver({ engine, call }: HookedCall, place: HookPlace, read: QuestionSnapshot): Promise<HookDecision> {
  const handed = await handOverOutcome(engine, read, { witness: "hook", epoch: place.epoch });
  const reply = replyTo(call, handed.read);
  if (!handed.confirm) return { reply };
  return { reply, handed: handed.read, afterwards: place.isOurs ? undefined : handed.confirm };
}

/**
 * The call is over: what was handed to it has arrived, and what it still asks somebody dealt with there. An answer that was
 * not handed to it came too late: the agent has the one that was typed there.
 */
export async function endCall(hooked: Omit<HookedCall, "call" | "windowMs">, ended: { session: string; key: string }) {
  const { engine, client, context } = hooked;
  const place = await findHookPlace(engine, client, ended.session, context);
  const found = (await readOpen(engine, place)).find(({ question }) => question.key === `=${ended.key}`);
  if (!found) return;
  const { id } = found.question;
  if (isPending(found.question)) await engine.cancel(id, { reason: "dealt with at the agent" }, place.by);
  else if (isHandingOver(found.question, found.run.epoch)) await engine.given(id, "hook", place.epoch);
}

function readOpen(engine: Engine, { run }: HookPlace) {
  const ids = run ? [...(run.pendingId ? [run.pendingId] : []), ...run.owes] : [];
  return Promise.all(ids.map((id) => engine.read(id)));
}

export const command: Command<typeof flags> = {
  usage: "bridge <agent> --plan <file> [--hold 3m]",
  flags,
  async run(args, context) {
    const name = requireOneArgument(args.positionals, command.usage);
    const definition = (await context.agents()).find(({ agent }) => agent.name === name);
    if (!definition?.bridge) throw new Refusal("bad_input", `There is no bridge to "${oneLine(name)}"`);
    if (args.flags.plan === undefined) throw new Refusal("bad_input", "A bridge needs --plan <file>");
    const windowMs = args.flags.hold === undefined ? context.rules.liveWindowMs : parseDuration(args.flags.hold);
    const { bridge } = await definition.bridge();
    return bridge(await context.readFile(args.flags.plan), hostFor(context, windowMs));
  },
};

/** This process, as far as a bridge may touch it. */
function hostFor(context: Context, windowMs: number): BridgeHost {
  return {
    cwd: context.cwd,
    env: context.env,
    version: VERSION,
    stdout: context.stdout,
    readPrompt: (limitBytes) => context.stdin.readAll(limitBytes),
    now: () => context.now(),
    interrupt: () => context.interrupt(),
    decide: async ({ client, call, calledAt, signal }) => {
      const engine = await context.engine();
      const inTurn = { ...context, interrupt: () => signal };
      return decideCall({ engine, client, call, context: inTurn, windowMs, calledAt });
    },
    given: async (id) => void (await (await context.engine()).given(id, "reply")),
    complain: (message) => {
      const line = oneLine(message);
      context.stderr.write(`askd: ${line}\n`);
      return line;
    },
  };
}
