import { execFile } from "node:child_process";
import { readFile, readlink } from "node:fs/promises";
import { promisify } from "node:util";
import type { AgentPresence } from "../../core/run/run.ts";
import { readBootId } from "./boot-id.ts";

/** Indexes of the fields of /proc/<pid>/stat after the program's name. */
const FIELD = { state: 0, parent: 1, group: 2, born: 19 } as const;
const GONE: ReadonlySet<string> = new Set(["Z", "X", "x"]);
/** Stopped by a signal, or by a debugger. */
const STOPPED: ReadonlySet<string> = new Set(["T", "t"]);
/** `ps` prints times in the local zone and language, which may change while an agent runs. */
export const PS_OPTIONS = { env: { PATH: "/bin:/usr/bin:/usr/sbin:/sbin", LC_ALL: "C", TZ: "UTC" }, timeout: 10_000 };

export const runProgram = promisify(execFile);
export const hasProcFs: boolean = process.platform === "linux";

/** Identifies one process for ever: its pid alone is reused. */
export interface ProcessIdentity {
  pid: number;
  born: string;
  boot: string;
  /** The pid namespace: containers have their own. */
  space?: string | undefined;
}

/** The state of a process as reported by the system. */
export interface ProcessStat {
  pid: number;
  name: string;
  isGone: boolean;
  isStopped: boolean;
  parent: number;
  group: number;
  born: string;
}

/** The process with this pid; undefined if there is none or only a zombie. */
export async function findIdentity(pid: number): Promise<ProcessIdentity | undefined> {
  const boot = await readBootId();
  if (!hasProcFs) {
    const born = await findBornByPs(pid);
    return born === undefined ? undefined : { pid, born, boot };
  }
  const stat = await findStat(pid);
  return stat === undefined || stat.isGone ? undefined : { pid, born: stat.born, boot };
}

/** This process. */
export async function readOwnIdentity(): Promise<ProcessIdentity> {
  const own = await findIdentity(process.pid);
  if (!own) throw new Error("This process cannot be seen");
  return { ...own, space: await findSpace() };
}

/** Says whether a live process of that identity would be visible here. */
export async function isVisibleHere({ boot, space }: ProcessIdentity): Promise<boolean> {
  return boot === (await readBootId()) && (space === undefined || space === (await findSpace()));
}

export async function isProcessAlive(identity: ProcessIdentity): Promise<boolean> {
  const now = await findIdentity(identity.pid);
  return now !== undefined && now.born === identity.born && now.boot === identity.boot;
}

/** Says whether a process is alive and not stopped by a signal. */
export async function isProcessRunning(identity: ProcessIdentity): Promise<boolean> {
  if (!(await isProcessAlive(identity))) return false;
  if (hasProcFs) return (await findStat(identity.pid))?.isStopped === false;
  const said = await runProgram("ps", ["-o", "stat=", "-p", String(identity.pid)], PS_OPTIONS).catch(() => undefined);
  return said !== undefined && !STOPPED.has(said.stdout.trim().charAt(0)); // ps fails when there is no such process
}

/** Says whether the process of a foreign agent is alive; its start time joins boot id and birth. */
export async function isAgentPresent({ pid, startedAt }: AgentPresence): Promise<boolean> {
  const [boot = "", born = ""] = startedAt.split(":");
  return isProcessAlive({ pid, born, boot });
}

async function findSpace(): Promise<string | undefined> {
  return hasProcFs ? readlink("/proc/self/ns/pid").catch(() => undefined) : undefined;
}

async function findStat(pid: number): Promise<ProcessStat | undefined> {
  try {
    return parseStat(await readFile(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return undefined; // gone, before or while we looked
  }
}

/** Parses a line of /proc/<pid>/stat. The program chooses its name, which may contain anything. */
export function parseStat(line: string): ProcessStat | undefined {
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
    const { stdout } = await runProgram("ps", ["-o", "stat=,lstart=", "-p", String(pid)], PS_OPTIONS);
    const [state = "", ...born] = stdout.trim().split(/\s+/);
    return state === "" || GONE.has(state.charAt(0)) ? undefined : born.join(" ");
  } catch {
    return undefined; // ps fails when there is no such process
  }
}
