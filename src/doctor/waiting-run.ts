import { agents } from "../agents/agents.ts";
import { findLaunch, getProgram } from "../agents/runner/launch.ts";
import { isSessionThere } from "../agents/runner/handover-evidence.ts";
import { BrokenRunFile, runDirOf } from "../agents/runner/run-files.ts";
import { machineName } from "../core/run/machine.ts";
import { type Run, type RunStatus, isLoggedOut } from "../core/run/run.ts";
import type { Store } from "../store/store.ts";
import { sayError } from "./run-checks.ts";
import type { Finding } from "./finding.ts";
import type { Patient } from "./doctor-context.ts";

const MOST_RUNS = 200;
const WAITING: readonly RunStatus[] = ["queued", "awaiting_input", "resuming", "deferred"];

type At = Pick<Patient, "env" | "host" | "stateDir">;

/** Whether what runs need to go on is on this machine: their agent's program, and the session that it left. */
export async function checkWaitingRuns(store: Store, at: At): Promise<Finding[]> {
  const runs = await store.listRuns({ statuses: WAITING, order: "oldest", limit: MOST_RUNS });
  const ours = runs.filter(({ giveBack, host }) => giveBack === "worker" && host === at.host);
  const checked = await Promise.all(ours.map((run) => checkRun(run, at)));
  return [...checked.flat(), ...(await listLoggedOut(store))];
}

/** Runs that wait until somebody has logged their agent in. */
async function listLoggedOut(store: Store): Promise<Finding[]> {
  const runs = await store.listRuns({ statuses: ["blocked"], order: "oldest", limit: MOST_RUNS });
  return runs.filter(isLoggedOut).map((run) => ({
    ...{ code: "agent_logged_out", area: "queue", level: "problem" },
    text: `#${run.number} ${run.name} cannot go on: ${run.agent} is not logged in on ${machineName(run.host)}`,
    fix: `log in to ${run.agent} there, then askd runs resume ${run.number}`,
  }));
}

async function checkRun(run: Run, at: At): Promise<Finding[]> {
  const agent = agents[run.agent];
  if (!agent) {
    const text = `#${run.number} ${run.name} waits for the agent "${run.agent}", which no worker here knows`;
    return [{ code: "agent_unknown", area: "queue", level: "problem", text, fix: "npm install -g askd@latest" }];
  }
  const runDir = runDirOf(at.stateDir, run.id);
  try {
    const launch = await findLaunch(run, runDir, agent, at.env);
    if (!launch) return [lostLaunch(run)];
    await getProgram(launch.program, launch.env, launch.dir);
    if (run.session === undefined || agent.program === "" || run.status === "queued") return [];
    return (await isSessionThere(agent, run, launch)) ? [] : [lostSession(run)];
  } catch (error) {
    if (error instanceof BrokenRunFile) {
      const text = `#${run.number} ${run.name} cannot go on: ${error.message}`;
      return [{ code: "run_broken", area: "queue", level: "problem", text, fix: `askd runs cancel ${run.number}` }];
    }
    return [missingAgent(run, sayError(error))];
  }
}

function lostLaunch(run: Run): Finding {
  return {
    ...{ code: "launch_lost", area: "queue", level: "problem" },
    text: `#${run.number} ${run.name} cannot go on: what it was started with is not on this machine any more`,
    fix: `askd runs cancel ${run.number}`,
  };
}

function missingAgent(run: Run, why: string): Finding {
  return {
    ...{ code: "agent_missing", area: "queue", level: "problem" },
    text: `#${run.number} ${run.name} waits for ${run.agent}, which this machine does not have: ${why}`,
    fix: `install ${run.agent}, or askd runs cancel ${run.number}`,
  };
}

function lostSession(run: Run): Finding {
  return {
    ...{ code: "session_lost", area: "queue", level: "warning" },
    text: `the session of #${run.number} ${run.name} is no longer kept by ${run.agent}: it will begin anew, told all it asked`,
    fix: `see what it did: askd logs ${run.number}`,
  };
}
