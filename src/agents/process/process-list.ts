import { readFileSync, readdirSync } from "node:fs";
import { setImmediate as nextTurn } from "node:timers/promises";
import { readBootId } from "./boot-id.ts";
import { hasProc, parseStat, PLAIN_PS, runProgram, type Identity, type Stat } from "./process-identity.ts";

/** How many processes are looked at before others get their turn. */
const AT_ONCE = 64;
/** On a machine where processes start all the time there are always some that we have not seen. */
const MOST_PASSES = 50;
const PS_BYTES = 64 * 1024 * 1024;

/** A process that carries a run in its environment, whatever session or group it has moved to. */
export interface RunProcess extends Identity {
  runId: string;
  /** Undefined for a process that we did not start, such as the shell of a person who set the variable. */
  epoch: number | undefined;
  parent: number;
  group: number;
  name: string;
}

/** The living processes of a run, or of all runs. Of other users' processes it sees nothing. */
export async function listProcesses(runId?: string): Promise<RunProcess[]> {
  const all: RunProcess[] = [];
  for await (const each of seeProcesses(runId)) all.push(each);
  return all;
}

/** The same, each as soon as it is seen. */
export async function* seeProcesses(runId?: string): AsyncGenerator<RunProcess, void, undefined> {
  const boot = await readBootId();
  for await (const { pid, born, name, parent, group, env } of hasProc ? seeByProc() : seeByPs()) {
    const found = findIn(env, "ASKD_RUN");
    if (found === undefined || (runId !== undefined && found !== runId)) continue;
    const epoch = findIn(env, "ASKD_EPOCH");
    const own = { runId: found, epoch: epoch !== undefined && /^\d+$/.test(epoch) ? Number(epoch) : undefined };
    yield { pid, born, boot, name, parent, group, ...own };
  }
}

/** The numbers of this process, of its group and of those that started it. */
export function listOwnPids(): Set<number> {
  const own = new Set([process.pid, process.ppid]);
  if (!hasProc) return own;
  own.add(findStat(process.pid)?.group ?? process.pid);
  let parent: number | undefined = process.ppid;
  while (parent !== undefined && parent > 1) {
    own.add(parent);
    parent = findStat(parent)?.parent;
  }
  return own;
}

/** Says whether a group has a member that runs; what only waits for its parent to notice its end does not count. */
export async function hasMembers(group: number): Promise<boolean> {
  if (!hasProc) return true;
  for (const [index, pid] of listPids().entries()) {
    if (index % AT_ONCE === AT_ONCE - 1) await nextTurn();
    const stat = findStat(Number(pid));
    if (stat?.group === group && !stat.isGone) return true;
  }
  return false;
}

type Seen = Stat & { /** Entries that each end with a zero byte. */ env: string };

/** Looks until there is no process that it has not seen, as one may start another and end while we look. */
async function* seeByProc(): AsyncGenerator<Seen, void, undefined> {
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

/** Reading from /proc waits for no disk, so it is done at once: this is many times faster. */
function findEnv(pid: string): string | undefined {
  try {
    const bytes = readFileSync(`/proc/${pid}/environ`);
    return bytes.includes("ASKD_RUN=") ? bytes.toString("latin1") : undefined;
  } catch {
    return undefined; // gone by now, or not ours to read
  }
}

function findStat(pid: number): Stat | undefined {
  try {
    return parseStat(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return undefined;
  }
}

/** macOS shows the environment after the command, with blanks between; ids hold none. */
async function* seeByPs(): AsyncGenerator<Seen, void, undefined> {
  const args = ["-axwwE", "-o", "pid=,ppid=,pgid=,stat=,lstart=,command="];
  const { stdout } = await runProgram("ps", args, { ...PLAIN_PS, maxBuffer: PS_BYTES });
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
