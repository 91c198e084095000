import type { OpenChannel } from "../core/channel/channel.ts";
import type { Readable, Writable } from "node:stream";
import type { AgentRegistry } from "../agents/registry.ts";
import type { ProcessLaunch } from "../agents/runner/process-launch.ts";
import type { Config } from "../config/load.ts";
import type { Instant } from "../core/instant.ts";
import type { Run } from "../core/run/run.ts";
import type { Rules } from "../core/rules.ts";
import type { Engine } from "../engine/engine.ts";
import type { LocalEngine } from "../engine/local-engine.ts";
import type { JsonChoice } from "./json.ts";
import type { RawTerminal } from "./terminal/raw-terminal.ts";
import type { Store } from "../store/store.ts";
import type { OwnStorePlace, StorePaths } from "./paths.ts";
import type { Style } from "./terminal/terminal.ts";

/** An output stream: programs read stdout, people read stderr. */
export interface Output {
  write(text: string): void;
  isTty: boolean;
  columns: number | undefined;
  rows?: number | undefined;
}

/** The standard input. */
export interface Input {
  isTty: boolean;
  /** Reads to the end; refuses more than this many bytes. */
  readAll(limitBytes: number): Promise<string>;
  /** Reads a redirected input to its end; undefined at a terminal, and where nothing comes soon. */
  readPiped?(limitBytes: number): Promise<string | undefined>;
  /** Reads one line, shown while it is typed unless it is hidden; undefined at the end of input. */
  readLine(signal?: AbortSignal, echo?: "hidden"): Promise<string | undefined>;
}

/** A child process to run to its end. */
export interface Child {
  argv: readonly string[];
  env?: Readonly<Record<string, string>>;
  /** Its working directory, if not this one. */
  cwd?: string;
  /** Its stdin, instead of the terminal. */
  input?: string;
  /** `inherit` passes the terminal on; `pipe` collects stdout and passes stderr to `onLine`. */
  stdio: "inherit" | "pipe";
  onLine?: (line: string) => void;
}

/** A child process that outlives this one. */
export interface Detached {
  argv: readonly string[];
  /** Its complete environment. */
  env: Readonly<Record<string, string>>;
  /** The file for its stdout and stderr. */
  log: string;
}

/** The address and names of a server. */
export interface ServeRequest {
  port: number;
  host?: string;
  names: readonly string[];
  /** A proxy in front of it terminates TLS. */
  isSecure: boolean;
  /** Receives its log lines; without it they go to stderr. */
  onLog?: (line: string) => void;
}

/** A server that runs in this process. */
export interface ServingHandle {
  url: string;
  /** Its engine on the store; another one would take more connections of a database. */
  engine: Engine;
  /** Runs due jobs until stopped. */
  work(): Promise<void>;
  close(): Promise<void>;
}

/** Retries while the server restarts: after the first successful call, or from the start. */
export interface Waits {
  /** Aborts the waiting. */
  until: AbortSignal;
  isAtOnce?: boolean;
}

/** An engine. A local one also knows the agents that it follows and the state of its workers. */
export type OpenedEngine = Engine &
  Partial<Pick<LocalEngine, "carried" | "listWorkerRows" | "recordServiceStop" | "inside">>;

