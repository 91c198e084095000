import { setTimeout as sleep } from "node:timers/promises";
import { findAgentProcess } from "./process.ts";
import { isProcessAlive, type ProcessIdentity } from "./process-identity.ts";
import { hasGroupMembers, listOwnPids, scanRunProcesses, type RunProcess } from "./process-list.ts";
import { hasErrorCode } from "../../core/error-code.ts";
import { listEpochs } from "../runner/run-files.ts";

/** How long an agent may take to end after SIGTERM. */
export const GRACE_MS = 10_000;
/** How long surviving processes are killed repeatedly. */
const KILL_MS = 10_000;
const LOOK_MS = 20;
const LONGEST_LOOK_MS = 250;
/** A process during exec shows no environment for a moment, so the scan must be empty twice in a row. */
const CLEAN_LOOKS = 2;

export interface StopInput {
  runId: string;
  runDir: string;
  /** The last epoch to stop; later ones continue. */
  lastEpoch: number;
  graceMs?: number;
  killMs?: number;
}

export interface StopResult {
  /** Whether there was anything to stop. */
  found: boolean;
  /** Processes that could not be killed. */
  left: RunProcess[];
}

/** Ends the agents of a run up to an epoch, and every process with the run in its environment. */
export async function stopRun(input: StopInput): Promise<StopResult> {
  const { graceMs = GRACE_MS, killMs = KILL_MS } = input;
  const own = listOwnPids();
  const leaders = await listLeaders(input, own);
  if (leaders.length === 0 && !(await hasOwnProcesses(input, own))) return { found: false, left: [] };
  for (const leader of leaders) if (await isProcessAlive(leader)) signal(-leader.pid, "SIGTERM");
  const alive = await waitUntilGone(
    leaders.map((leader) => leader.pid),
    graceMs,
  );
  // A process group id is not reused while the group has members, so this hits nobody else.
  for (const group of alive) signal(-group, "SIGKILL");
  return { found: true, left: await killAll(input, own, killMs) };
}

/** The live wrappers; each leads its agent's process group. */
async function listLeaders({ runDir, lastEpoch }: StopInput, own: ReadonlySet<number>): Promise<ProcessIdentity[]> {
  const leaders: ProcessIdentity[] = [];
  for (const epoch of await listEpochs(runDir, "pid")) {
    if (epoch > lastEpoch) continue;
    const found = await findAgentProcess(runDir, epoch);
    if (found.state === "alive" && !own.has(found.identity.pid)) leaders.push(found.identity);
  }
  return leaders;
}

/** Processes with the run and one of these epochs in their environment; one without an epoch is a person's. */
async function* scanOwnProcesses(
  { runId, lastEpoch }: StopInput,
  own: ReadonlySet<number>,
): AsyncGenerator<RunProcess> {
  for await (const each of scanRunProcesses(runId)) {
    if (each.epoch !== undefined && each.epoch <= lastEpoch && !own.has(each.pid)) yield each;
  }
}

async function hasOwnProcesses(input: StopInput, own: ReadonlySet<number>): Promise<boolean> {
  for await (const _ of scanOwnProcesses(input, own)) return true;
  return false;
}

/** The groups that still have members after the grace period. */
async function waitUntilGone(groups: readonly number[], graceMs: number): Promise<number[]> {
  const until = performance.now() + graceMs;
  let alive = [...groups];
  for (let delayMs = LOOK_MS; ; delayMs = Math.min(delayMs * 1.5, LONGEST_LOOK_MS)) {
    const looked = await Promise.all(alive.map(async (group) => signal(-group, 0) && (await hasGroupMembers(group))));
    alive = alive.filter((_, index) => looked[index]);
    const restMs = until - performance.now();
    if (alive.length === 0 || restMs <= 0) return alive;
    await sleep(Math.min(delayMs, restMs));
  }
}

/** Kills all processes of the run until none is left, and returns the survivors. */
async function killAll(input: StopInput, own: ReadonlySet<number>, killMs: number): Promise<RunProcess[]> {
  const until = performance.now() + killMs;
  for (let cleanLooks = 0; ;) {
    const seen: RunProcess[] = [];
    for await (const each of scanOwnProcesses(input, own)) {
      signal(each.pid, "SIGKILL"); // at once: in a moment it may have started another and be gone
      seen.push(each);
    }
    cleanLooks = seen.length === 0 ? cleanLooks + 1 : 0;
    if (cleanLooks === CLEAN_LOOKS || (seen.length > 0 && performance.now() > until)) return seen;
    if (seen.length > 0) await sleep(LOOK_MS);
  }
}

/** Sends a signal; false if the process is gone. */
function signal(pid: number, name: NodeJS.Signals | 0): boolean {
  try {
    process.kill(pid, name);
    return true;
  } catch (error) {
    if (hasErrorCode(error, "ESRCH")) return false;
    if (hasErrorCode(error, "EPERM")) return true; // there, but not ours to signal
    throw error;
  }
}
