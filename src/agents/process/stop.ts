import { setTimeout as sleep } from "node:timers/promises";
import { findAgent } from "./process.ts";
import { isAlive, type Identity } from "./process-identity.ts";
import { hasMembers, listOwnPids, seeProcesses, type RunProcess } from "./process-list.ts";
import { isCode } from "../../core/error-code.ts";
import { listEpochs } from "../runner/run-files.ts";

/** How long an agent may take to end by itself when it is told to. */
export const GRACE_MS = 10_000;
/** How long we go on killing what does not go away. */
const KILL_MS = 10_000;
const LOOK_MS = 20;
const LONGEST_LOOK_MS = 250;
/** A process that is just becoming another program shows no environment for a moment; twice in a row it does. */
const CLEAN_LOOKS = 2;

export interface StopInput {
  runId: string;
  runDir: string;
  /** The last epoch to be stopped; later ones go on. */
  lastEpoch: number;
  graceMs?: number;
  killMs?: number;
}

export interface Stopped {
  /** Whether anything was there to stop. */
  found: boolean;
  /** What could not be killed. */
  left: RunProcess[];
}

/** Ends the agents of a run up to an epoch, and every process that carries the run, wherever it has moved to. */
export async function stopRun(input: StopInput): Promise<Stopped> {
  const { graceMs = GRACE_MS, killMs = KILL_MS } = input;
  const own = listOwnPids();
  const leaders = await listLeaders(input, own);
  if (leaders.length === 0 && !(await hasOurs(input, own))) return { found: false, left: [] };
  for (const leader of leaders) if (await isAlive(leader)) signal(-leader.pid, "SIGTERM");
  const alive = await waitUntilGone(
    leaders.map((leader) => leader.pid),
    graceMs,
  );
  // The number of a group is not given to another while the group has members, so this meets nobody else.
  for (const group of alive) signal(-group, "SIGKILL");
  return { found: true, left: await killAll(input, own, killMs) };
}

/** The wrappers that are alive; each leads the group of its agent. */
async function listLeaders({ runDir, lastEpoch }: StopInput, own: ReadonlySet<number>): Promise<Identity[]> {
  const leaders: Identity[] = [];
  for (const epoch of await listEpochs(runDir, "pid")) {
    if (epoch > lastEpoch) continue;
    const found = await findAgent(runDir, epoch);
    if (found.state === "alive" && !own.has(found.identity.pid)) leaders.push(found.identity);
  }
  return leaders;
}

/** What carries the run and one of these epochs; a process without epoch is a person's. */
async function* seeOurs({ runId, lastEpoch }: StopInput, own: ReadonlySet<number>): AsyncGenerator<RunProcess> {
  for await (const each of seeProcesses(runId)) {
    if (each.epoch !== undefined && each.epoch <= lastEpoch && !own.has(each.pid)) yield each;
  }
}

async function hasOurs(input: StopInput, own: ReadonlySet<number>): Promise<boolean> {
  for await (const _ of seeOurs(input, own)) return true;
  return false;
}

/** The groups that still have members after the time that they were given. */
async function waitUntilGone(groups: readonly number[], graceMs: number): Promise<number[]> {
  const until = performance.now() + graceMs;
  let alive = [...groups];
  for (let delayMs = LOOK_MS; ; delayMs = Math.min(delayMs * 1.5, LONGEST_LOOK_MS)) {
    const looked = await Promise.all(alive.map(async (group) => signal(-group, 0) && (await hasMembers(group))));
    alive = alive.filter((_, index) => looked[index]);
    const restMs = until - performance.now();
    if (alive.length === 0 || restMs <= 0) return alive;
    await sleep(Math.min(delayMs, restMs));
  }
}

/** Kills what it sees until nothing is left, and says what does not go away. */
async function killAll(input: StopInput, own: ReadonlySet<number>, killMs: number): Promise<RunProcess[]> {
  const until = performance.now() + killMs;
  for (let cleanLooks = 0; ;) {
    const seen: RunProcess[] = [];
    for await (const each of seeOurs(input, own)) {
      signal(each.pid, "SIGKILL"); // at once: in a moment it may have started another and be gone
      seen.push(each);
    }
    cleanLooks = seen.length === 0 ? cleanLooks + 1 : 0;
    if (cleanLooks === CLEAN_LOOKS || (seen.length > 0 && performance.now() > until)) return seen;
    if (seen.length > 0) await sleep(LOOK_MS);
  }
}

/** Sends a signal; says false when nobody is there any more. */
function signal(pid: number, name: NodeJS.Signals | 0): boolean {
  try {
    process.kill(pid, name);
    return true;
  } catch (error) {
    if (isCode(error, "ESRCH")) return false;
    if (isCode(error, "EPERM")) return true; // there, but not ours to signal
    throw error;
  }
}
