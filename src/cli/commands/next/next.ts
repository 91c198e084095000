import { parseDuration } from "../../../core/text/duration.ts";
import { Refusal } from "../../../core/refusal.ts";
import { EXIT_CODE } from "../../../core/exit-code.ts";
import type { Engine } from "../../../engine/engine.ts";
import { whoTypes } from "../../actor.ts";
import { wrongUsage } from "../../arguments.ts";
import type { Command } from "../../command.ts";
import type { Context } from "../../context.ts";
import type { Flags, Values } from "../../flags.ts";
import { replaceLostWorker } from "../../lost-worker.ts";
import { FILTER_FLAGS, readQuestionFilter } from "../inspect/question-filter.ts";

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
  if (isFlat(context)) return (await import("./plain-loop.ts")).runPlainLoop(start);
  const { NextLoop } = await import("./next-loop.ts");
  const { isInterrupted, skipped, waiting } = await new NextLoop(start, await context.openTerminal()).run();
  if (!context.isQuiet) context.stdout.write(sayLeft({ skipped, waiting }, context.program));
  return isInterrupted ? EXIT_CODE.interrupted : 0;
}

/** Says whether to use plain lines and prompts. */
function isFlat({ isAccessible, env }: Context) {
  return isAccessible || env["TERM"] === "dumb";
}

/** The line at the end: how many questions are still waiting. */
export function sayLeft({ skipped, waiting }: { skipped: number; waiting: number }, program: string): string {
  const left = skipped + waiting;
  if (left === 0) return "Nothing is waiting for you.\n";
  return `${left} ${left === 1 ? "question is" : "questions are"} waiting for you. Continue with: ${program} next\n`;
}

function requireTerminal(context: Context) {
  if (context.mayPrompt && context.stdin.isTty && context.stdout.isTty) return;
  throw new Refusal("bad_input", `${context.program} next needs a terminal`, {
    hint: `List waiting questions: ${context.program} list --awaiting; answer one: ${context.program} answer <id> "…"`,
  });
}
