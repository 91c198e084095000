import { setTimeout as sleep } from "node:timers/promises";
import { findAgentProcess } from "./process.ts";
import { isProcessAlive, type ProcessIdentity } from "./process-identity.ts";
import { findOwnGroup, hasGroupMembers, listGroupMembers, scanRunProcesses, type RunProcess } from "./process-list.ts";
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
/** How many survivors a message names. */
const MOST_NAMED = 10;

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
  /** True if this process belongs to the run itself: it is the only one left, and its caller has to end it. */
  isInside?: boolean;
}

/**
 * Ends the agents of a run up to an epoch, and every process with the run in its environment; also those above this
 * process, which spares nobody but itself.
 */
export async function stopRun(input: StopInput): Promise<StopResult> {
  const { graceMs = GRACE_MS, killMs = KILL_MS } = input;
  const leaders = await listLeaders(input);
  const isInside = await isOneOf(input, leaders);
  if (leaders.length === 0 && !(await hasOwnProcesses(input))) return { found: false, left: [], isInside };
  for (const leader of leaders) if (await isProcessAlive(leader)) signalGroup(leader.pid, "SIGTERM");
  const alive = await waitUntilGone(
    leaders.map((leader) => leader.pid),
    graceMs,
  );
  // A process group id is not reused while the group has members, so this hits nobody else.
  for (const group of alive) signalGroup(group, "SIGKILL");
  return { found: true, left: await killAll(input, killMs), isInside };
}

/** Says whether this process is one of the run's; undefined if it is not. */
async function isOneOf({ runId, lastEpoch }: StopInput, leaders: readonly ProcessIdentity[]) {
  const group = findOwnGroup();
  if (leaders.some(({ pid }) => pid === group)) return true;
  for await (const { pid, epoch = Infinity } of scanRunProcesses(runId)) {
    if (pid === process.pid && epoch <= lastEpoch) return true;
  }
  return undefined;
}

/** Says which processes survived, and the command that ends them. */
export function sayLeft(left: ReadonlyArray<Pick<RunProcess, "pid">>, whose: string): string {
  const pids = left.slice(0, MOST_NAMED).map(({ pid }) => pid);
  const verb = left.length === 1 ? "does" : "do";
  const count = left.length === 1 ? "1 process" : `${left.length} processes`;
  return `${count} of ${whose} ${verb} not go away; end ${left.length === 1 ? "it" : "them"}: kill -9 ${pids.join(" ")}`;
}

/** The live wrappers; each leads its agent's process group. */
async function listLeaders({ runDir, lastEpoch }: StopInput): Promise<ProcessIdentity[]> {
  const leaders: ProcessIdentity[] = [];
  for (const epoch of await listEpochs(runDir, "pid")) {
    if (epoch > lastEpoch) continue;
    const found = await findAgentProcess(runDir, epoch);
    if (found.state === "alive") leaders.push(found.identity);
  }
  return leaders;
}

/** Processes with the run and one of these epochs in their environment; one without an epoch is a person's. */
async function* scanOwnProcesses({ runId, lastEpoch }: StopInput): AsyncGenerator<RunProcess> {
  for await (const each of scanRunProcesses(runId)) {
    if (each.epoch !== undefined && each.epoch <= lastEpoch && each.pid !== process.pid) yield each;
  }
}

async function hasOwnProcesses(input: StopInput): Promise<boolean> {
  for await (const _ of scanOwnProcesses(input)) return true;
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
async function killAll(input: StopInput, killMs: number): Promise<RunProcess[]> {
  const until = performance.now() + killMs;
  for (let cleanLooks = 0; ;) {
    const seen: RunProcess[] = [];
    for await (const each of scanOwnProcesses(input)) {
      signal(each.pid, "SIGKILL"); // at once: in a moment it may have started another and be gone
      seen.push(each);
    }
    cleanLooks = seen.length === 0 ? cleanLooks + 1 : 0;
    if (cleanLooks === CLEAN_LOOKS || (seen.length > 0 && performance.now() > until)) return seen;
    if (seen.length > 0) await sleep(LOOK_MS);
  }
}

/** Sends a signal to a process group, but never to this process. */
function signalGroup(group: number, name: NodeJS.Signals) {
  const targets = group === findOwnGroup() ? listGroupMembers(group) : [-group];
  for (const target of targets) signal(target, name);
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
