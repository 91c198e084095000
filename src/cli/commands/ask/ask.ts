import { type AskInput, type DoorDefaults, parseAsk } from "../../../core/question/ask-input.ts";
import type { QuestionSnapshot } from "../../../core/changes.ts";
import { parseDuration, formatDuration } from "../../../core/text/duration.ts";
import { shortId } from "../../../core/id.ts";
import { cancelledMessage, proceedSentence } from "../../../core/run/agent-message.ts";
import { DAY_MS, msBetween, SECOND_MS } from "../../../core/instant.ts";
import { type Question, findAnswer, isPending } from "../../../core/question/question.ts";
import { Refusal } from "../../../core/refusal.ts";
import { describePolicy } from "../../../core/question/timeout.ts";
import { CHECK_FIELDS, valuesOf, viewCheck } from "../../../core/api/view.ts";
import { EXIT_CODE } from "../../../core/exit-code.ts";
import type { Engine } from "../../../engine/engine.ts";
import { handOverOutcome, holdQuestion } from "../../../engine/hold-question.ts";
import { whoAsks } from "../../actor.ts";
import { optionalArgument, wrongUsage } from "../../arguments.ts";
import type { Command } from "../../command.ts";
import type { Context } from "../../context.ts";
import type { Values } from "../../flags.ts";
import { readFileArg } from "../../terminal/read-file-arg.ts";
import { printResult } from "../../output.ts";
import { oneLine } from "../../view/sanitise.ts";
import { sayBy } from "../../view/run-text.ts";
import { quoted } from "../../view/run-text.ts";
import { whileWorking } from "../../terminal/pause.ts";
import { bellFor, windowTitle } from "../../terminal/bell.ts";
import { sayAge } from "../../view/relative-time.ts";
import { showMessages } from "../reach/dry-run.ts";
import { ensureDelivery } from "../reach/ensure-delivery.ts";
import { warnUnpaired } from "../reach/pairing-warning.ts";
import { isServiceOff } from "../service/worker.ts";
import { requireKnown } from "../question/known-people.ts";
import { sayAnswer, sayAnsweredBy } from "../inspect/show-view.ts";
import { ASK_FLAGS, askOptions, rawAsk, requireAlone } from "./ask-flags.ts";
import { exitCodeOf } from "./check.ts";
import { bringCorrections, sayCorrections, viewCorrections } from "./earlier-correction.ts";

const LONGEST_WAIT_MS = 365 * DAY_MS;
const INPUT_BYTES = 1024 * 1024;
// A script cannot explain what it meant.
const DOOR: DoorDefaults = { via: "cli", accepts: ["answer", "decide"] };

const LINE_START = "\r\x1b[K";

