import type { Instant } from "../core/instant.ts";
import type { RunResult } from "../core/run/run-lifecycle.ts";

/** The variables of a process. */
export type Env = Readonly<Record<string, string | undefined>>;

/** An event in one line of an agent's output. A line may hold several, or none that is known. */
export type AgentEvent =
  /** The agent's own handle for resuming, and what it can call, where it says so. */
  | { kind: "session"; session: string; tools?: readonly string[] }
  /** Words of the model, whole or the next piece of them. Only these are searched for a marker. */
  | { kind: "text"; text: string; isPiece: boolean }
  /** It called a tool; what it said before is no longer its last word. */
  | { kind: "called"; name: string; callId: string }
  /** The model was shown the result of a call. */
  | { kind: "shown"; callId: string; isError: boolean; text: string }
  /** It stopped at this call of its own question tool and can be resumed with the answer as the call's result. */
  | { kind: "deferred"; callId: string; name: string; input: unknown }
  | { kind: "usage"; usage: Usage }
  /** The model spoke, in the message of that name; its usage follows later. */
  | { kind: "turn"; message: string }
  /** Its account may not use the model until then. */
  | { kind: "limit"; endsAt: Instant }
  /** Its own report of the end; more lines may follow. Without a text, what it said before are its last words. */
  | { kind: "ended"; result: RunResult; text?: string; structured?: unknown }
  /** Something worth a line in the log. */
  | { kind: "warning"; text: string };

/** Consumption of an agent. `session` counts from the session's first start, over all resumes; `process` from this one's. */
export interface Usage {
  since: "session" | "process" | "line";
  turns?: number;
  costUsd?: number;
  inputTokens?: number;
  outputTokens?: number;
}

/** The facts of a run from which an agent builds its command line. */
export interface Task {
  runId: string;
  epoch: number;
  /** The directory of the files that this start writes for the agent, 0700. */
  startDir: string;
  /** Where the agent works. */
  dir: string;
  /** The absolute program, and the arguments that the user gave after it, without the prompt (see `parseArgs`). */
  program: string;
  args: readonly string[];
  /** The environment that the agent will have, as far as the user gave it. */
  env: Env;
  /** The user's prompt; undefined if the arguments say it all. */
  prompt: string | undefined;
  /** The version that the program reports; undefined counts as a new one. */
  version: string | undefined;
  /** How to start askd itself, for hooks and MCP servers. */
  askd: readonly string[];
  /** Lets our MCP server speak for this run. */
  token: string | undefined;
  /** Our MCP tool that decides permission prompts, where there is one. */
  promptTool: string | undefined;
  /** For `command`: how it is resumed, with {session} and {message} in its words. */
  resumeWith: readonly string[] | undefined;
  /** How long a question may be held live. */
  liveWindowMs: number;
  maxTurns: number | undefined;
  budgetUsd: number | undefined;
}

/** How a run goes on: by an answer that its own question tool takes, or by a message. */
export type Resume = { by: "call"; callId: string } | { by: "message"; text: string };

/** A process to be started. */
export interface Start {
  argv: readonly string[];
  env: Readonly<Record<string, string>>;
  /** Files that it reads, written 0600 into the run directory before. */
  files: ReadonlyArray<{ name: string; text: string }>;
  /** Prompts and answers go here, never on the command line: they may be long, and others can see that. */
  stdin: string | undefined;
  /** The session that it will have, where we choose it. */
  session: string | undefined;
  /** The output of the user's own command line: its lines as they are, its last words, or its last report. */
  prints: "lines" | "words" | "report";
  /** Additions to the user's own command line, in words, for the log. */
  added: readonly string[];
}

/** The most that a run may use, over all its starts. */
export interface Limits {
  maxTurns?: number | undefined;
  budgetUsd?: number | undefined;
}

/** A user's arguments with the prompt and the limits taken out. */
export interface ParsedArgs {
  args: readonly string[];
  prompt: string | undefined;
  /** The agent's own limits that were among them. */
  limits?: Limits;
}

/** Whether the agent's own record shows that its model was given this. */
export type Witnessed = "given" | "absent" | "unknown";

/** Evidence to search for in the agent's own record. */
export interface Evidence {
  session: string;
  /** Where the agent works, and the environment that says where it keeps its record. */
  dir: string;
  env: Env;
  /** The id of the answer, which stands in the message; or the call whose result it is. */
  answerId: string;
  callId: string | undefined;
}

/** A search of the agent's records for the session that asked, if its client did not name it. */
export interface SessionSearch {
  /** Words that only the result of that ask holds: the id of the question. */
  text: string;
  /** Records that were last written before this do not hold it. */
  sinceMs: number;
  env: Env;
}

/** A session as the agent's own record names it, and where it works. */
export interface RecordedSession {
  session: string;
  dir: string;
}

/** The permission mode of an agent, in its own words. */
export type PermissionMode = string;

/** One coding agent: how its command lines look, what its lines mean, where its record is. It starts nothing. */
export interface Agent {
  name: string;
  /** The name of its program. */
  program: string;
  /**
   * Whether the agent ends by itself after so many turns or dollars, or the runner ends it, which reads them in its
   * lines. askd refuses such limits for other agents.
   */
  limitsKeptBy?: "agent" | "runner";
  /** Finds the prompt among the arguments that a user gave. */
  parseArgs(args: readonly string[]): ParsedArgs;
  /**
   * The options of a session that somebody else started, for resuming it: without the prompt and what chose the session,
   * with the permission mode that it has now where they do not say. Undefined where it could not be resumed.
   */
  optionsToResume?(args: readonly string[], mode: PermissionMode | undefined): readonly string[] | undefined;
  start(task: Task): Start;
  resume(task: Task & { session: string }, how: Resume): Start;
  read(line: string): AgentEvent[];
  witness(evidence: Evidence): Promise<Witnessed>;
  /** Says whether its record has the call as put off and without a result; undefined when that cannot be told. */
  isPutOff?(evidence: Omit<Evidence, "answerId">): Promise<boolean | undefined>;
  /** The sessions whose record holds that text. */
  findSessions?(wanted: SessionSearch): Promise<RecordedSession[]>;
  /** The command with which a person goes on in the agent's own interface. */
  takeover(session: string, program: string): readonly string[];
}

/** The text of a message; an agent that takes no answers by call is never asked to. */
export function messageOf(how: Resume): string {
  if (how.by === "message") return how.text;
  throw new Error(`This agent cannot be resumed at its call ${how.callId}; send a message`);
}
