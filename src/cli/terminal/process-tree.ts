import { readFileSync } from "node:fs";

const MOST = 64;
/** Positions in /proc/<pid>/stat, counted after the name. */
const PARENT_FIELD = 1;
const START_FIELD = 19;
const LONGEST_ENVIRON = 4 * 1024 * 1024;

/**
 * The runs that the parent processes belong to, nearest first: an agent that removes `ASKD_RUN` from
 * its shell still has it itself. Empty if processes cannot be inspected.
 */
export function runsAbove(pid: number, readProc: (path: string) => string | undefined = readFile): string[] {
  const runs = new Set<string>();
  let above = parentOf(pid, readProc);
  for (let count = 0; count < MOST && above !== undefined && above > 1; count += 1) {
    const environ = readProc(`/proc/${above}/environ`);
    const run = /(?:^|\0)ASKD_RUN=([^\0]+)/.exec(environ?.slice(0, LONGEST_ENVIRON) ?? "")?.[1];
    if (run !== undefined) runs.add(run);
    above = parentOf(above, readProc);
  }
  return [...runs];
}

/** The start time of a process, only to tell it from a later one with the same id. */
export function startOf(pid: number, readProc: (path: string) => string | undefined = readFile): string | undefined {
  const ticks = fieldsOf(pid, readProc)?.[START_FIELD];
  const boot = readProc("/proc/sys/kernel/random/boot_id")?.trim();
  return ticks && boot ? `${boot}:${ticks}` : undefined;
}

/** A program's name may contain brackets: the fields after the last one have fixed positions. */
function fieldsOf(pid: number, readProc: (path: string) => string | undefined): string[] | undefined {
  const stat = readProc(`/proc/${pid}/stat`);
  return stat?.slice(stat.lastIndexOf(")") + 2).split(" ");
}

function parentOf(pid: number, readProc: (path: string) => string | undefined): number | undefined {
  const parent = Number(fieldsOf(pid, readProc)?.[PARENT_FIELD]);
  return Number.isInteger(parent) ? parent : undefined;
}

function readFile(path: string): string | undefined {
  try {
    return readFileSync(path, "latin1");
  } catch {
    return undefined; // gone, somebody else's, or a system without /proc
  }
}
