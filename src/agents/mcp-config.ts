import { createHash } from "node:crypto";
import { join } from "node:path";
import { SECOND_MS } from "../core/instant.ts";
import type { Start, Task } from "./agent.ts";

/** The name of our MCP server in the agents' configurations. */
export const SERVER = "askd";
/** The tools that it offers. */
export const TOOLS = ["ask_human", "check_answer", "cancel_question"] as const;
/** Names the version of an agent to our hooks. */
export const AGENT_VERSION = "ASKD_AGENT_VERSION";
const RUN_FILE = "run";
/** The file beside it that is empty until the agent has listed the tools of our server. */
export const LISTED_END = ".tools";
export const LISTED_FILE = `${RUN_FILE}${LISTED_END}`;
/** How much longer an agent waits for a call than the call is held. */
const PATIENCE_S = 60;

/** Variables that say where askd keeps what belongs to it; agents that scrub the environment are told to pass them. */
export const OWN_VARIABLES: readonly string[] = [
  "ASKD_RUN",
  "ASKD_EPOCH",
  "ASKD_HOME",
  "ASKD_STORE",
  "ASKD_URL",
  "ASKD_ON_TIMEOUT",
  "ASKD_MAX_QUESTIONS",
  "ASKD_LIVE_WINDOW",
  "XDG_CONFIG_HOME",
  "XDG_DATA_HOME",
  "XDG_STATE_HOME",
  "XDG_RUNTIME_DIR",
];

/** The command of the MCP server that speaks for this run, with a tool for permission prompts where the agent uses one. */
export function serverArgv(task: Task, promptTool?: string): string[] {
  const hold = `${Math.ceil(task.liveWindowMs / SECOND_MS)}s`;
  const tools = promptTool === undefined ? [] : ["--tools", [...TOOLS, promptTool].join(",")];
  return [...task.askd, "mcp", "--hold", hold, ...tools, "--run-file", join(task.startDir, RUN_FILE)];
}

/** How long an agent has to wait for a call of ours, in seconds. */
export function patienceSeconds(task: Task): number {
  return Math.ceil(task.liveWindowMs / SECOND_MS) + PATIENCE_S;
}

/** The common part of every start: the run in the environment, and in a file for agents that scrub it. */
export function commonStart(task: Task): Pick<Start, "env" | "files"> {
  const run = { ASKD_RUN: task.runId, ASKD_EPOCH: String(task.epoch) };
  // For servers and hooks of ours that the user's own settings start, and for agents that a command starts.
  const window = `${Math.ceil(task.liveWindowMs / SECOND_MS)}s`;
  const version = task.version !== undefined && { [AGENT_VERSION]: task.version };
  const env = { ...run, ...version, ASKD_LIVE_WINDOW: window };
  const told = { ...run, ...(task.token !== undefined && { ASKD_TOKEN: task.token }) };
  const lines = Object.entries(told).map(([name, value]) => `${name}=${value}\n`);
  return { env, files: [{ name: RUN_FILE, text: lines.join("") }] };
}

/** The same for an agent that is given our server: whether it lists the tools is noted. */
export function startWithServer(task: Task): Pick<Start, "env" | "files"> {
  const { env, files } = commonStart(task);
  return { env, files: [...files, { name: LISTED_FILE, text: "" }] };
}

/** A session id of our choice, the same for the same start of a run. */
export function chooseSession(task: Task): string {
  const hash = createHash("sha256").update(`${task.runId}/${task.epoch}`).digest("hex");
  return `${hash.slice(0, 8)}-${hash.slice(8, 12)}-4${hash.slice(13, 16)}-8${hash.slice(17, 20)}-${hash.slice(20, 32)}`;
}
