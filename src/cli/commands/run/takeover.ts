import { findSessionCopy } from "../../../agents/runner/session-copy.ts";
import { findKeptLaunch, runDirOf } from "../../../agents/runner/run-files.ts";
import {
  type Takeover,
  type TakeoverContext,
  type ResumeAdvice,
  findTakeover,
  adviseResume,
  isSessionFree,
  takeoverCommand,
} from "../../../agents/runner/takeover.ts";
import { shortId } from "../../../core/id.ts";
import {
  type AwayMachine,
  findAwayMachine,
  machineName,
  needsMachine,
  runAfterResume,
} from "../../../core/run/machine.ts";
import { Refusal } from "../../../core/refusal.ts";
import { type Run, isAnswerUntaken } from "../../../core/run/run.ts";
import { requireOneArgument } from "../../arguments.ts";
import type { Command } from "../../command.ts";
import type { Context } from "../../context.ts";
import type { Flags } from "../../flags.ts";
import { machinesFor } from "../../view/machine-view.ts";
import { oneLine } from "../../view/sanitise.ts";
import { getRun } from "../../find-target.ts";

const flags = {
  exec: { type: "boolean", about: "Start it now instead of printing the command" },
} as const satisfies Flags;

export const command: Command<typeof flags> = {
  usage: "takeover <run> [--exec]",
  flags,
  isLooking: ({ flags: { exec } }) => !exec,
  examples: ["askd takeover 42", "askd takeover 42 --exec"],
  async run(args, context) {
    const engine = await context.engine();
    const run = await getRun(engine, requireOneArgument(args.positionals, command.usage));
    const resumed = runAfterResume(run);
    const away = findAwayMachine(resumed, await machinesFor(engine, [resumed], context));
    if (!away) requireLeft(run, context);
    const takeover = away ? await commandAway(run, context) : await commandFor(run, context);
    warn(run, { away, takeover }, context);
    if (!args.flags.exec) {
      context.stdout.write(`${takeoverCommand(takeover)}\n`);
      return 0;
    }
    requireClosed(run, takeover);
    return (await context.runChild({ argv: takeover.argv, cwd: takeover.dir, stdio: "inherit" })).exitCode;
  },
};

function requireLeft(run: Run, { program }: Context) {
  if (isSessionFree(run)) return;
  throw new Refusal("not_pending", `#${run.number} is ${run.status}: its agent is working or about to start`, {
    hint: `Wait until it asks or ends (${program} logs ${run.number} -f), or cancel it: ${program} runs cancel ${run.number}`,
  });
}

/** Refuses a session that is open elsewhere: two users of one session would undo each other's work. */
function requireClosed(run: Run, takeover: Takeover) {
  if (!takeover.isOpen) return;
  throw new Refusal("not_pending", `The session of #${run.number} is still open`, {
    hint: "Continue there, or close it first",
  });
}

/** This machine and directory, with the program that the run was started with, if known. */
async function placeOf(
  run: Run,
  context: Pick<Context, "agents" | "host" | "env" | "place">,
): Promise<TakeoverContext> {
  const launch = await findKeptLaunch(runDirOf(context.place.stateDir, run.id));
  return {
    agents: await context.agents(),
    host: await context.host(),
    env: { ...context.env, ...launch?.env },
    launched: launch?.program,
  };
}

/** How a person continues the session here; undefined while the agent works, or if it is impossible. */
export async function findTakeoverHere(run: Run, context: Context): Promise<Takeover | undefined> {
  return isSessionFree(run) ? findTakeover(run, await placeOf(run, context)) : undefined;
}

/** How a person here delivers an answer that no worker can; undefined for any other run. */
export async function findWayOnHere(run: Run, context: Context): Promise<ResumeAdvice | undefined> {
  return isAnswerUntaken(run) ? adviseResume(run, await placeOf(run, context), context.program) : undefined;
}

/** The command that continues the session with the agent's own program, and its directory. */
async function commandFor(run: Run, context: Context) {
  const found = await findTakeoverHere(run, context);
  if (found) return found;
  if (run.host !== (await context.host())) {
    throw new Refusal("not_found", `The session of #${run.number} is on ${oneLine(machineName(run.host))}`, {
      hint: `Run this there: ${context.program} takeover ${run.number}`,
    });
  }
  throw new Refusal("bad_input", `#${run.number} has no session that a person could continue`, {
    hint: (await findWayOnHere(run, context))?.line ?? `See the run: ${context.program} show ${run.number}`,
  });
}

/** The session of a run whose machine is away, if it was copied to this one. */
async function commandAway(run: Run, context: Context) {
  const { place, env, program } = context;
  const agents = await context.agents();
  const found = await findSessionCopy(run, { agents, stateDir: place.stateDir, env });
  const there =
    "has" in found && found.has === "session"
      ? { agents, host: run.host, env: { ...env, ...found.launch.env }, launched: found.launch.program }
      : undefined;
  const takeover = there && (await findTakeover(run, there));
  if (takeover) return takeover;
  const name = oneLine(machineName(run.host));
  throw new Refusal("not_found", `The session of #${run.number} is on ${name}, which is away`, {
    hint: `Bring ${name} back, or cancel the run: ${program} runs cancel ${run.number}`,
  });
}

function warn(
  run: Run,
  { away, takeover }: { away: AwayMachine | undefined; takeover: Takeover },
  { stderr, program }: Context,
) {
  if (takeover.isOpen) stderr.write("Note: its session is still open: continue there, or close it first.\n");
  if (away && needsMachine(run)) {
    stderr.write(
      `Note: when ${oneLine(away.name)} is back, it also starts the agent.\n` +
        `  Cancel the run first: ${program} runs cancel ${run.number}\n`,
    );
    return;
  }
  if (run.pendingId === undefined) return;
  const waits = `Note: ${shortId(run.pendingId)} is still waiting`;
  stderr.write(
    run.giveBack === "worker"
      ? `${waits}; an answer would start the agent again while you work.\n` +
          `  Withdraw it first: ${program} cancel ${run.number}\n`
      : `${waits}; the agent receives the answer when it asks again.\n`,
  );
}
