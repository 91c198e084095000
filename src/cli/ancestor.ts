import { readFileSync } from "node:fs";

const MOST = 64;
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

/** The name of a program may hold anything, brackets too: what follows the last one is in fixed places. */
function parentOf(pid: number, readProc: (path: string) => string | undefined): number | undefined {
  const stat = readProc(`/proc/${pid}/stat`);
  const parent = Number(stat?.slice(stat.lastIndexOf(")") + 2).split(" ")[1]);
  return Number.isInteger(parent) ? parent : undefined;
}

function readFile(path: string): string | undefined {
  try {
    return readFileSync(path, "latin1");
  } catch {
    return undefined; // gone, somebody else's, or a system without /proc
  }
}
