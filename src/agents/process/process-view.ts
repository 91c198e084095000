import { readFileSync, statSync, statfsSync } from "node:fs";
import { uptime } from "node:os";
import { join } from "node:path";
import type { Run } from "../../core/run/run.ts";
import { epochMs } from "../../core/instant.ts";
import { linkOf, listOrNothing } from "./optional-file.ts";
import { readBootId } from "./boot-id.ts";
import { pidInProc } from "./pid-in-proc.ts";
import { hasProcFs, parseStat } from "./process-identity.ts";

/** `f_type` of procfs, see statfs(2). */
const PROC_MAGIC = 0x9fa0;
/** The first namespaces of a machine have these numbers, see include/linux/proc_ns.h. */
const FIRST_PIDS = "pid:[4026531836]";
const FIRST_TIME = "time:[4026531834]";
const MOST_ABOVE = 64;
/** The unit of start times in /proc, on every platform that Node runs on. */
const TICK_MS = 10;

/**
 * How far the processes above this one can be seen: to the top, not at all, or up to a process that was started at that
 * time and may have others above it, as the first process of a container has.
 */
type ProcessView = "all" | "nothing" | { bornTicks: number };

/** Reads a file of a process; undefined if it cannot be read, or if something else is mounted in its place. */
export function readProcFile(path: string): string | undefined {
  try {
    return statfsSync(path).type === PROC_MAGIC ? readFileSync(path, "latin1") : undefined;
  } catch {
    return undefined;
  }
}

/** Says whether all processes above this one are seen. Where there is no procfs, none are looked at. */
export function seesAllAbove(): boolean {
  return viewAbove() === "all";
}

/**
 * Says whether the live agent of a run may be above this process without being seen: whoever makes a namespace of
 * processes is older than its first process.
 */
export async function mayHide({ id, startedAt }: Pick<Run, "id" | "startedAt">, stateDir: string): Promise<boolean> {
  const view = viewAbove();
  if (view === "all") return false;
  if (view === "nothing") return true;
  const bornTicks = findLastStart(join(stateDir, "runs", id), await readBootId());
  if (bornTicks !== undefined) return bornTicks <= view.bornTicks;
  const bornMs = Date.now() - (uptime() * 1000 - view.bornTicks * TICK_MS);
  return startedAt === undefined || epochMs(startedAt) <= bornMs;
}

/** Says whether a process is there and belongs to this user. */
export function isOwnProcess(pid: number): boolean {
  return statSync(`/proc/${pid}`, { throwIfNoEntry: false })?.uid === process.geteuid?.();
}

/** Start times of processes are told in the namespace of time of whoever reads them, which may have another offset. */
export function areStartTimesTrue(): boolean {
  return (linkOf("/proc/self/ns/time") ?? FIRST_TIME) === FIRST_TIME; // without it, the kernel has no such namespaces
}

function viewAbove(): ProcessView {
  if (!hasProcFs) return "all";
  if (!isChainTrue(pidInProc())) return "nothing";
  if (linkOf("/proc/self/ns/pid") === FIRST_PIDS) return "all";
  if (!areStartTimesTrue()) return "nothing";
  const born = parseStat(readProcFile("/proc/1/stat") ?? "")?.born;
  return born === undefined ? "nothing" : { bornTicks: Number(born) };
}

/** Says whether /proc tells of this process and those above it, and nothing is mounted in its place. */
function isChainTrue(pid: number) {
  let at = pid;
  for (let count = 0; count < MOST_ABOVE && at > 0; count += 1) {
    const stat = parseStat(readProcFile(`/proc/${at}/stat`) ?? "");
    // Those of others may be hidden by an option of procfs; agents run as the user who starts them.
    if (stat === undefined && at !== pid && !isOwnProcess(at)) return true;
    if (stat?.pid !== at) return false;
    at = stat.parent;
  }
  return true;
}

/** When the last agent of the run in this folder was started since this machine was. */
function findLastStart(runDir: string, boot: string): number | undefined {
  const epochs = listOrNothing(runDir).flatMap((name) => (/^\d+\.pid$/.test(name) ? Number.parseInt(name, 10) : []));
  if (epochs.length === 0) return undefined;
  try {
    const [startedIn, line = ""] = readFileSync(join(runDir, `${Math.max(...epochs)}.pid`), "latin1").split("\n");
    const born = startedIn === boot ? parseStat(line)?.born : undefined;
    return born === undefined ? undefined : Number(born);
  } catch {
    return undefined;
  }
}
