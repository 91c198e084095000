import { isAbsolute, relative } from "node:path";
import { findAgent } from "../agents/agents.ts";
import { findLaunch, runDirOf } from "../agents/run-files.ts";
import type { Run } from "../core/run.ts";
import type { Context } from "./context.ts";
import { shellWord } from "../core/shell-word.ts";

/** How a person goes on in the session of a run's agent, and where. */
export interface Takeover {
  dir: string;
  argv: readonly string[];
}

/** Its own program with the session; nothing where there is none that a person could go on with here. */
export async function findTakeover(run: Run, context: Pick<Context, "host" | "place">): Promise<Takeover | undefined> {
  const agent = findAgent(run.agent);
  const { session, dir } = run;
  // A session is what the agent said it is: one that looks like a flag would be taken for one.
  if (!agent || agent.program === "" || session === undefined || dir === undefined || session.startsWith("-")) {
    return undefined;
  }
  if (run.host !== context.host) return undefined;
  const launch = await findLaunch(runDirOf(context.place.stateDir, run.id));
  const isUsual = launch === undefined || launch.program.endsWith(`/${agent.program}`);
  return { dir, argv: agent.takeover(session, isUsual ? agent.program : launch.program) };
}

/** The same as a line to type. */
export function sayTakeover({ dir, argv }: Takeover): string {
  return `cd ${shellWord(dir)} && ${argv.map(shellWord).join(" ")}`;
}

/** A directory as it is called from another: shorter where it lies below. */
export function nearDir(dir: string, from: string): string {
  const near = relative(from, dir);
  return near === "" || near.startsWith("..") || isAbsolute(near) ? dir : near;
}
