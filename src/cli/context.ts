import type { Readable, Writable } from "node:stream";
import type { StartedAs } from "../agents/runner/process-launch.ts";
import type { Config } from "../config/load.ts";
import type { Entry } from "../core/changes.ts";
import type { Instant } from "../core/instant.ts";
import type { Rules } from "../core/rules.ts";
import type { Engine } from "../engine/engine.ts";
import type { JsonChoice } from "./json.ts";
import type { RawTerminal } from "./terminal/raw-terminal.ts";
import type { Store } from "../store/store.ts";
import type { OwnStorePlace, Place } from "./paths.ts";
import type { Style } from "./terminal/terminal.ts";

/** Somewhere to write to: programs read stdout, people read stderr. */
export interface Output {
  write(text: string): void;
  isTty: boolean;
  columns: number | undefined;
  rows?: number | undefined;
}

/** Where a person or a program may write to us. */
export interface Input {
  isTty: boolean;
  /** Everything until the end, at most that many bytes. */
  readAll(limitBytes: number): Promise<string>;
  /** One line that a person types; undefined at the end of input. */
  readLine(signal?: AbortSignal): Promise<string | undefined>;
}

/** What a command starts another program with. */
export interface Child {
  argv: readonly string[];
  env?: Readonly<Record<string, string>>;
  /** Where it works, if not here. */
  cwd?: string;
  /** What it reads on stdin, in place of the terminal. */
  input?: string;
  /** `inherit` gives it the terminal; `pipe` collects what it prints and shows its stderr line by line. */
  stdio: "inherit" | "pipe";
  onLine?: (line: string) => void;
}

/** A program that goes on by itself. */
export interface Detached {
  argv: readonly string[];
  /** Its whole environment. */
  env: Readonly<Record<string, string>>;
  /** Where it writes to. */
  log: string;
}

/** Where a server is to listen, and under which names. */
export interface ServeRequest {
  port: number;
  host?: string;
  names: readonly string[];
  /** People reach it by https. */
  isSecure: boolean;
  /** Hears what it logs; else that goes to stderr. */
  onLog?: (line: string) => void;
}

/** A server that runs in this process. */
export interface Serving {
  url: string;
  /** Does what falls due until stopped. */
  work(): Promise<void>;
  close(): Promise<void>;
}

/** Somebody waits for what a server will say: its restart is ridden out, once it was there or from the first call on. */
export interface Waits {
  /** Aborts when they do not want to wait any more. */
  until: AbortSignal;
  isAtOnce?: boolean;
}

/** An engine; one on a store of its own also knows how many agents it follows, and what workers say of themselves. */
export type OpenedEngine = Engine & { carried?(): number; listWorkerRows?(): Promise<Entry[]> };

/** Everything a command may touch. */
export interface Context {
  stdout: Output;
  stderr: Output;
  stdin: Input;
  env: Readonly<Record<string, string | undefined>>;
  /** The runs that the processes above this one were started for. */
  runsAbove(): readonly string[];
  /** Tells a process from a later one of the same id; nothing where processes cannot be looked at. */
  startOf(pid: number): string | undefined;
  /** What a process of this user was started with; undefined where that cannot be seen. */
  findStartedAs(pid: number): Promise<StartedAs | undefined>;
  /** The number of this process. */
  pid: number;
  /** Tells a process of this user to end; says whether it was there. */
  tellToEnd(pid: number): boolean;
  cwd: string;
  /** The name of this user on this machine. */
  user: string;
  /** The lasting id of this machine, as its runs have it. */
  host(): Promise<string>;
  /** The same, kept from now on: for whoever writes it into a run. */
  keepHost(): Promise<string>;
  /** How far the reader's clock is ahead of UTC, in milliseconds. */
  ahead(at: Instant): number;
  style: Style;
  place: Place;
  /** What files and variables set; the rules have it already. */
  config: Config;
  rules: Rules;
  json: JsonChoice | undefined;
  /** May a person be asked something here? */
  mayPrompt: boolean;
  isQuiet: boolean;
  /** Pages are read aloud: words for icons, nothing drawn, nothing that moves. */
  isAccessible: boolean;
  now(): Instant;
  /**
   * The engine on the store of this place; opened when first used, with `runs` as one that starts agents. What is due
   * is done first, unless the caller is only reading.
   */
  engine(options?: { runs?: boolean; isReading?: true; waits?: Waits }): Promise<OpenedEngine>;
  /** The store itself, for what is about all of it; whoever opens it closes it. */
  openStore(place: OwnStorePlace): Promise<Store>;
  /** Which schema the store has, without changing it, and which one this program knows; 0 where there is no store. */
  findSchema(place: OwnStorePlace): Promise<{ schema: number; known: number }>;
  /** The same in another directory, with everything of askd below it, whatever the environment says. */
  inHome(dir: string): Promise<Context>;
  /** Serves the store of this place over HTTP. */
  serve(request: ServeRequest): Promise<Serving>;
  /** Where the server of this place is, if there is one. */
  findServer(): Promise<string | undefined>;
  /** Aborts when the person interrupts, or by other signals; until it is asked for, each ends the program at once. */
  interrupt(also?: readonly NodeJS.Signals[]): AbortSignal;
  /** The bare streams of the process, for commands that speak a protocol on them. */
  streams(): { input: Readable; output: Writable };
  /** The terminal of the person, key by key. */
  openTerminal(): Promise<RawTerminal>;
  readFile(path: string): Promise<string>;
  /** Writes a file and the folders above it. */
  writeFile(path: string, text: string): Promise<void>;
  /** Says whether it was there. */
  removeFile(path: string): Promise<boolean>;
  homeDir: string;
  platform: NodeJS.Platform;
  /** Runs this program again, or another one, and returns its exit code and what it printed. */
  runChild(child: Child): Promise<{ exitCode: number; stdout: string }>;
  /** Starts a program that outlives this one. */
  detach(child: Detached): Promise<void>;
  /** Takes the lock of a file until it is given back or this process ends; nothing if another process has it. */
  lock(file: string): Promise<(() => void) | undefined>;
  isLocked(file: string): Promise<boolean>;
  /** How to start this very program as a child. */
  self: readonly string[];
  /** How a person types its name here. */
  program: string;
  pause(ms: number): Promise<void>;
}
