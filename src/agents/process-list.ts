import { readFileSync, readdirSync } from "node:fs";
import { setImmediate as nextTurn } from "node:timers/promises";
import { hasProc, parseStat, PLAIN_PS, readBootId, runProgram, type Identity, type Stat } from "./process-identity.ts";

/** How many processes are looked at before others get their turn. */
const AT_ONCE = 64;
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
  const boot = await readBootId();
  const all = hasProc ? await listByProc() : await listByPs();
  return all.flatMap(({ env, ...stat }) => {
    const found = findIn(env, "ASKD_RUN");
    if (found === undefined || (runId !== undefined && found !== runId)) return [];
    const epoch = findIn(env, "ASKD_EPOCH");
    const { pid, born, name, parent, group } = stat;
    const own = { runId: found, epoch: epoch !== undefined && /^\d+$/.test(epoch) ? Number(epoch) : undefined };
    return [{ pid, born, boot, name, parent, group, ...own }];
  });
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

async function listByProc(): Promise<Seen[]> {
  const seen: Seen[] = [];
  for (const [index, pid] of listPids().entries()) {
    if (index % AT_ONCE === AT_ONCE - 1) await nextTurn();
    const env = findEnv(pid);
    const stat = env === undefined ? undefined : findStat(Number(pid));
    if (env !== undefined && stat !== undefined && !stat.isGone) seen.push({ ...stat, env });
  }
  return seen;
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
async function listByPs(): Promise<Seen[]> {
  const args = ["-axwwE", "-o", "pid=,ppid=,pgid=,stat=,lstart=,command="];
  const { stdout } = await runProgram("ps", args, { ...PLAIN_PS, maxBuffer: PS_BYTES });
  const line = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\S+)\s+(\S+\s+\S+\s+\S+\s+\S+\s+\S+)\s+(\S+)(.*)$/gm;
  return [...stdout.matchAll(line)].flatMap(([, pid, parent, group, state = "", born = "", name = "", rest = ""]) => {
    if (state.startsWith("Z") || !rest.includes(" ASKD_RUN=")) return [];
    const numbers = { pid: Number(pid), parent: Number(parent), group: Number(group) };
    const env = `${rest.trim().replaceAll(/\s+/g, "\0")}\0`;
    return [{ ...numbers, name, isGone: false, born: born.replaceAll(/\s+/g, " "), env }];
  });
}

function findIn(env: string, name: string): string | undefined {
  const start = env.startsWith(`${name}=`) ? 0 : env.indexOf(`\0${name}=`) + 1;
  if (start === 0 && !env.startsWith(`${name}=`)) return undefined;
  const end = env.indexOf("\0", start);
  return env.slice(start + name.length + 1, end < 0 ? undefined : end);
}
