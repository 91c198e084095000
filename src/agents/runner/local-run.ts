import type { Run } from "../../core/run/run.ts";
import { isCode } from "../../core/error-code.ts";
import { type TakeoverPlace, findTakeover, isLeft, sayTakeover } from "./takeover.ts";
import { findDiff } from "../workspace/working-tree.ts";

/** What an agent has changed so far, as git says it. */
export interface Changed {
  diff: string;
  untracked: string[];
}

/** What differs from the last commit where a run works; undefined outside of a tree, and where it is not at hand. */
export async function findChanged(run: Run, host: string, how: { isStat: boolean }): Promise<Changed | undefined> {
  if (run.dir === undefined || run.host !== host) return undefined;
  return findDiff(run.dir, how).catch((error: unknown) => {
    if (isCode(error, "ENOTDIR") || isCode(error, "ENOENT")) return undefined;
    throw error;
  });
}

/** The same for a page of this machine's server: which files, and how. */
export async function findWork(run: Run, host: string): Promise<(Changed & { stat: string }) | undefined> {
  const short = await findChanged(run, host, { isStat: true });
  const long = short && (await findChanged(run, host, { isStat: false }));
  return short && long && { ...long, stat: short.diff };
}

/** What to type on this machine to go on in the session of a run; undefined while its agent works. */
export async function takeoverHere(run: Run, place: TakeoverPlace): Promise<string | undefined> {
  const found = isLeft(run) ? await findTakeover(run, place) : undefined;
  return found && sayTakeover(found);
}
