import type { RunId } from "../../core/id.ts";
import type { Run } from "../../core/run/run.ts";
import type { IssuePlace, IssueTracker } from "../../core/workflow/issue-tracker.ts";

/** The working tree of a run. */
export interface RunTree {
  dir: string;
  /** The branch of the run alone; undefined if the project is not in git. */
  branch: string | undefined;
}

/** A program that a step runs to its end, without a shell. */
export interface StepProgram {
  argv: readonly string[];
  dir: string;
  env: Readonly<Record<string, string>>;
  input?: string | undefined;
  signal: AbortSignal;
}

/** How a program ended: by itself, or because its signal was aborted. */
export interface ProgramResult {
  exitCode: number;
  /** The end of its output; longer output is cut at the beginning. */
  stdout: string;
  stderr: string;
}

export interface HttpRequest {
  url: string;
  method: string;
  headers: Readonly<Record<string, string>>;
  body?: string | undefined;
  signal: AbortSignal;
}

export interface HttpResponse {
  status: number;
  headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  body: string;
}

/** An MCP server of the settings: a program of this machine, or an address. */
export interface McpServerSettings {
  name: string;
  command?: readonly string[] | undefined;
  env?: Readonly<Record<string, string>> | undefined;
  url?: string | undefined;
  headers?: Readonly<Record<string, string>> | undefined;
}

/** An agent that a step starts as a run of its own. */
export interface AgentStart {
  runId: RunId;
  agent: string;
  prompt: string;
  dir: string;
  budgetUsd?: number | undefined;
}

/** Everything outside the store that steps act on; the parts of askd that have it hand it over. */
export interface StepOutside {
  /** Issues and pull requests; undefined if no service is configured. */
  openTracker(): Promise<IssueTracker | undefined>;
  /** The run's own working tree, made when it is first needed. */
  openTree(run: Run): Promise<RunTree>;
  /** Commits everything in the tree and pushes its branch; false if nothing differs from where the run began. */
  publishTree(tree: RunTree, message: string): Promise<boolean>;
  runProgram(program: StepProgram): Promise<ProgramResult>;
  /** Sends a request by the rules for addresses that somebody gave us. */
  request(request: HttpRequest): Promise<HttpResponse>;
  /** The most that the settings let an agent cost, in US dollars. */
  findAgentBudget(agent: string): number | undefined;
  /** Keeps what a worker needs to start an agent; returns the agent's own name. */
  prepareAgent(start: AgentStart): Promise<{ agent: string }>;
  mcpServers: readonly McpServerSettings[];
  /** The environment of programs that steps start. */
  env: Readonly<Record<string, string>>;
}

/** The step that a tool does. */
export interface StepContext {
  run: Run;
  /** Names this step of this run outside: what it did there is found by it. */
  key: string;
  issue: IssuePlace | undefined;
  outside: StepOutside;
  /** Ends when the step has to stop: its time is over, or the run was cancelled. */
  signal: AbortSignal;
  openTree(): Promise<RunTree>;
}

/** Names the run in the environment of a program: another worker ends it by that if this one dies. */
export function runVariables({ id, epoch }: Pick<Run, "id" | "epoch">): { ASKD_RUN: string; ASKD_EPOCH: string } {
  return { ASKD_RUN: id, ASKD_EPOCH: String(epoch) };
}

/** Does one step and returns its output. */
export interface StepTool {
  /** Doing it again after a crash does no harm: it looks for what it did before. */
  isRepeatable: boolean;
  /** The keys of its input; undefined for a tool of an MCP server. */
  keys?: readonly string[];
  run(input: Readonly<Record<string, unknown>>, context: StepContext): Promise<unknown>;
}

/** A step that could not be done, with a word for programs. Its texts may contain secrets. */
export class StepError extends Error {
  readonly code: string;
  /** Everything that a program printed, as far as it is known. */
  readonly output: string | undefined;

  constructor(code: string, message: string, options: ErrorOptions & { output?: string } = {}) {
    super(message, options);
    this.name = "StepError";
    this.code = code;
    this.output = options.output;
  }
}
