import { execFile } from "node:child_process";
import { access, constants } from "node:fs/promises";
import { delimiter, isAbsolute, join, resolve } from "node:path";
import { promisify } from "node:util";
import { SECOND_MS } from "../../core/instant.ts";
import { Refusal } from "../../core/refusal.ts";
import type { UsageRow } from "../../core/run/usage.ts";
import type { Run } from "../../core/run/run.ts";
import type { Agent, Limits, Task } from "../agent.ts";
import type { Launch } from "./run-files.ts";

/** The smallest limits that agents take; with nothing left they end at their first step. */
const LEAST_TURNS = 1;
const LEAST_USD = 0.000_001;
const VERSION_MS = 20 * SECOND_MS;

type Env = Readonly<Record<string, string | undefined>>;

/**
 * The launch record of a run that moves to this machine without one: its agent continues the session here with no
 * options, in this environment. Undefined if the run has no session to continue.
 */
export async function launchFromSession(run: Run, agent: Agent, env: Env): Promise<Launch | undefined> {
  if (run.session === undefined || run.dir === undefined || agent.program === "") return undefined;
  const program = await getProgram(agent.program, env, run.dir);
  const own = Object.fromEntries(Object.entries(env).flatMap(([name, value]) => (value ? [[name, value]] : [])));
  return { agent: agent.name, program, args: [], dir: run.dir, env: own, options: {} };
}

/** Finds the absolute path of a program, as a shell would. */
export async function findProgram(name: string, env: Env, dir: string): Promise<string | undefined> {
  const places = name.includes("/")
    ? [resolve(dir, name)]
    : (env["PATH"] ?? "")
        .split(delimiter)
        .map((folder) => join(isAbsolute(folder) ? folder : resolve(dir, folder), name));
  for (const place of places) {
    if (await isProgram(place)) return place;
  }
  return undefined;
}

/** Like `findProgram`, but refuses if there is none. */
export async function getProgram(name: string, env: Env, dir: string): Promise<string> {
  const found = await findProgram(name, env, dir);
  if (found !== undefined) return found;
  throw new Refusal("not_found", `There is no program "${name}" on the path`, { hint: "Install it, or name its file" });
}

/** The version an agent's program reports; undefined if it reports none. */
export async function findVersion(agent: Agent, launch: Launch): Promise<string | undefined> {
  return agent.program === "" ? undefined : readVersion(launch.program, launch);
}

/** The version any program reports, within a time limit. */
export async function readVersion(
  program: string,
  at: { env: Env; dir: string; limitMs?: number },
): Promise<string | undefined> {
  const options = { timeout: at.limitMs ?? VERSION_MS, env: { ...at.env }, cwd: at.dir };
  const said = await promisify(execFile)(program, ["--version"], options).catch(() => undefined);
  return /\d+\.\d+\.\d+[\w.-]*/.exec(said?.stdout ?? "")?.[0];
}

/** The lower of two limits, each in turns and dollars. */
export function lowerLimits(one: Limits, other: Limits = {}): Limits {
  const lower = (name: keyof Limits): number | undefined => {
    const given = [one[name], other[name]].filter((limit) => limit !== undefined);
    return given.length === 0 ? undefined : Math.min(...given);
  };
  return { maxTurns: lower("maxTurns"), budgetUsd: lower("budgetUsd") };
}

/** The input of an agent definition for a start. */
export function taskOf(
  run: Pick<Run, "id">,
  at: { epoch: number; startDir: string; askd: readonly string[]; liveWindowMs: number; version: string | undefined },
  launch: Launch,
  used?: UsageRow,
): Task {
  const { program, args, prompt, dir, env, options } = launch;
  return {
    runId: run.id,
    ...at,
    program,
    args,
    prompt,
    dir,
    env,
    token: undefined,
    promptTool: options.promptTool,
    resumeWith: options.resumeWith,
    liveWindowMs: options.liveWindowMs ?? at.liveWindowMs,
    // Agents count from each start; the limits are those of the run.
    maxTurns: options.maxTurns && Math.max(LEAST_TURNS, options.maxTurns - (used?.turns ?? 0)),
    budgetUsd: options.budgetUsd && Math.max(LEAST_USD, options.budgetUsd - (used?.costUsd ?? 0)),
  };
}

async function isProgram(file: string): Promise<boolean> {
  return access(file, constants.X_OK).then(
    () => true,
    () => false,
  );
}
