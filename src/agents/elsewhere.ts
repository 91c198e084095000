import { stat } from "node:fs/promises";
import type { Run } from "../core/run/run.ts";
import { machineName } from "../core/run/machine.ts";
import { Refusal } from "../core/refusal.ts";
import { agents } from "./agents.ts";
import { findLaunch } from "./runner/launch.ts";
import { isSessionThere } from "./runner/handover-evidence.ts";
import { type Launch, findKeptLaunch, keepLaunch, makeRunDir, runDirOf } from "./runner/run-files.ts";

/** Where it is looked for. */
export interface Surroundings {
  stateDir: string;
  env: Readonly<Record<string, string | undefined>>;
}

/** What this machine has of a run of another one. */
export interface Carried {
  /** The agent's session, or only what the run was started with: then its agent begins anew, told all that is known. */
  has: "session" | "launch";
  launch: Launch;
}

/** What is on this machine of a run that belongs to another, as far as its agent can go on with it; else what is missing. */
export async function findCarried(run: Run, { stateDir, env }: Surroundings): Promise<Carried | { missing: string }> {
  const agent = agents[run.agent];
  if (!agent) return { missing: `no agent "${run.agent}" is known here` };
  const runDir = runDirOf(stateDir, run.id);
  const kept = await findKeptLaunch(runDir);
  const dir = kept?.dir ?? run.dir;
  if (dir === undefined || !(await isFolder(dir))) {
    return { missing: dir === undefined ? "its directory is not known" : `its directory ${dir} is not here` };
  }
  try {
    const launch = await findLaunch(run, runDir, agent, env);
    if (!launch) return { missing: "what it was started with is not here" };
    if (run.session !== undefined && (await isSessionThere(agent, run, launch))) return { has: "session", launch };
    if (kept) return { has: "launch", launch };
    return { missing: `neither its session ${run.session} nor what it was started with is here` };
  } catch (error) {
    if (error instanceof Refusal) return { missing: error.message }; // its program is not here
    throw error;
  }
}

/** The same where nothing goes on without it; the run's own files are made ready for a worker here. */
export async function carryHere(run: Run, at: Surroundings): Promise<Carried> {
  const found = await findCarried(run, at);
  if ("missing" in found) {
    throw new Refusal("not_found", `Run #${run.number} cannot go on here: ${found.missing}`, {
      hint: `Bring ${machineName(run.host)} back, copy what is missing from it, or give the run up: askd runs cancel ${run.number}`,
    });
  }
  // A worker has another environment than whoever says so here.
  await keepLaunch(await makeRunDir(at.stateDir, run.id), found.launch);
  return found;
}

async function isFolder(dir: string): Promise<boolean> {
  return stat(dir).then(
    (found) => found.isDirectory(),
    () => false,
  );
}
