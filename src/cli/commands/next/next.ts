import { parseDuration } from "../../../core/text/duration.ts";
import { Refusal } from "../../../core/refusal.ts";
import type { Engine } from "../../../engine/engine.ts";
import { whoTypes } from "../../actor.ts";
import { wrongUsage } from "../../arguments.ts";
import type { Command } from "../../command.ts";
import type { Context } from "../../context.ts";
import type { Flags, Values } from "../../flags.ts";
import { FILTER_FLAGS, readWanted } from "../inspect/question-filter.ts";

const UNDO = "5s";
const EXIT_INTERRUPTED = 130;

const flags = {
  ...FILTER_FLAGS,
  follow: { type: "boolean", short: "f", about: "Stay when nothing waits, and ring when something does" },
  "undo-window": { type: "string", value: "duration", about: `How long an answer can be taken back (${UNDO})` },
} as const satisfies Flags;

export const command: Command<typeof flags> = {
  usage: "next [--follow]",
  flags,
  examples: ["askd next", "askd next --follow --repo acme/api", "ASKD_ACCESSIBLE=1 askd next"],
  async run(args, context) {
    if (args.positionals.length > 0) throw wrongUsage(`"${args.positionals[0]}" is too much`, command.usage);
    // A page that is drawn shows the last state while the server is away; lines wait for it.
    if (!isFlat(context)) return offerAll(args.flags, await context.engine(), context);
    const signal = context.interrupt();
    const engine = await context.engine({ waits: { until: signal } });
    return offerAll(args.flags, engine, { ...context, interrupt: () => signal });
  },
};

/** Offers what waits on the terminal, one after another. */
export async function offerAll(given: Values<typeof flags>, engine: Engine, context: Context): Promise<number> {
  requireTerminal(context);
  const start = {
    ...{ engine, context, by: await whoTypes(engine, context), wanted: await readWanted(given, engine, context) },
    isFollowing: given.follow ?? false,
    undoMs: parseDuration(given["undo-window"] ?? UNDO),
  };
  if (isFlat(context)) return (await import("./plain-loop.ts")).runFlat(start);
  const { NextLoop } = await import("./next-loop.ts");
  const { isInterrupted, skipped, waiting } = await new NextLoop(start, await context.openTerminal()).run();
  if (!context.isQuiet) context.stdout.write(sayLeft({ skipped, waiting }, context.program));
  return isInterrupted ? EXIT_INTERRUPTED : 0;
}

/** Says whether everything is told line by line. */
function isFlat({ isAccessible, env }: Context): boolean {
  return isAccessible || env["TERM"] === "dumb";
}

/** What is left when somebody leaves. */
export function sayLeft({ skipped, waiting }: { skipped: number; waiting: number }, program: string): string {
  const left = skipped + waiting;
  if (left === 0) return "Nothing is waiting for you.\n";
  return `${left} ${left === 1 ? "question waits" : "questions wait"} for you. Go on with: ${program} next\n`;
}

function requireTerminal(context: Context): void {
  if (context.mayPrompt && context.stdin.isTty && context.stdout.isTty) return;
  throw new Refusal("bad_input", `${context.program} next needs a terminal to ask you on`, {
    hint: `See what waits: ${context.program} list --awaiting; answer it: ${context.program} answer <id> "…"`,
  });
}
