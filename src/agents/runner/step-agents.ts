import { howToAskByMarker } from "../../core/run/how-to-ask.ts";
import type { RunId } from "../../core/id.ts";
import { Refusal } from "../../core/refusal.ts";
import type { Run } from "../../core/run/run.ts";
import { runStepProgram } from "../process/step-program.ts";
import { stopRun } from "../process/stop.ts";
import type { Agent } from "../agent.ts";
import { type AgentRegistry, chooseWay, findAgent, projectFilesOf } from "../registry.ts";
import { type RunTree, openRunTree, publishRunTree } from "../workspace/run-tree.ts";
import { getProgram, lowerLimits } from "./launch.ts";
import { rememberTree } from "./old-tree.ts";
import { makeRunDir, saveLaunch, withoutCallerVariables } from "./run-files.ts";

/** The settings of an agent, as far as a workflow needs them. */
export interface AgentSettings {
  argv?: readonly string[] | undefined;
  resume?: readonly string[] | undefined;
  max_turns?: number | undefined;
  budget?: number | undefined;
}

interface StepAgentsDeps {
  stateDir: string;
  registry: AgentRegistry;
  settings: Readonly<Record<string, AgentSettings>>;
  /** The environment of programs and agents, with the place of the store. */
  env: Readonly<Record<string, string | undefined>>;
  liveWindowMs: number;
}

/** The part of this machine that steps of workflows act on: working trees, programs and agents. */
export function stepAgents(deps: StepAgentsDeps) {
  const { stateDir } = deps;
  const env = withoutCallerVariables(deps.env);
  return {
    env,
    openTree: async (run: Run): Promise<RunTree> => {
      const name = run.workflow?.tree ?? run.id;
      const tree = await openRunTree(run.dir ?? "/", name, projectFilesOf(deps.registry));
      if (tree.branch !== undefined) await rememberTree(stateDir, name, run);
      return tree;
    },
    publishTree: publishRunTree,
    runProgram: runStepProgram,
    findAgentBudget: (agent: string) =>
      Object.hasOwn(deps.settings, agent) ? deps.settings[agent]?.budget : undefined,
    prepareAgent: (start: AgentStart) => prepareAgent(start, { ...deps, env }),
    /** Ends what an earlier process of this machine left running for the run. */
    stopPrograms: async (run: Run): Promise<void> => {
      const runDir = await makeRunDir(stateDir, run.id);
      await stopRun({ runId: run.id, runDir, lastEpoch: run.epoch, graceMs: 0 });
    },
  };
}

interface AgentStart {
  runId: RunId;
  agent: string;
  prompt: string;
  dir: string;
  budgetUsd?: number | undefined;
}

/** Keeps the launch record of an agent's run, as `askd run` does. */
async function prepareAgent(
  { runId, agent: name, prompt, dir, budgetUsd }: AgentStart,
  { stateDir, registry, settings, env, liveWindowMs }: Omit<StepAgentsDeps, "env"> & { env: Record<string, string> },
): Promise<{ agent: string }> {
  const own = (Object.hasOwn(settings, name) ? settings[name] : undefined) ?? {};
  const any = registry.find(({ agent }) => agent.program === "")?.agent;
  const known = findAgent(registry, name) ?? (own.argv ? any : undefined);
  if (!known) throw new Refusal("bad_input", `There is no agent "${name}"`, { hint: "See: askd run --help" });
  const agent = chooseWay(registry, known, env);
  const [word = agent.program, ...before] = own.argv ?? [agent.program];
  requireLimits(agent, own, budgetUsd);
  const program = await getProgram(word, env, dir);
  const isTold = agent.program === "";
  const parsed = agent.parseArgs(before);
  const ofSettings = lowerLimits({ maxTurns: own.max_turns, budgetUsd: own.budget }, parsed.limits);
  const limits = lowerLimits(ofSettings, { budgetUsd });
  const launch = {
    agent: agent.name,
    program,
    args: [...parsed.args],
    prompt: isTold ? `${prompt}\n\n${howToAskByMarker()}` : prompt,
    dir,
    env,
    options: {
      liveWindowMs,
      promptTool: "approve",
      ...(own.resume && { resumeWith: [...own.resume] }),
      ...limits,
    },
  };
  await saveLaunch(await makeRunDir(stateDir, runId), launch);
  return { agent: agent.name };
}

/** Refuses limits that nothing would keep, of the step, the workflow or the settings. */
function requireLimits(
  { name, limitsKeptBy }: Pick<Agent, "name" | "limitsKeptBy">,
  own: AgentSettings,
  budgetUsd: number | undefined,
) {
  if (limitsKeptBy !== undefined) return;
  const limits: Array<readonly [string, unknown]> = [
    ["The budget of the workflow or step", budgetUsd],
    ["The setting budget", own.budget],
    ["The setting max_turns", own.max_turns],
  ];
  const limit = limits.find(([, value]) => value !== undefined)?.[0];
  if (limit === undefined) return;
  throw new Refusal("bad_input", `${limit} cannot be kept: the agent "${name}" has no such limit`, {
    hint: "Leave it out; only Claude Code and OpenCode can be limited",
  });
}
