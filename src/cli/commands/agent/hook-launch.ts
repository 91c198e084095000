import { randomBytes } from "node:crypto";
import { findAgent } from "../../../agents/registry.ts";
import { OWN_VARIABLES } from "../../../agents/mcp-config.ts";
import {
  type Launch,
  hasLaunch,
  makeRunDir,
  removeRunDir,
  replaceLaunch,
  runDirOf,
} from "../../../agents/runner/run-files.ts";
import { findSessionLaunch } from "../../../agents/runner/process-launch.ts";
import type { HookCall, HookClient } from "../../../core/door/hook.ts";
import { type RunId, idsFrom } from "../../../core/id.ts";
import type { Context } from "../../context.ts";
import type { HookPlace } from "./hook-place.ts";
import { launchEnv } from "../run/launch-env.ts";

/** A session that askd can resume by itself: what that takes is kept for this run. */
export interface ResumableSession {
  runId: RunId;
  /** The run is not made yet: without it, what is kept has to go again. */
  isNew: boolean;
}

/**
 * Keeps what it takes to resume a session that somebody else started, before it is promised: the program, its options
 * and its environment, which holds the key of people who have one. Undefined where askd could not resume it: somebody
 * sits there, the store is elsewhere, or the system does not show the process.
 */
export async function keepForResume(
  { client, call, windowMs, context }: { client: HookClient; call: HookCall; windowMs: number; context: Context },
  { run, seat }: HookPlace,
): Promise<ResumableSession | undefined> {
  const { store, stateDir } = context.place;
  // A form is filled in while its server waits, or never.
  if (!seat.isHeadless || store.kind === "server" || call.is === "form") return undefined;
  const resumable = { runId: run?.id ?? idsFrom(Date.now, randomBytes).run(), isNew: run === undefined };
  const launch = seat.pid === undefined ? undefined : await findLaunchOf(seat.pid, client, call, context);
  if (launch && (await isKept(stateDir, resumable, { ...launch, options: { liveWindowMs: windowMs } })))
    return resumable;
  return run && (await hasLaunch(runDirOf(stateDir, run.id))) ? resumable : undefined;
}

/** Takes away what was kept for a run that was not made in the end. */
export async function dropUnused(
  { runId, isNew }: ResumableSession,
  made: RunId | undefined,
  context: Context,
): Promise<void> {
  if (isNew && made !== runId) await removeRunDir(context.place.stateDir, runId);
}

async function findLaunchOf(
  pid: number,
  client: HookClient,
  call: HookCall,
  context: Context,
): Promise<Omit<Launch, "options"> | undefined> {
  const agent = findAgent(await context.agents(), client.agent);
  const started = await context.findStartedAs(pid);
  const launch = agent && started && (await findSessionLaunch(agent, started, call.mode));
  return launch && { ...launch, env: { ...launch.env, ...ownVariables(context), ...launchEnv(context) } };
}

/** Settings may give a hook what the agent itself does not have: where askd keeps its things. */
function ownVariables({ env }: Context) {
  return Object.fromEntries(OWN_VARIABLES.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]])));
}

async function isKept(stateDir: string, { runId, isNew }: ResumableSession, launch: Launch) {
  try {
    await replaceLaunch(await makeRunDir(stateDir, runId), launch);
    return true;
  } catch {
    if (isNew) await removeRunDir(stateDir, runId).catch(() => undefined);
    return false; // no room, or not ours to write: a person has to resume it, and is told so
  }
}
