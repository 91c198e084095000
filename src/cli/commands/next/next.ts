import { parseDuration } from "../../../core/text/duration.ts";
import { pluralize } from "../../../core/text/plural.ts";
import { Refusal } from "../../../core/refusal.ts";
import { EXIT_CODE } from "../../../core/exit-code.ts";
import type { Engine } from "../../../engine/engine.ts";
import { whoTypes } from "../../actor.ts";
import { wrongUsage } from "../../arguments.ts";
import type { Command } from "../../command.ts";
import type { Context } from "../../context.ts";
import type { Flags, Values } from "../../flags.ts";
import { reportPresence } from "../../presence.ts";
import { replaceLostWorker } from "../../lost-worker.ts";
import { FILTER_FLAGS, readQuestionFilter } from "../inspect/question-filter.ts";
import type { LoopStart } from "./next-loop.ts";
import { QuestionQueue } from "./question-queue.ts";

const UNDO = "5s";

const flags = {
  ...FILTER_FLAGS,
  follow: { type: "boolean", short: "f", about: "Keep running when nothing waits, and ring for new questions" },
  "undo-window": { type: "string", value: "duration", about: `How long an answer can be undone (${UNDO})` },
} as const satisfies Flags;

export const command: Command<typeof flags> = {
  usage: "next [--follow]",
  flags,
  examples: ["askd next", "askd next --follow --repo acme/api", "ASKD_ACCESSIBLE=1 askd next"],
  async run(args, context) {
    if (args.positionals.length > 0) throw wrongUsage(`Unexpected argument "${args.positionals[0]}"`, command.usage);
    // The screen shows the last state while the server is away; plain prompts wait for it.
    if (!isFlat(context)) return offerAll(args.flags, await context.engine(), context);
    const signal = context.interrupt();
    const engine = await context.engine({ waits: { until: signal } });
    return offerAll(args.flags, engine, { ...context, interrupt: () => signal });
  },
};

/** Shows the waiting questions on the terminal one by one. */
export async function offerAll(given: Values<typeof flags>, engine: Engine, context: Context): Promise<number> {
  requireTerminal(context);
  await replaceLostWorker(engine, context);
  const start = {
    engine,
    context,
    by: await whoTypes(engine, context),
    wanted: await readQuestionFilter(given, engine, context),
    isFollowing: given.follow ?? false,
    undoMs: parseDuration(given["undo-window"] ?? UNDO),
  };
  const leave = reportPresence(engine, start.by);
  const exit = await runLoop(start).finally(leave);
  if (!context.isQuiet) context.stdout.write(await readLeft(start));
  return exit;
}

async function runLoop(start: LoopStart) {
  return isFlat(start.context) ? (await import("./plain-loop.ts")).runPlainLoop(start) : runScreen(start);
}

async function runScreen(start: LoopStart) {
  const { NextLoop } = await import("./next-loop.ts");
  const { isInterrupted } = await new NextLoop(start, await start.context.openTerminal()).run();
  return isInterrupted ? EXIT_CODE.interrupted : 0;
}

/** Says whether to use plain lines and prompts. */
function isFlat({ isAccessible, env }: Context) {
  return isAccessible || env["TERM"] === "dumb";
}

/** The line at the end: how many questions wait now. Empty if the store cannot be read any more. */
async function readLeft({ engine, wanted, by, context: { program } }: LoopStart) {
  try {
    const left = await new QuestionQueue(engine, wanted).count(by.id);
    if (left.waiting > 0) return `${sayCount(left.waiting)} waiting for you. Continue with: ${program} next\n`;
    if (left.others === 0) return "Nothing is waiting for you.\n";
    const others = `${sayCount(left.others)} snoozed or not for you`;
    return `Nothing is waiting for you now; ${others}. See: ${program} list --awaiting\n`;
  } catch (error) {
    if (error instanceof Refusal) return "";
    throw error;
  }
}

function sayCount(count: number) {
  return `${pluralize(count, "question")} ${count === 1 ? "is" : "are"}`;
}

function requireTerminal(context: Context) {
  if (context.mayPrompt && context.stdin.isTty && context.stdout.isTty) return;
  throw new Refusal("bad_input", `${context.program} next needs a terminal`, {
    hint: `List waiting questions: ${context.program} list --awaiting; answer one: ${context.program} answer <id> "…"`,
  });
}