/** Everything a command may touch. */
export interface Context {
  stdout: Output;
  stderr: Output;
  stdin: Input;
  env: Readonly<Record<string, string | undefined>>;
  /** The agents that can be started; loaded when first asked for. */
  agents(): Promise<AgentRegistry>;
  /** The runs that the parent processes belong to. */
  runsAbove(): readonly string[];
  /** The runs in whose agent's session this process is, also after that agent has ended. */
  runsOfSession(stateDir: string): Promise<readonly string[]>;
  /** Says whether this process is in the session of an agent that was started for this run. */
  isInSessionOf(run: string, stateDir: string): Promise<boolean>;
  /** Says whether all processes above this one are seen. */
  seesAllAbove(): Promise<boolean>;
  /** Says whether the live agent of that run may be above this process without being seen. */
  mayHide(run: Pick<Run, "id" | "startedAt">, stateDir: string): Promise<boolean>;
  /** Says whether this process leads a session of its own, as those that askd starts in the background do. */
  isSessionLeader(): boolean;
  /** When a process started, which tells it from a later one with the same id; undefined if unknown. */
  startOf(pid: number): string | undefined;
  /** The command line and environment of a process of this user; undefined if it cannot be read. */
  findStartedAs(pid: number): Promise<ProcessLaunch | undefined>;
  /** The id of this process. */
  pid: number;
  /** Sends SIGTERM to a process of this user; returns whether it existed. */
  tellToEnd(pid: number): boolean;
  cwd: string;
  /** The name of this user on this machine. */
  user: string;
  /** The permanent id of this machine, as its runs record it. */
  host(): Promise<string>;
  /** The same, saved if it is new, for writing it into a run. */
  keepHost(): Promise<string>;
  /** How far the reader's clock is ahead of UTC, in milliseconds. */
  ahead(at: Instant): number;
  style: Style;
  place: StorePaths;
  /** The settings from files and the environment. */
  config: Config;
  rules: Rules;
  json: JsonChoice | undefined;
  /** Whether prompts are allowed here. */
  mayPrompt: boolean;
  isQuiet: boolean;
  /** For screen readers: words instead of icons, no drawing, no animation. */
  isAccessible: boolean;
  now(): Instant;
  /**
   * The engine on the store of this place; opened when first used, with `runs` as one that starts agents, and then or
   * with `isDelivering` as one that brings messages to people. What is due is done first, unless the caller is only
   * reading.
   */
  engine(options?: { runs?: boolean; isDelivering?: boolean; isReading?: true; waits?: Waits }): Promise<OpenedEngine>;
  /** Opens the store itself; the caller closes it. */
  openStore(place: OwnStorePlace): Promise<Store>;
  /** The schema version of the store, without migrating it, and the one this program knows; 0 without a store. */
  findSchema(place: OwnStorePlace): Promise<{ schema: number; known: number }>;
  /** The same context with the settings as they are in the files now. */
  reload(): Promise<Context>;
  /** The same context with `dir` as the home of askd, whatever the environment says. */
  inHome(dir: string): Promise<Context>;
  /** Serves the store over HTTP. */
  serve(request: ServeRequest): Promise<ServingHandle>;
  /** The address of the running server, if any. */
  findServer(): Promise<string | undefined>;
  /** Opens the configured channel of that name. */
  openChannel: OpenChannel;
  /**
   * Aborts on Ctrl-C or other signals. Until a command calls this, each signal ends the process at once. With `withinMs`
   * the process ends that long after the signal, whatever it waits for.
   */
  interrupt(also?: readonly NodeJS.Signals[], withinMs?: number): AbortSignal;
  /**
   * The raw stdin and stdout, for commands that speak a protocol on them, and the requests on them that were replied to
   * before the program was loaded.
   */
  streams(): { input: Readable; output: Writable; answered?: Set<string | number> | undefined };
  /** The terminal in raw mode. */
  openTerminal(): Promise<RawTerminal>;
  readFile(path: string): Promise<string>;
  /** Writes a file and creates its folders. */
  writeFile(path: string, text: string): Promise<void>;
  /** Returns whether it existed. */
  removeFile(path: string): Promise<boolean>;
  homeDir: string;
  platform: NodeJS.Platform;
  /** Runs a program to its end and returns its exit code and stdout. */
  runChild(child: Child): Promise<{ exitCode: number; stdout: string }>;
  /** Starts a program that outlives this one. */
  detach(child: Detached): Promise<void>;
  /** Locks a file until it is released or this process ends; undefined if another process holds the lock. */
  lock(file: string): Promise<(() => void) | undefined>;
  isLocked(file: string): Promise<boolean>;
  /** The command line that starts this program. */
  self: readonly string[];
  /** The name that a person types here to start this program. */
  program: string;
  pause(ms: number): Promise<void>;
}
