import { hostname } from "node:os";
import type { Run } from "../core/run.ts";
import { shellWord } from "../core/shell-word.ts";
import { agents } from "./agents.ts";
import { isCode } from "./private-file.ts";
import { findDiff } from "./working-tree.ts";

/** What a run's agent has changed in its working tree; undefined where that is not on this machine. */
export async function findWork(run: Run): Promise<{ stat: string; diff: string; untracked: string[] } | undefined> {
  if (run.dir === undefined || run.host !== hostname()) return undefined;
  try {
    const [short, long] = [await findDiff(run.dir, { isStat: true }), await findDiff(run.dir, { isStat: false })];
    return short && long && { stat: short.diff, diff: long.diff, untracked: long.untracked };
  } catch (error) {
    if (isCode(error, "ENOTDIR") || isCode(error, "ENOENT")) return undefined;
    throw error;
  }
}

/** What to type on this machine to go on in the session of a run; nothing while its agent works. */
export function findTakeover(run: Run): string | undefined {
  const agent = agents[run.agent];
  const { session, dir } = run;
  if (run.worker !== undefined || run.status === "running" || run.host !== hostname()) return undefined;
  // A session is what the agent said it is: one that looks like a flag would be taken for one.
  if (!agent || agent.program === "" || session === undefined || dir === undefined || session.startsWith("-")) {
    return undefined;
  }
  return `cd ${shellWord(dir)} && ${agent.takeover(session, agent.program).map(shellWord).join(" ")}`;
}
