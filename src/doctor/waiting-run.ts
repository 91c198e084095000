import { findAgent } from "../agents/registry.ts";
import { getProgram } from "../agents/runner/launch.ts";
import { hasSessionRecord } from "../agents/runner/handover-evidence.ts";
import { BrokenRunFile, findKeptLaunch, runDirOf } from "../agents/runner/run-files.ts";
import { machineName } from "../core/run/machine.ts";
import { type Run, type RunStatus, findAgentSession, isLoggedOut } from "../core/run/run.ts";
import { sayLostDefinition } from "../core/workflow/approval.ts";
import { isDefinitionOf } from "../core/workflow/definition/definition-hash.ts";
import type { Store } from "../store/store.ts";
import { errorText } from "./run-checks.ts";
import type { Finding } from "./finding.ts";
import type { DoctorContext } from "./doctor-context.ts";

const MOST_RUNS = 200;
const WAITING: readonly RunStatus[] = ["queued", "awaiting_input", "resuming", "deferred"];

type WaitingRunContext = Pick<DoctorContext, "agents" | "env" | "host" | "stateDir">;

/** Checks that runs can continue on this machine: their agent's program and session exist. */
export async function checkWaitingRuns(store: Store, at: WaitingRunContext): Promise<Finding[]> {
  const runs = await store.listRuns({ statuses: WAITING, order: "oldest", limit: MOST_RUNS });
  const ours = runs.filter(({ giveBack, host }) => giveBack === "worker" && host === at.host);
  const checked = await Promise.all(ours.map((run) => checkRun(run, store, at)));
  return [...checked.flat(), ...(await listLoggedOut(store))];
}

/** Runs that only another machine can go on with. */
export async function listRunsElsewhere(store: Store, here: string): Promise<Finding[]> {
  const runs = await store.listRuns({ statuses: WAITING, order: "oldest", limit: MOST_RUNS });
  const others = runs.filter(({ giveBack, host }) => giveBack === "worker" && host !== "" && host !== here);
  return others.map((run) => ({
    code: "run_elsewhere",
    area: "queue",
    level: "warning",
    text: `#${run.number} ${run.name} belongs to ${machineName(run.host)}: this machine cannot go on with it`,
    fix: adviseElsewhere(run),
  }));
}

/** How a run goes on whose machine is another one. */
export function adviseElsewhere({ host, number, workflow }: Pick<Run, "host" | "number" | "workflow">): string {
  const there = `on ${machineName(host)}: askd worker`;
  // The project and the approval of a workflow are those of its machine.
  if (workflow) return `${there}; or end it: askd workflow cancel ${number}`;
  return `${there}; or where the session is: askd runs resume ${number} --elsewhere`;
}

/** Runs that wait for a login of their agent. */
async function listLoggedOut(store: Store): Promise<Finding[]> {
  const runs = await store.listRuns({ statuses: ["blocked"], order: "oldest", limit: MOST_RUNS });
  return runs.filter(isLoggedOut).map((run) => ({
    code: "agent_logged_out",
    area: "queue",
    level: "problem",
    text: `#${run.number} ${run.name} cannot continue: ${run.agent} is not logged in on ${machineName(run.host)}`,
    fix: `log in to ${run.agent} there, then askd runs resume ${run.number}`,
  }));
}

async function checkRun(run: Run, store: Store, at: WaitingRunContext): Promise<Finding[]> {
  if (run.workflow) return checkWorkflowRun(run, run.workflow, store);
  const agent = findAgent(at.agents, run.agent);
  if (!agent) {
    const text = `#${run.number} ${run.name} waits for the agent "${run.agent}", which no worker here knows`;
    return [{ code: "agent_unknown", area: "queue", level: "problem", text, fix: "npm install -g askd@latest" }];
  }
  const runDir = runDirOf(at.stateDir, run.id);
  try {
    const launch = await findKeptLaunch(runDir);
    if (!launch) return [lostLaunch(run)];
    await getProgram(launch.program, launch.env, launch.dir);
    if (run.session === undefined || agent.program === "" || run.status === "queued") return [];
    return (await hasSessionRecord(agent, run, launch)) ? [] : [lostSession(run)];
  } catch (error) {
    if (error instanceof BrokenRunFile) {
      const text = `#${run.number} ${run.name} cannot continue: ${error.message}`;
      return [{ code: "run_broken", area: "queue", level: "problem", text, fix: `askd runs cancel ${run.number}` }];
    }
    return [missingAgent(run, errorText(error))];
  }
}

/** askd does the steps of a workflow itself, by its definition. */
async function checkWorkflowRun(
  { number, name }: Run,
  workflow: NonNullable<Run["workflow"]>,
  store: Store,
): Promise<Finding[]> {
  const kept = await store.findEntry("definition", workflow.definition);
  if (isDefinitionOf(workflow.definition, kept?.body["definition"])) return [];
  const text = `#${number} ${name} cannot continue: ${sayLostDefinition(workflow)}`;
  const fix = `askd workflow approve ${workflow.name}; or end it: askd workflow cancel ${number}`;
  return [{ code: "definition_lost", area: "queue", level: "problem", text, fix }];
}

function lostLaunch(run: Run): Finding {
  return {
    code: "launch_lost",
    area: "queue",
    level: "problem",
    text: `#${run.number} ${run.name} cannot continue: its launch record is no longer on this machine`,
    fix:
      findAgentSession(run) === undefined
        ? `askd runs cancel ${run.number}`
        : `restore the launch records that stand beside the backup, or continue its session yourself: askd takeover ${run.number}`,
  };
}

function missingAgent(run: Run, why: string): Finding {
  return {
    code: "agent_missing",
    area: "queue",
    level: "problem",
    text: `#${run.number} ${run.name} waits for ${run.agent}, which this machine does not have: ${why}`,
    fix: `install ${run.agent}, or askd runs cancel ${run.number}`,
  };
}

function lostSession(run: Run): Finding {
  return {
    code: "session_lost",
    area: "queue",
    level: "warning",
    text: `the session of #${run.number} ${run.name} is no longer stored by ${run.agent}: it will start a new session with all questions and answers`,
    fix: `see what it did: askd logs ${run.number}`,
  };
}
