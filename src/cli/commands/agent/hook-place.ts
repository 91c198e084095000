import type { Actor } from "../../../core/people/actor.ts";
import type { HookCall, HookClient, SessionSeat } from "../../../core/door/hook.ts";
import { Refusal } from "../../../core/refusal.ts";
import type { Run } from "../../../core/run/run.ts";
import type { AskOptions, Engine, RunInput } from "../../../engine/engine.ts";
import { findProvenRun } from "../../actor.ts";
import type { Context } from "../../context.ts";
import type { ResumableSession } from "./hook-launch.ts";
import { readOwnSecrets } from "../ask/own-secrets.ts";
import { findRepository } from "../run/repository.ts";

const RUNS_OF_A_SESSION = 10;

/** Where a hooked call belongs. */
export interface HookPlace {
  by: Actor;
  seat: SessionSeat;
  /** The run if there is one by now. */
  run: Run | undefined;
  /** Whether askd started this agent; then its worker sees for itself what reached it. */
  isOurs: boolean;
  epoch: number | undefined;
}

/** Finds the run of a session: the one that its agent was started for, else the one that it was adopted as. */
export async function findHookPlace(
  engine: Engine,
  client: HookClient,
  session: string,
  context: Context,
): Promise<HookPlace> {
  const own = await findProvenRun(engine, context);
  const seat = client.seat(context.env);
  const run = own ? await engine.findRun(own) : await findAdopted(engine, client.agent, session, await context.host());
  if (own && !run) throw new Refusal("not_found", `There is no run ${own}, which ASKD_RUN names`);
  const by: Actor = { scope: "agent", id: client.agent, channel: "hook", strength: "none" };
  return {
    by: run ? { ...by, runId: run.id } : by,
    seat,
    run,
    isOurs: own !== undefined,
    epoch: own === undefined ? undefined : readEpoch(context.env["ASKD_EPOCH"]),
  };
}

/** Where the ask goes. A session that nobody here started becomes a run, with what is known of it. */
export async function placeAsk(
  place: HookPlace,
  call: HookCall,
  client: HookClient,
  context: Context,
  resumable: ResumableSession | undefined,
): Promise<AskOptions> {
  const seen = findSeen(place, context);
  return {
    secrets: await readOwnSecrets(context, context.env),
    epoch: place.epoch,
    ...(seen && { seen }),
    ...(place.run ? { runId: place.run.id } : { run: await adopt(call, client, context, resumable) }),
    // Each start of a session may be one that can be resumed, or not.
    ...(!place.isOurs && { giveBack: resumable ? "worker" : "poll" }),
  };
}

/** The process of an agent that nobody here started, as it is now. */
export function findSeen({ seat: { pid, isAttended }, isOurs }: HookPlace, context: Context): Run["seen"] {
  const startedAt = pid === undefined ? undefined : context.startOf(pid);
  if (isOurs || pid === undefined || startedAt === undefined) return undefined;
  return { pid, startedAt, isAttended };
}

/** A session that askd can resume is given its answers like that; every other one asks us for them. */
async function adopt(
  call: HookCall,
  client: HookClient,
  context: Context,
  resumable: ResumableSession | undefined,
): Promise<RunInput> {
  const dir = call.dir ?? context.cwd;
  const found = await findRepository(dir, context.readFile);
  // The directory is the agent's word; the one in which this process runs is not.
  const around = dir === context.cwd ? found : await findRepository(context.cwd, context.readFile);
  return {
    ...(resumable && { id: resumable.runId }),
    agent: client.agent,
    host: await context.keepHost(),
    session: call.session,
    dir,
    giveBack: resumable ? "worker" : "poll",
    ...found,
    measured: found.repo === around.repo ? ["repo"] : [],
  };
}

async function findAdopted(engine: Engine, agent: string, session: string, host: string) {
  const { runs } = await engine.lookUp({ by: "session", text: session }, RUNS_OF_A_SESSION);
  return runs.find((run) => run.host === host && run.agent === agent);
}

function readEpoch(text: string | undefined) {
  if (text === undefined || text === "") return undefined;
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new Refusal("bad_input", "ASKD_EPOCH does not hold a number");
}
