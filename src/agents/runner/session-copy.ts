import { stat } from "node:fs/promises";
import type { Run } from "../../core/run/run.ts";
import { machineName } from "../../core/run/machine.ts";
import { Refusal } from "../../core/refusal.ts";
import { type AgentRegistry, findAgent } from "../registry.ts";
import { launchFromSession } from "./launch.ts";
import { hasSessionRecord } from "./handover-evidence.ts";
import { type Launch, findKeptLaunch, saveLaunch, makeRunDir, runDirOf } from "./run-files.ts";

/** Where a copy of a session is searched. */
export interface SessionCopyContext {
  /** The agents that are known here. */
  agents: AgentRegistry;
  stateDir: string;
  env: Readonly<Record<string, string | undefined>>;
}

/** The local copy of another machine's session. */
export interface SessionCopy {
  /** The agent's session, or only the launch record: then a new session starts with all that is known. */
  has: "session" | "launch";
  launch: Launch;
}

/** Finds the local copy of a run of another machine that its agent can continue with; else what is missing. */
export async function findSessionCopy(
  run: Run,
  { agents, stateDir, env }: SessionCopyContext,
): Promise<SessionCopy | { missing: string }> {
  const agent = findAgent(agents, run.agent);
  if (!agent) return { missing: `no agent "${run.agent}" is known here` };
  const runDir = runDirOf(stateDir, run.id);
  const kept = await findKeptLaunch(runDir);
  const dir = kept?.dir ?? run.dir;
  if (dir === undefined || !(await isFolder(dir))) {
    return { missing: dir === undefined ? "its directory is not known" : `its directory ${dir} is not here` };
  }
  try {
    const launch = kept ?? (await launchFromSession(run, agent, env));
    if (!launch) return { missing: "its launch record is not here" };
    if (run.session !== undefined && (await hasSessionRecord(agent, run, launch))) return { has: "session", launch };
    if (kept) return { has: "launch", launch };
    return { missing: `neither its session ${run.session} nor its launch record is here` };
  } catch (error) {
    if (error instanceof Refusal) return { missing: error.message }; // its program is not here
    throw error;
  }
}

/** Requires the local copy, and prepares the run's files for a worker here. */
export async function prepareSessionCopy(run: Run, at: SessionCopyContext): Promise<SessionCopy> {
  const found = await findSessionCopy(run, at);
  if ("missing" in found) {
    throw new Refusal("not_found", `Run #${run.number} cannot continue here: ${found.missing}`, {
      hint: `Bring ${machineName(run.host)} back, copy what is missing from it, or cancel the run: askd runs cancel ${run.number}`,
    });
  }
  // A worker's environment differs from this process's.
  await saveLaunch(await makeRunDir(at.stateDir, run.id), found.launch);
  return found;
}

async function isFolder(dir: string): Promise<boolean> {
  return stat(dir).then(
    (found) => found.isDirectory(),
    () => false,
  );
}
