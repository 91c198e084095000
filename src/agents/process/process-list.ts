import { readFileSync, readdirSync } from "node:fs";
import { setImmediate as nextTurn } from "node:timers/promises";
import { readBootId } from "./boot-id.ts";
import {
  hasProcFs,
  parseStat,
  PS_OPTIONS,
  runProgram,
  type ProcessIdentity,
  type ProcessStat,
} from "./process-identity.ts";

/** How many processes are read before yielding to the event loop. */
const AT_ONCE = 64;
/** A limit for machines where new processes start all the time. */
const MOST_PASSES = 50;
const PS_BYTES = 64 * 1024 * 1024;

/** A process with a run in its environment, in whatever session or group. */
export interface RunProcess extends ProcessIdentity {
  runId: string;
  /** Undefined for a process that askd did not start, such as a person's shell with the variable set. */
  epoch: number | undefined;
  parent: number;
  group: number;
  name: string;
}

/** Lists the live processes of a run, or of all runs; other users' processes are invisible. */
export async function listRunProcesses(runId?: string): Promise<RunProcess[]> {
  const all: RunProcess[] = [];
  for await (const each of scanRunProcesses(runId)) all.push(each);
  return all;
}

/** Yields the live processes of a run, or of all runs, as they are found. */
export async function* scanRunProcesses(runId?: string): AsyncGenerator<RunProcess, void, undefined> {
  const boot = await readBootId();
  for await (const { pid, born, name, parent, group, env } of hasProcFs ? scanProc() : scanPs()) {
    const found = findIn(env, "ASKD_RUN");
    if (found === undefined || (runId !== undefined && found !== runId)) continue;
    const epoch = findIn(env, "ASKD_EPOCH");
    const own = { runId: found, epoch: epoch !== undefined && /^\d+$/.test(epoch) ? Number(epoch) : undefined };
    yield { pid, born, boot, name, parent, group, ...own };
  }
}

/** The process group of this process; undefined where processes cannot be looked at. */
export function findOwnGroup(): number | undefined {
  return hasProcFs ? findStat(process.pid)?.group : undefined;
}

/** Says whether a process group has a live member besides this process; zombies do not count. */
export async function hasGroupMembers(group: number): Promise<boolean> {
  if (!hasProcFs) return true;
  for (const [index, pid] of listPids().entries()) {
    if (index % AT_ONCE === AT_ONCE - 1) await nextTurn();
    if (isOtherMember(Number(pid), group)) return true;
  }
  return false;
}

/** The live members of a process group besides this process. */
export function listGroupMembers(group: number): number[] {
  return listPids()
    .map(Number)
    .filter((pid) => isOtherMember(pid, group));
}

function isOtherMember(pid: number, group: number) {
  const stat = pid === process.pid ? undefined : findStat(pid);
  return stat?.group === group && !stat.isGone;
}

type ScannedProcess = ProcessStat & { /** Entries that each end with a zero byte. */ env: string };

/** Scans until no new process appears: one may start another and end during a scan. */
async function* scanProc(): AsyncGenerator<ScannedProcess, void, undefined> {
  const seen = new Set<string>();
  for (let pass = 0; pass < MOST_PASSES; pass += 1) {
    const fresh = listPids().filter((pid) => !seen.has(pid));
    if (fresh.length === 0) return;
    for (const [index, pid] of fresh.entries()) {
      if (index % AT_ONCE === AT_ONCE - 1) await nextTurn();
      seen.add(pid);
      const env = findEnv(pid);
      const stat = env === undefined ? undefined : findStat(Number(pid));
      if (env !== undefined && stat !== undefined && !stat.isGone) yield { ...stat, env };
    }
  }
}

function listPids(): string[] {
  return readdirSync("/proc").filter((name) => /^\d+$/.test(name));
}

/** Reads from /proc synchronously: no disk is involved, and it is many times faster. */
function findEnv(pid: string): string | undefined {
  try {
    const bytes = readFileSync(`/proc/${pid}/environ`);
    return bytes.includes("ASKD_RUN=") ? bytes.toString("latin1") : undefined;
  } catch {
    return undefined; // gone by now, or not ours to read
  }
}

function findStat(pid: number): ProcessStat | undefined {
  try {
    return parseStat(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return undefined;
  }
}

/** macOS prints the environment after the command, separated by blanks; ids contain none. */
async function* scanPs(): AsyncGenerator<ScannedProcess, void, undefined> {
  const args = ["-axwwE", "-o", "pid=,ppid=,pgid=,stat=,lstart=,command="];
  const { stdout } = await runProgram("ps", args, { ...PS_OPTIONS, maxBuffer: PS_BYTES });
  const line = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\S+)\s+(\S+\s+\S+\s+\S+\s+\S+\s+\S+)\s+(\S+)(.*)$/gm;
  for (const [, pid, parent, group, state = "", born = "", name = "", rest = ""] of stdout.matchAll(line)) {
    if (state.startsWith("Z") || !rest.includes(" ASKD_RUN=")) continue;
    const numbers = { pid: Number(pid), parent: Number(parent), group: Number(group) };
    const env = `${rest.trim().replaceAll(/\s+/g, "\0")}\0`;
    const isStopped = state.startsWith("T");
    yield { ...numbers, name, isGone: false, isStopped, born: born.replaceAll(/\s+/g, " "), env };
  }
}

function findIn(env: string, name: string): string | undefined {
  const start = env.startsWith(`${name}=`) ? 0 : env.indexOf(`\0${name}=`) + 1;
  if (start === 0 && !env.startsWith(`${name}=`)) return undefined;
  const end = env.indexOf("\0", start);
  return env.slice(start + name.length + 1, end < 0 ? undefined : end);
}
