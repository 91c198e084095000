import { type AskInput, type Door, parseAsk } from "../../../core/question/ask-input.ts";
import type { Read } from "../../../core/changes.ts";
import { parseDuration } from "../../../core/text/duration.ts";
import { shortId } from "../../../core/id.ts";
import { proceedSentence } from "../../../core/run/agent-message.ts";
import { DAY_MS, later, msBetween } from "../../../core/instant.ts";
import { findAnswer, isHanding, owes } from "../../../core/question/question.ts";
import { Refusal } from "../../../core/refusal.ts";
import { sayPolicy } from "../../../core/question/timeout.ts";
import { CHECK_FIELDS, valuesOf, viewCheck } from "../../../core/api/view.ts";
import type { Engine } from "../../../engine/engine.ts";
import { whoAsks } from "../../actor.ts";
import { ASK_FLAGS, askOptions, rawAsk, requireAlone } from "./ask-flags.ts";
import { atMostOne, wrongUsage } from "../../arguments.ts";
import { exitCodeOf } from "./check-view.ts";
import type { Command } from "../../command.ts";
import type { Context } from "../../context.ts";
import type { Values } from "../../flags.ts";
import { readGiven } from "../../terminal/read-file-arg.ts";
import { requireKnown } from "../question/known-people.ts";
import { printResult } from "../../output.ts";
import { oneLine } from "../../view/sanitise.ts";
import { sayAnswer } from "../inspect/show-view.ts";
import { sayWaiting } from "./waiting.ts";
import { quoted } from "../../wording.ts";
import { whileWorking } from "../../terminal/while-working.ts";

const EXIT_PENDING = 8;
const EXIT_INTERRUPTED = 130;
const LONGEST_WAIT_MS = 365 * DAY_MS;
const INPUT_BYTES = 1024 * 1024;
// A script cannot explain what it meant.
const DOOR: Door = { via: "cli", accepts: ["answer", "decide"] };
const EXIT_NOTHING_CHOSEN = 10;

export const command: Command<typeof ASK_FLAGS> = {
  usage: 'ask "<question>" [-o value:label …] [--wait [10m]]',
  flags: ASK_FLAGS,
  fields: ["id", ...CHECK_FIELDS],
  examples: [
    'askd ask "Deploy now?" -o yes -o no --wait',
    'store=$(askd ask "Redis or Memcached?" -o redis:Redis -o memcached:Memcached --wait 10m)',
  ],
  run: (args, context) => ask(args.positionals, args.flags, context),
};

