import { readFileSync } from "node:fs";

const MOST = 64;
/** Places in the line of a process, counted from what follows its name. */
const PARENT_FIELD = 1;
const START_FIELD = 19;
const LONGEST_ENVIRON = 4 * 1024 * 1024;

/**
 * The runs that the processes above this one were started for, nearest first: an agent that takes `ASKD_RUN` out of
 * its own shell still has it itself. Where processes cannot be looked at there are none.
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

/** When a process was started, in a form that only serves to tell it from later ones of the same id. */
export function startOf(pid: number, readProc: (path: string) => string | undefined = readFile): string | undefined {
  const ticks = fieldsOf(pid, readProc)?.[START_FIELD];
  const boot = readProc("/proc/sys/kernel/random/boot_id")?.trim();
  return ticks && boot ? `${boot}:${ticks}` : undefined;
}

/** The name of a program may hold anything, brackets too: what follows the last one is in fixed places. */
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