export const command: Command<typeof ASK_FLAGS> = {
  usage: 'ask "<question>" [-o value:label …] [--wait [10m]]',
  flags: ASK_FLAGS,
  fields: ["id", ...CHECK_FIELDS, "corrections"],
  examples: [
    'askd ask "Deploy now?" -o yes -o no --wait',
    'askd ask --kind approval "Deploy to production?" --wait && ./deploy.sh',
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
  // Without a worker in the background the command that waits brings the messages itself.
  const isDelivering = signal !== undefined && isServiceOff(context.env);
  const engine = await context.engine({ isDelivering, ...(signal && { waits: { until: signal, isAtOnce: true } }) });
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
  await requireKnown(namesIn(parsed), engine, context);
  const options = await askOptions(engine, flags, context);
  if (flags["dry-run"]) return showMessages(parsed, { via: flags.via, options, engine }, context);
  if (flags.via !== undefined) throw wrongUsage("--via goes with --dry-run", command.usage);
  const done = await engine.ask(input, whoAsks(context), options);
  if (!isDelivering) await ensureDelivery(done.question, context);
  await warnUnpaired(engine, context, done.question);
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

/** The people and groups that the question names. */
function namesIn({ to, approvals, onTimeout }: AskInput) {
  return [...to, ...approvals.from, ...(onTimeout.steps ?? []).flatMap((step) => step.to)];
}

/** A script that is told to choose takes what it recommends; without that it could not choose. */
function takesDecide({ items }: AskInput) {
  return items.every(({ options }) => options.some(({ recommended }) => recommended));
}

/** Says whether the asker named itself what it can take. */
function isAcceptGiven(raw: unknown) {
  return raw !== null && typeof raw === "object" && "accepts" in raw && raw.accepts !== undefined;
}

/** An answer for the deadline that no policy would ever give is a mistake. */
function requireDefaultUsed({ default: given }: Values<typeof ASK_FLAGS>, { onTimeout }: AskInput) {
  if (given === undefined || onTimeout.do === "default" || onTimeout.do === "escalate") return;
  throw new Refusal(
    "bad_input",
    `--default would never be used: unanswered, this question ${describePolicy({ onTimeout, escalated: 0 })}`,
    {
      hint: "Add: --on-timeout default",
    },
  );
}

/** Where people can look at it, if a server of this place is there; that it cannot be told is no reason not to ask. */
async function findPage(id: string, context: Context) {
  const server = context.isQuiet ? undefined : await context.findServer().catch(() => undefined);
  return server && `${server}/q/${id.slice(2)}`;
}

async function readAsk(positionals: readonly string[], flags: Values<typeof ASK_FLAGS>, context: Context) {
  const text = optionalArgument(positionals, command.usage);
  if (flags.input === undefined) {
    if (text === undefined || text.trim() === "") throw wrongUsage("There is no question", command.usage);
    return rawAsk(text === "-" ? await context.stdin.readAll(INPUT_BYTES) : text, flags);
  }
  requireAlone(text, flags);
  const json = flags.input === "-" ? await context.stdin.readAll(INPUT_BYTES) : await readFileArg(flags.input, context);
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
function readWait(text: string, timeoutMs: number | undefined) {
  return text === "" ? Math.min(timeoutMs ?? LONGEST_WAIT_MS, LONGEST_WAIT_MS) : parseDuration(text);
}

/** Holds the question, doing what falls due meanwhile, and prints the outcome. */
async function hold(
  asked: QuestionSnapshot,
  { holdMs, signal }: { holdMs: number; signal: AbortSignal },
  engine: Engine,
  context: Context,
) {
  const endWaiting = sayWaiting(asked.question, holdMs, context);
  const held = whileWorking(engine, () => holdQuestion(engine, asked, { windowMs: holdMs, signal }));
  const read = await held.finally(endWaiting);
  if (!isPending(read.question)) return printOutcome(read, engine, context);
  say(context, `not answered yet; look again with: ${context.program} check ${shortId(asked.question.id)}`);
  return signal.aborted ? EXIT_CODE.interrupted : EXIT_CODE.pending;
}

/** Prints the outcome; once it is printed, it counts as given. */
async function printOutcome(outcome: QuestionSnapshot, engine: Engine, context: Context) {
  const { read, confirm } = await handOverOutcome(engine, outcome, { witness: "stdout" });
  const corrections = await bringCorrections(read, "stdout", engine, context);
  const { question, content } = read;
  const answer = findAnswer(question);
  const values = answer ? valuesOf(answer, content) : [];
  printResult(context, command.fields ?? [], {
    page: () => values.map((value) => `${value}\n`).join(""),
    json: () => ({ id: question.id, ...viewCheck(read), ...viewCorrections(corrections) }),
  });
  if (!answer && question.status === "timeout" && question.policy === "proceed") {
    say(context, proceedSentence(msBetween(question.askedAt, question.timedOutAt)));
  }
  if (question.status === "cancelled") sayWithdrawal(question, context);
  const isNothing = answer !== undefined && values.length === 0;
  // Scripts take what was chosen from the output; the words beside it must not be lost on them either.
  if (answer?.note !== undefined && !isNothing) {
    context.stderr.write(`note by ${sayAnsweredBy(answer)}: ${oneLine(answer.note)}\n`);
  }
  for (const { text, by } of question.amendments)
    context.stderr.write(`correction by ${sayBy(by)}: ${oneLine(text)}\n`);
  for (const line of sayCorrections(corrections)) context.stderr.write(line);
  await corrections.confirm();
  await confirm?.();
  if (isNothing) {
    const line = `nothing was chosen: ${sayAnswer(answer, content, context.now())}`;
    if (answer.note === undefined) say(context, line);
    else context.stderr.write(`${line}\n`);
  }
  return exitCodeOf(read);
}

/** Words of a person are written also where nothing else is: they are for whoever waits. */
function sayWithdrawal(question: Extract<Question, { status: "cancelled" }>, context: Context) {
  const { cancelledBy, note, reason, policy } = question;
  const line = `withdrawn by ${sayBy(cancelledBy)}; no answer will come`;
  if (note !== undefined) context.stderr.write(`${line}. Note, which is not an answer: ${oneLine(note)}\n`);
  else say(context, policy ? cancelledMessage(question) : `${line} (${oneLine(reason)})`);
}

function say(context: Context, line: string) {
  if (!context.isQuiet) context.stderr.write(`${line}\n`);
}

/** Prints that the command waits for a person: on a terminal with a bell and a counter, else once. Returns a function that ends it. */
function sayWaiting({ title }: Question, holdMs: number, context: Context) {
  const { stderr, isQuiet, isAccessible, env } = context;
  if (isQuiet) return () => undefined;
  const isLive = stderr.isTty && env["TERM"] !== "dumb" && !isAccessible;
  stderr.write(bellFor(context, title));
  if (!isLive) {
    stderr.write(`waiting for a person, at most ${formatDuration(holdMs)}\n`);
    return () => undefined;
  }
  const ended = new AbortController();
  const window = windowTitle(context);
  stderr.write(window.show);
  void count(ended.signal, context);
  return () => {
    ended.abort();
    stderr.write(`\n${window.restore}`);
  };
}

/** Updates the counter until aborted. */
async function count(signal: AbortSignal, { stderr, now, pause }: Context) {
  const start = now();
  while (!signal.aborted) {
    stderr.write(`${LINE_START}waiting for a person, ${sayAge(msBetween(start, now()))}`);
    await pause(SECOND_MS);
  }
}
