import { findCarried } from "../../../agents/elsewhere.ts";
import { findKeptLaunch, runDirOf } from "../../../agents/runner/run-files.ts";
import {
  type Takeover,
  type TakeoverPlace,
  type WayOn,
  findTakeover,
  findWayOn,
  isLeft,
  sayTakeover,
} from "../../../agents/runner/takeover.ts";
import { shortId } from "../../../core/id.ts";
import { type AwayMachine, findAway, machineName, needsMachine, onceResumed } from "../../../core/run/machine.ts";
import { Refusal } from "../../../core/refusal.ts";
import { type Run, isAnswerUntaken } from "../../../core/run/run.ts";
import { requireOne } from "../../arguments.ts";
import type { Command } from "../../command.ts";
import type { Context } from "../../context.ts";
import type { Flags } from "../../flags.ts";
import { machinesFor } from "../../view/machine-view.ts";
import { oneLine } from "../../view/sanitise.ts";
import { getRun } from "../../target.ts";

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
    const resumed = onceResumed(run);
    const away = findAway(resumed, await machinesFor(engine, [resumed], context));
    if (!away) requireLeft(run, context);
    const takeover = away ? await commandAway(run, context) : await commandFor(run, context);
    warn(run, { away, takeover }, context);
    if (!args.flags.exec) {
      context.stdout.write(`${sayTakeover(takeover)}\n`);
      return 0;
    }
    requireClosed(run, takeover);
    return (await context.runChild({ argv: takeover.argv, cwd: takeover.dir, stdio: "inherit" })).exitCode;
  },
};

function requireLeft(run: Run, { program }: Context): void {
  if (isLeft(run)) return;
  throw new Refusal("not_pending", `#${run.number} is ${run.status}: its agent works, or is about to`, {
    hint: `Wait until it asks or ends (${program} logs ${run.number} -f), or end it: ${program} runs cancel ${run.number}`,
  });
}

/** Two at once in one session would undo each other's work. */
function requireClosed(run: Run, takeover: Takeover): void {
  if (!takeover.isOpen) return;
  throw new Refusal("not_pending", `The session of #${run.number} is still open`, {
    hint: "Go on there, or close it first",
  });
}

/** Where this person stands, with the program that the run was started with, where that is known. */
async function placeOf(
  run: Run,
  { host, env, place }: Pick<Context, "host" | "env" | "place">,
): Promise<TakeoverPlace> {
  const launch = await findKeptLaunch(runDirOf(place.stateDir, run.id));
  return { host: await host(), env: { ...env, ...launch?.env }, launched: launch?.program };
}

/** How a person here goes on in the session of a run; undefined while its agent works, or where it cannot be. */
export async function findTakeoverHere(run: Run, context: Context): Promise<Takeover | undefined> {
  return isLeft(run) ? findTakeover(run, await placeOf(run, context)) : undefined;
}

/** What a person here does about an answer that nobody has taken; undefined for any other run. */
export async function findWayOnHere(run: Run, context: Context): Promise<WayOn | undefined> {
  return isAnswerUntaken(run) ? findWayOn(run, await placeOf(run, context), context.program) : undefined;
}

/** How its own program goes on with the session, and where. */
async function commandFor(run: Run, context: Context): Promise<Takeover> {
  const found = await findTakeoverHere(run, context);
  if (found) return found;
  if (run.host !== (await context.host())) {
    throw new Refusal("not_found", `The session of #${run.number} is on ${oneLine(machineName(run.host))}`, {
      hint: `Type this there: ${context.program} takeover ${run.number}`,
    });
  }
  throw new Refusal("bad_input", `#${run.number} has no session that a person could go on with`, {
    hint: (await findWayOnHere(run, context))?.line ?? `See what is known of it: ${context.program} show ${run.number}`,
  });
}

/** The session of a run whose machine is away, where it was carried along. */
async function commandAway(run: Run, { place, env, program }: Context): Promise<Takeover> {
  const found = await findCarried(run, { stateDir: place.stateDir, env });
  const there =
    "has" in found && found.has === "session"
      ? { host: run.host, env: { ...env, ...found.launch.env }, launched: found.launch.program }
      : undefined;
  const takeover = there && (await findTakeover(run, there));
  if (takeover) return takeover;
  const name = oneLine(machineName(run.host));
  throw new Refusal("not_found", `The session of #${run.number} is on ${name}, which is away, and not here`, {
    hint: `Bring ${name} back, or give the run up: ${program} runs cancel ${run.number}`,
  });
}

function warn(
  run: Run,
  { away, takeover }: { away: AwayMachine | undefined; takeover: Takeover },
  { stderr, program }: Context,
): void {
  if (takeover.isOpen) stderr.write("Note: its session is still open: go on there, or close it first.\n");
  if (away && needsMachine(run)) {
    stderr.write(
      `Note: when ${oneLine(away.name)} is back, it starts the agent there as well.\n` +
        `  Give the run up first: ${program} runs cancel ${run.number}\n`,
    );
    return;
  }
  if (run.pendingId === undefined) return;
  const waits = `Note: ${shortId(run.pendingId)} still waits`;
  stderr.write(
    run.giveBack === "worker"
      ? `${waits}; an answer to it would start the agent again beside you.\n` +
          `  Withdraw it first: ${program} cancel ${run.number}\n`
      : `${waits}; the agent gets the answer when it asks the same again.\n`,
  );
}
