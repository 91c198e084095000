import type { Run } from "../../core/run/run.ts";
import { hasErrorCode } from "../../core/error-code.ts";
import { type TakeoverContext, findTakeover, isSessionFree, takeoverCommand } from "./takeover.ts";
import { type DiffOptions, findDiff } from "../workspace/working-tree.ts";

/** The changes of an agent so far, as reported by git. */
export interface ChangedFiles {
  diff: string;
  untracked: string[];
}

/** Finds the uncommitted changes in a run's directory; undefined outside of a working tree or on another machine. */
export async function findChangedFiles(run: Run, host: string, how: DiffOptions): Promise<ChangedFiles | undefined> {
  if (run.dir === undefined || run.host !== host) return undefined;
  return findDiff(run.dir, how).catch((error: unknown) => {
    if (hasErrorCode(error, "ENOTDIR") || hasErrorCode(error, "ENOENT")) return undefined;
    throw error;
  });
}

/** The uncommitted changes for this machine's web page, with their diff stat. */
export async function findWorkspaceChanges(
  run: Run,
  host: string,
): Promise<(ChangedFiles & { stat: string }) | undefined> {
  const short = await findChangedFiles(run, host, { isStat: true });
  const long = short && (await findChangedFiles(run, host, { isStat: false }));
  return short && long && { ...long, stat: short.diff };
}

/** Finds the command that continues a run's session on this machine; undefined while its agent works. */
export async function findTakeoverCommand(run: Run, place: TakeoverContext): Promise<string | undefined> {
  const found = isSessionFree(run) ? await findTakeover(run, place) : undefined;
  return found && takeoverCommand(found);
}