/** Asks; without `--wait` prints the question's id, with it holds and prints the answer. */
export async function ask(
  positionals: readonly string[],
  flags: Values<typeof ASK_FLAGS>,
  context: Context,
): Promise<number> {
  const raw = await readAsk(positionals, flags, context);
  const signal = flags.wait === undefined ? undefined : context.interrupt();
  const engine = await context.engine({ ...(signal && { waits: { until: signal } }) });
  const traceparent = context.env["TRACEPARENT"];
  const read = parseAsk(raw, { ...DOOR, traceparent }, context.rules, context.now());
  const parsed = takesDecide(read) || isAcceptGiven(raw) ? read : { ...read, accepts: ["answer" as const] };
  const holdMs = flags.wait === undefined ? undefined : readWait(flags.wait, parsed.timeoutMs);
  const input = holdMs === undefined ? parsed : { ...parsed, holdMs };
  requireDefaultUsed(flags, parsed);
  if (parsed.timeoutMs === 0)
    throw new Refusal("bad_input", "--timeout 0 leaves nobody time to answer", {
      hint: "Write it like 90s, 3m, 24h or 2d",
    });
  if (flags.to)
    await requireKnown(
      flags.to.map((name) => name.replace(/^@/, "")),
      engine,
      context,
    );
  const done = await engine.ask(input, whoAsks(context), await askOptions(engine, flags, context));
  const id = shortId(done.question.id);
  say(context, `asked ${id}  ${(await findPage(id, context)) ?? `#${done.run.number} ${oneLine(done.run.name)}`}`);
  if (holdMs !== undefined && signal) return hold(done, { holdMs, signal }, engine, context);
  say(context, `Answer with: ${context.program} answer ${id} ${quoted("…")}`);
  printResult(context, command.fields ?? [], {
    page: () => `${done.question.id}\n`,
    json: () => ({ id: done.question.id, ...viewCheck(done) }),
  });
  return 0;
}

/** A script that is told to choose takes what it recommends; without that it could not choose. */
function takesDecide({ items }: AskInput): boolean {
  return items.every(({ options }) => options.some(({ recommended }) => recommended));
}

/** Says whether the asker named itself what it can take. */
function isAcceptGiven(raw: unknown): boolean {
  return raw !== null && typeof raw === "object" && "accepts" in raw && raw.accepts !== undefined;
}

/** An answer for the deadline that no policy would ever give is a mistake. */
function requireDefaultUsed({ default: given }: Values<typeof ASK_FLAGS>, { onTimeout }: AskInput): void {
  if (given === undefined || onTimeout.do === "default" || onTimeout.do === "escalate") return;
  throw new Refusal(
    "bad_input",
    `--default would never be used: unanswered, this question ${sayPolicy({ onTimeout, escalated: 0 })}`,
    {
      hint: "Add: --on-timeout default",
    },
  );
}

/** Where people can look at it, if a server of this place is there; that it cannot be told is no reason not to ask. */
async function findPage(id: string, context: Context): Promise<string | undefined> {
  const server = context.isQuiet ? undefined : await context.findServer().catch(() => undefined);
  return server && `${server}/q/${id.slice(2)}`;
}

async function readAsk(
  positionals: readonly string[],
  flags: Values<typeof ASK_FLAGS>,
  context: Context,
): Promise<unknown> {
  const text = atMostOne(positionals, command.usage);
  if (flags.input === undefined) {
    if (text === undefined || text.trim() === "") throw wrongUsage("There is no question", command.usage);
    return rawAsk(text === "-" ? await context.stdin.readAll(INPUT_BYTES) : text, flags);
  }
  requireAlone(text, flags);
  const json = flags.input === "-" ? await context.stdin.readAll(INPUT_BYTES) : await readGiven(flags.input, context);
  try {
    const raw: unknown = JSON.parse(json);
    return raw;
  } catch (cause) {
    throw new Refusal("bad_input", "The question is not valid JSON", {
      cause,
      hint: `Write it like: {"question": "Deploy now?", "options": ["yes", "no"]}`,
    });
  }
}

/** Without a duration it waits as long as there is to answer. */
function readWait(text: string, timeoutMs: number | undefined): number {
  return text === "" ? Math.min(timeoutMs ?? LONGEST_WAIT_MS, LONGEST_WAIT_MS) : parseDuration(text);
}

/** Waits for the outcome with the asker alive, doing what falls due meanwhile. */
async function hold(
  asked: Read,
  { holdMs, signal }: { holdMs: number; signal: AbortSignal },
  engine: Engine,
  context: Context,
): Promise<number> {
  const { id } = asked.question;
  const endWaiting = sayWaiting(holdMs, context);
  const until = later(await engine.now(), holdMs);
  const waited = whileWorking(engine, () => engine.wait(id, { until, signal, takes: true }));
  const read = await waited.finally(endWaiting);
  if (read.question.status !== "pending") return handOver(read, engine, context);
  const left = await engine.endHold(id, signal.aborted ? "gone" : "window");
  if (left.question.status !== "pending") return handOver(left, engine, context);
  say(context, `not answered yet; look again with: ${context.program} check ${shortId(id)}`);
  return signal.aborted ? EXIT_INTERRUPTED : EXIT_PENDING;
}

/** Commits that the outcome is on its way out, prints it, and commits that it is out. */
async function handOver(read: Read, engine: Engine, context: Context): Promise<number> {
  const { id } = read.question;
  const isOwed = owes(read.question);
  const isOnItsWay = !isOwed || isHanding(read.question, read.run.epoch);
  const { question, content, run } = isOnItsWay ? read : await engine.handOver(id);
  const answer = findAnswer(question);
  const values = answer ? valuesOf(answer, content) : [];
  printResult(context, command.fields ?? [], {
    page: () => values.map((value) => `${value}\n`).join(""),
    json: () => ({ id, ...viewCheck({ ...read, question }) }),
  });
  if (!answer && question.status === "timeout" && question.policy === "proceed") {
    say(context, proceedSentence(msBetween(question.askedAt, question.timedOutAt)));
  }
  if (isOwed) await engine.given(id, "stdout", run.epoch);
  const isNothing = answer !== undefined && values.length === 0;
  if (isNothing) say(context, `nothing was chosen: ${sayAnswer(answer, content, context.now())}`);
  return isNothing && !context.json ? EXIT_NOTHING_CHOSEN : exitCodeOf(question);
}

function say(context: Context, line: string): void {
  if (!context.isQuiet) context.stderr.write(`${line}\n`);
}
