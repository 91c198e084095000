import { hostname } from "node:os";
import type { Run } from "../core/run.ts";
import { shellWord } from "../core/shell-word.ts";
import { findAgent } from "./agents.ts";
import { isCode } from "../core/system-code.ts";
import { findDiff } from "./working-tree.ts";

/** What an agent has changed so far, as git says it. */
export interface Changed {
  diff: string;
  untracked: string[];
}

/** How a person goes on in the session of a run's agent, and where. */
export interface Takeover {
  dir: string;
  argv: readonly string[];
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
export async function findWork(run: Run): Promise<(Changed & { stat: string }) | undefined> {
  const short = await findChanged(run, hostname(), { isStat: true });
  const long = short && (await findChanged(run, hostname(), { isStat: false }));
  return short && long && { ...long, stat: short.diff };
}

/** Says whether nobody works in the session of a run, or is about to: two at once would undo each other's work. */
export function isLeft({ worker, status }: Run): boolean {
  return worker === undefined && !["running", "queued", "resuming"].includes(status);
}

/** The agent's own program with its session; nothing where there is none that a person could go on with here. */
export function findSession(run: Run, host: string, launched?: string): Takeover | undefined {
  const agent = findAgent(run.agent);
  const { session, dir } = run;
  // A session is what the agent said it is: one that looks like a flag would be taken for one.
  if (!agent || agent.program === "" || session === undefined || dir === undefined || session.startsWith("-")) {
    return undefined;
  }
  if (run.host !== host) return undefined;
  const isUsual = launched === undefined || launched.endsWith(`/${agent.program}`);
  return { dir, argv: agent.takeover(session, isUsual ? agent.program : launched) };
}

/** What to type on this machine to go on in the session of a run; nothing while its agent works. */
export function findTakeover(run: Run): string | undefined {
  const found = isLeft(run) ? findSession(run, hostname()) : undefined;
  return found && sayTakeover(found);
}

/** The same as a line to type. */
export function sayTakeover({ dir, argv }: Takeover): string {
  return `cd ${shellWord(dir)} && ${argv.map(shellWord).join(" ")}`;
}
