import { type Takeover, findSession, isLeft, sayTakeover } from "../agents/at-hand.ts";
import { findKeptLaunch, runDirOf } from "../agents/run-files.ts";
import { shortId } from "../core/id.ts";
import { Refusal } from "../core/refusal.ts";
import type { Run } from "../core/run.ts";
import { requireOne } from "./arguments.ts";
import type { Command } from "./command.ts";
import type { Context } from "./context.ts";
import type { Flags } from "./flags.ts";
import { oneLine } from "./sanitise.ts";
import { getRun } from "./target.ts";

const flags = {
  exec: { type: "boolean", about: "Start it here and now, instead of printing what to type" },
} as const satisfies Flags;

export const command: Command<typeof flags> = {
  usage: "takeover <run> [--exec]",
  flags,
  examples: ["askd takeover 42", "askd takeover 42 --exec"],
  async run(args, context) {
    const engine = await context.engine();
    const run = await getRun(engine, requireOne(args.positionals, command.usage));
    requireLeft(run, context);
    const takeover = await commandFor(run, context);
    warn(run, context);
    if (!args.flags.exec) {
      context.stdout.write(`${sayTakeover(takeover)}\n`);
      return 0;
    }
    return (await context.runChild({ argv: takeover.argv, cwd: takeover.dir, stdio: "inherit" })).exitCode;
  },
};

function requireLeft(run: Run, { program }: Context): void {
  if (isLeft(run)) return;
  throw new Refusal("not_pending", `#${run.number} is ${run.status}: its agent works, or is about to`, {
    hint: `Wait until it asks or ends (${program} logs ${run.number} -f), or end it: ${program} runs cancel ${run.number}`,
  });
}

/** With the program that it was started with, where that is known. */
export async function findSessionOf(
  run: Run,
  { host, place }: Pick<Context, "host" | "place">,
): Promise<Takeover | undefined> {
  const launch = await findKeptLaunch(runDirOf(place.stateDir, run.id));
  return findSession(run, host, launch?.program);
}

/** How its own program goes on with the session, and where. */
async function commandFor(run: Run, context: Context): Promise<Takeover> {
  const found = await findSessionOf(run, context);
  if (found) return found;
  if (run.session !== undefined && run.dir !== undefined && run.host !== context.host) {
    throw new Refusal("not_found", `The session of #${run.number} is on ${oneLine(run.host)}`, {
      hint: `Type this there: ${context.program} takeover ${run.number}`,
    });
  }
  throw new Refusal("bad_input", `#${run.number} has no session that a person could go on with`, {
    hint: `See what is known of it: ${context.program} show ${run.number}`,
  });
}

function warn(run: Run, { stderr, program }: Context): void {
  if (run.pendingId === undefined) return;
  stderr.write(
    `Note: ${shortId(run.pendingId)} still waits; an answer to it would start the agent again beside you.\n` +
      `  Withdraw it first: ${program} cancel ${run.number}\n`,
  );
}
