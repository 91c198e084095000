import { execFile } from "node:child_process";
import { readFile, readlink } from "node:fs/promises";
import { promisify } from "node:util";
import type { Seen } from "../../core/run/run.ts";
import { readBootId } from "./boot-id.ts";

/** Where the fields of /proc/<pid>/stat that follow the program's name are, counted from that name. */
const FIELD = { state: 0, parent: 1, group: 2, born: 19 } as const;
const GONE: ReadonlySet<string> = new Set(["Z", "X", "x"]);
/** Stopped by a signal, or by a debugger. */
const STOPPED: ReadonlySet<string> = new Set(["T", "t"]);
/** `ps` says times in the local zone and language, which may change while an agent runs. */
export const PLAIN_PS = { env: { PATH: "/bin:/usr/bin:/usr/sbin:/sbin", LC_ALL: "C", TZ: "UTC" }, timeout: 10_000 };

export const runProgram = promisify(execFile);
export const hasProc: boolean = process.platform === "linux";

/** One process for ever: its number alone is given to others when it is gone. */
export interface Identity {
  pid: number;
  born: string;
  boot: string;
  /** The numbers of processes that its own is one of: containers have numbers of their own. */
  space?: string | undefined;
}

/** What the system says about a process. */
export interface Stat {
  pid: number;
  name: string;
  isGone: boolean;
  isStopped: boolean;
  parent: number;
  group: number;
  born: string;
}

/** The process that has this number now; undefined when there is none, or only its exit code is left. */
export async function findIdentity(pid: number): Promise<Identity | undefined> {
  const boot = await readBootId();
  if (!hasProc) {
    const born = await findBornByPs(pid);
    return born === undefined ? undefined : { pid, born, boot };
  }
  const stat = await findStat(pid);
  return stat === undefined || stat.isGone ? undefined : { pid, born: stat.born, boot };
}

/** This process. */
export async function readOwnIdentity(): Promise<Identity> {
  const own = await findIdentity(process.pid);
  if (!own) throw new Error("This process cannot be seen");
  return { ...own, space: await findSpace() };
}

/** Says whether a process of that identity could be seen from here, if it is alive. */
export async function isInSight({ boot, space }: Identity): Promise<boolean> {
  return boot === (await readBootId()) && (space === undefined || space === (await findSpace()));
}

export async function isAlive(identity: Identity): Promise<boolean> {
  const now = await findIdentity(identity.pid);
  return now !== undefined && now.born === identity.born && now.boot === identity.boot;
}

/** Says whether a process is there and may go on: one that was stopped does nothing until it is told to continue. */
export async function isRunning(identity: Identity): Promise<boolean> {
  if (!(await isAlive(identity))) return false;
  if (hasProc) return (await findStat(identity.pid))?.isStopped === false;
  const said = await runProgram("ps", ["-o", "stat=", "-p", String(identity.pid)], PLAIN_PS).catch(() => undefined);
  return said !== undefined && !STOPPED.has(said.stdout.trim().charAt(0)); // ps fails when there is no such process
}

/** The same for a process that was only seen: what names it joins the boot and the birth. */
export async function isSeenAlive({ pid, startedAt }: Seen): Promise<boolean> {
  const [boot = "", born = ""] = startedAt.split(":");
  return isAlive({ pid, born, boot });
}

async function findSpace(): Promise<string | undefined> {
  return hasProc ? readlink("/proc/self/ns/pid").catch(() => undefined) : undefined;
}

async function findStat(pid: number): Promise<Stat | undefined> {
  try {
    return parseStat(await readFile(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return undefined; // gone, before or while we looked
  }
}

/** Reads a line of /proc/<pid>/stat. The name in it is the program's own choice and may hold anything. */
export function parseStat(line: string): Stat | undefined {
  const nameAt = line.indexOf("(");
  const nameEnd = line.lastIndexOf(")");
  const pid = Number.parseInt(line, 10);
  const fields = line.slice(nameEnd + 2).split(" ");
  const born = fields[FIELD.born];
  if (nameAt < 0 || nameEnd < nameAt || !(pid > 0) || born === undefined || !/^\d+$/.test(born)) return undefined;
  return {
    pid,
    name: line.slice(nameAt + 1, nameEnd),
    isGone: GONE.has(fields[FIELD.state] ?? ""),
    isStopped: STOPPED.has(fields[FIELD.state] ?? ""),
    parent: Number(fields[FIELD.parent]),
    group: Number(fields[FIELD.group]),
    born,
  };
}

async function findBornByPs(pid: number): Promise<string | undefined> {
  try {
    const { stdout } = await runProgram("ps", ["-o", "stat=,lstart=", "-p", String(pid)], PLAIN_PS);
    const [state = "", ...born] = stdout.trim().split(/\s+/);
    return state === "" || GONE.has(state.charAt(0)) ? undefined : born.join(" ");
  } catch {
    return undefined; // ps fails when there is no such process
  }
}
