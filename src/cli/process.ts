import { homedir, userInfo } from "node:os";
import { dirname } from "node:path";
import type { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { fstatSync, writeSync, readFileSync } from "node:fs";
import { isatty } from "node:tty";
import { pidInProc } from "../agents/process/pid-in-proc.ts";
import type { AnchorSettings } from "../config/anchor.ts";
import type { ConfiguredChannel } from "../config/channel-list.ts";
import type { Channel } from "../core/channel/channel.ts";
import type { SignedHook } from "../core/answer/hook-answer.ts";
import type { ChannelSettings } from "../core/channel/channel-settings.ts";
import type { WorkflowSettings } from "../config/workflow.ts";
import type { Rules } from "../core/rules.ts";
import type { Patience } from "../engine/remote/remote-call.ts";
import { EXIT_CODE } from "../core/exit-code.ts";
import { findProgram } from "./program.ts";
import type { Context, Input, OpenedEngine, Output, ServeRequest, ServingHandle } from "./context.ts";
import type { StorePlace } from "./paths.ts";
import { oneLine } from "./view/sanitise.ts";

/** The process that a command runs in, as the command line sees it. */
export interface ProcessWorld extends Omit<
  Context,
  | "style"
  | "place"
  | "config"
  | "rules"
  | "json"
  | "mayPrompt"
  | "isQuiet"
  | "isAccessible"
  | "now"
  | "engine"
  | "inHome"
  | "reload"
  | "serve"
  | "findServer"
  | "host"
  | "keepHost"
  | "openChannel"
> {
  nowMs(): number;
  /** The permanent id of this machine from its files: as found, or saved if it is new. */
  hostIn(stateDir: string, how: "found" | "kept"): Promise<string>;
  /** With `stateDir` the engine also starts agents; `machineDir` holds the id of this machine. */
  openEngine(
    store: StorePlace,
    rules: Rules,
    options?: {
      stateDir?: string;
      machineDir?: string;
      patience?: Patience;
      anchor?: AnchorSettings | undefined;
      /** Set if this process brings messages to people. */
      reach?: ChannelSettings | undefined;
      /** Servers, agents and secrets of workflows, where agents are started. */
      workflows?: WorkflowSettings | undefined;
    },
  ): Promise<OpenedEngine>;
  openServer(
    at: {
      store: StorePlace;
      rules: Rules;
      runtimeDir: string;
      stateDir: string;
      channels: ConfiguredChannel[];
      hooks: SignedHook[];
      anchor?: AnchorSettings | undefined;
      reach?: ChannelSettings | undefined;
      workflows: WorkflowSettings;
    },
    request: ServeRequest,
  ): Promise<ServingHandle>;
  findServer(runtimeDir: string): Promise<string | undefined>;
  /** Opens a channel by these settings. */
  openChannelOf(settings: ChannelSettings, rules: Rules, name: string): Promise<Channel>;
}

/** Requests that `bin/askd` read and replied to before the program was loaded. */
export interface FirstExchange {
  /** Everything that came and comes in, from the first byte on; nothing is replied to before the program any more. */
  takeInput(): Readable;
  answered: Set<string | number>;
}

const MOST = 64;
/** Positions in /proc/<pid>/stat, counted after the name. */
const PARENT_FIELD = 1;
const SESSION_FIELD = 3;
const START_FIELD = 19;
const LONGEST_ENVIRON = 4 * 1024 * 1024;

/** The real process. Nothing else in the command line touches it. */
export function contextOfProcess(process: NodeJS.Process, first?: FirstExchange): ProcessWorld {
  const bin = fileURLToPath(new URL("../bin/askd", import.meta.url));
  return {
    stdout: outputTo(process, "stdout"),
    stderr: outputTo(process, "stderr"),
    stdin: inputFrom(process),
    env: process.env,
    agents: async () => (await import("../agents/agents.ts")).AGENTS,
    ...ancestryOf(),
    startOf: (pid) => startOf(pid),
    findStartedAs: async (pid) => (await import("../agents/runner/process-launch.ts")).findProcessLaunch(pid),
    pid: process.pid,
    tellToEnd: (pid) => tellToEnd(process, pid),
    cwd: process.cwd(),
    user: userName(process),
    hostIn: async (stateDir, how) => {
      const { findMachineId, ensureMachineId } = await import("../agents/runner/machine-id.ts");
      return how === "kept" ? ensureMachineId(stateDir) : findMachineId(stateDir);
    },
    ahead: (at) => -new Date(at).getTimezoneOffset() * 60_000,
    homeDir: homedir(),
    platform: process.platform,
    nowMs: Date.now,
    self: [process.execPath, bin],
    program: findProgram({ env: process.env, cwd: process.cwd(), platform: process.platform, bin }),
    pause: (ms) => new Promise((resolve) => setTimeout(resolve, ms).unref()),
    interrupt: (also = [], withinMs) => interruptOf(process, also, withinMs),
    streams: () => ({
      input: first?.takeInput() ?? process.stdin,
      output: streamOf(process, "stdout"),
      answered: first?.answered,
    }),
    openTerminal: async () => (await import("./terminal/raw-terminal.ts")).openTerminal(process),
    ...FILES,
    detach: async (child) => (await import("./terminal/child-process.ts")).detach(child),
    lock: async (file) => (await import("../agents/process/lock.ts")).takeLock(file),
    isLocked: async (file) => (await import("../agents/process/lock.ts")).isLocked(file),
    runChild: async (child) => (await import("./terminal/child-process.ts")).runChild(child, process.env),
    openEngine: async (store, rules, { stateDir, workflows, ...options } = {}) =>
      (await import("../app.ts")).openEngine({
        ...options,
        store,
        rules,
        runs: stateDir === undefined ? undefined : { ...runsOf(process, bin, stateDir), workflows },
        onCall:
          process.env["ASKD_DEBUG"] === "api"
            ? (line) => void process.stderr.write(`api: ${oneLine(line)}\n`)
            : undefined,
      }),
    openServer: async (at, request) =>
      (await import("../app.ts")).openServer(
        {
          ...at,
          runs: { ...runsOf(process, bin, at.stateDir, request.onLog), workflows: at.workflows },
          user: userName(process),
          writeLog: request.onLog ?? ((line) => void process.stderr.write(line)),
          isVerbose: Boolean(process.env["ASKD_DEBUG"]),
          env: process.env,
        },
        request,
      ),
    openStore: async (place) => (await import("../store/open-store.ts")).openStore(place),
    findSchema: async (place) => (await import("../store/open-store.ts")).findSchema(place),
    findServer: async (runtimeDir) => (await import("../app.ts")).findServer(runtimeDir),
    openChannelOf: async (settings, rules, name) => (await import("../app.ts")).openChannels(settings, rules)(name),
  };
}

/** Loaded on use: most commands open no file but the store. */
const FILES: Pick<ProcessWorld, "readFile" | "writeFile" | "removeFile"> = {
  readFile: async (path) => {
    const { readFile: readBytes } = await import("node:fs/promises");
    const bytes = await readBytes(path); // a file that is not there needs no more of the program
    const { decodeText } = await import("./terminal/decode-text.ts");
    return decodeText(bytes, path);
  },
  writeFile: async (path, text) => {
    const { mkdir, writeFile } = await import("node:fs/promises");
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, text);
  },
  removeFile: async (path) => {
    const { rm, stat } = await import("node:fs/promises");
    const isThere = await stat(path).then(
      () => true,
      () => false,
    );
    await rm(path, { force: true });
    return isThere;
  },
};

/** The options of an engine that starts agents, with this program for their hooks and servers. */
function runsOf(process: NodeJS.Process, bin: string, stateDir: string, onLog?: (line: string) => void) {
  const write = onLog ?? ((line: string) => void process.stderr.write(line));
  return {
    stateDir,
    askd: [process.execPath, bin],
    env: process.env,
    note: (run: string, text: string) => write(`${run}: ${oneLine(text)}\n`),
  };
}

// Node creates a stream on first access and loads its network library for it; plain text needs none.
function outputTo(process: NodeJS.Process, name: "stdout" | "stderr"): Output {
  const descriptor = name === "stdout" ? 1 : 2;
  return {
    write: (text) => writeTo(descriptor, text, (rest) => void streamOf(process, name).write(rest)),
    get isTty() {
      return isTerminal(descriptor);
    },
    get columns() {
      return process[name].columns ?? columnsIn(process.env);
    },
    get rows() {
      return process[name].rows;
    },
  };
}

/** The width in COLUMNS, for output that is not a terminal. */
function columnsIn({ COLUMNS: text = "" }: NodeJS.ProcessEnv) {
  return /^[1-9]\d{0,4}$/.test(text) ? Number(text) : undefined;
}

/** The stream of a descriptor. A closed pipe, as with `head`, is not an error. */
function streamOf(process: NodeJS.Process, name: "stdout" | "stderr") {
  const stream = process[name];
  if (stream.listenerCount("error") > 0) return stream;
  return stream.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") throw error;
    if (process.listenerCount("SIGPIPE") === 0) process.exit(); // else the command cleans up first
  });
}

function inputFrom(process: NodeJS.Process): Input {
  return {
    get isTty() {
      return isTerminal(0);
    },
    readAll: async (limitBytes) => (await import("./terminal/child-process.ts")).readAll(process.stdin, limitBytes),
    readPiped: async (limitBytes) =>
      isTerminal(0) ? undefined : (await import("./terminal/child-process.ts")).readPiped(process.stdin, limitBytes),
    readLine: async (signal, echo) => {
      const { readHiddenLine, readLine } = await import("./terminal/child-process.ts");
      return (echo === "hidden" ? readHiddenLine : readLine)(process.stdin, process.stderr, signal);
    },
  };
}

function tellToEnd(process: NodeJS.Process, pid: number) {
  try {
    const isThere = process.kill(pid, "SIGTERM");
    process.kill(pid, "SIGCONT"); // a stopped process gets no signal before it continues
    return isThere;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ESRCH") return false;
    throw error; // it belongs to another user
  }
}

/** The user's name; in a container the user id may have none. */
function userName(process: NodeJS.Process) {
  try {
    return userInfo().username;
  } catch {
    return process.env["USER"] ?? `uid-${process.getuid?.() ?? 0}`;
  }
}

/** The first interrupt aborts, so that the command can clean up; a second one ends the process. */
function interruptOf(process: NodeJS.Process, also: readonly NodeJS.Signals[], withinMs: number | undefined) {
  const controller = new AbortController();
  const end = (name: NodeJS.Signals) => {
    controller.abort(name);
    if (withinMs !== undefined) setTimeout(() => process.exit(EXIT_CODE.error), withinMs).unref();
  };
  for (const name of ["SIGINT", "SIGTERM"] as const) process.once(name, () => end(name));
  for (const name of also) process.on(name, () => controller.abort(name));
  return controller.signal;
}

/** Says whether a descriptor is a terminal; checks the file type first, which is cheap. */
export function isTerminal(descriptor: number): boolean {
  try {
    return fstatSync(descriptor).isCharacterDevice() && isatty(descriptor);
  } catch {
    return false; // it was closed before this process started
  }
}

/** Writes a text synchronously; passes the bytes that cannot be written now to `later`. */
export function writeTo(descriptor: number, text: string, later: (rest: Buffer) => void): void {
  const bytes = Buffer.from(text, "utf8");
  for (let done = 0; done < bytes.length;) {
    try {
      done += writeSync(descriptor, bytes, done);
    } catch (error) {
      const code = error instanceof Error && "code" in error ? error.code : undefined;
      if (code !== "EAGAIN" && code !== "EPIPE") throw error;
      return later(bytes.subarray(done)); // the stream waits until it can write, and handles a closed pipe
    }
  }
}

/** The runs that a process belongs to. */
function ancestryOf(): Pick<
  Context,
  "runsAbove" | "runsOfSession" | "isInSessionOf" | "isSessionLeader" | "seesAllAbove" | "mayHide"
> {
  const pid = pidInProc();
  const loadView = () => import("../agents/process/process-view.ts");
  const load = () => import("../agents/process/agent-session.ts");
  return {
    seesAllAbove: async () => (await loadView()).seesAllAbove(),
    mayHide: async (run, stateDir) => (await loadView()).mayHide(run, stateDir),
    runsAbove: () => runsAbove(pid),
    runsOfSession: async (stateDir) => (await load()).runsOfSession(pid, stateDir),
    isInSessionOf: async (run, stateDir) => (await load()).isInSessionOf(pid, run, stateDir),
    isSessionLeader: () => Number(fieldsOf(pid, readFile)?.[SESSION_FIELD]) === pid,
  };
}

/**
 * The runs that the parent processes belong to, nearest first: an agent that removes `ASKD_RUN` from
 * its shell still has it itself. Empty if processes cannot be inspected.
 */
export function runsAbove(pid: number, readProc: (path: string) => string | undefined = readFile): string[] {
  const runs = new Set<string>();
  let above = parentOf(pid, readProc);
  for (let count = 0; count < MOST && above !== undefined && above > 1; count += 1) {
    const environ = readProc(`/proc/${above}/environ`);
    const run = /(?:^|\0)ASKD_RUN=([^\0]+)/.exec(environ?.slice(0, LONGEST_ENVIRON) ?? "")?.[1];
    if (run !== undefined) runs.add(run);
    above = parentOf(above, readProc);
  }
  return [...runs];
}

/** The start time of a process, only to tell it from a later one with the same id. */
function startOf(pid: number, readProc: (path: string) => string | undefined = readFile) {
  const ticks = fieldsOf(pid, readProc)?.[START_FIELD];
  const boot = readProc("/proc/sys/kernel/random/boot_id")?.trim();
  return ticks && boot ? `${boot}:${ticks}` : undefined;
}

/** A program's name may contain brackets: the fields after the last one have fixed positions. */
function fieldsOf(pid: number, readProc: (path: string) => string | undefined) {
  const stat = readProc(`/proc/${pid}/stat`);
  return stat?.slice(stat.lastIndexOf(")") + 2).split(" ");
}

function parentOf(pid: number, readProc: (path: string) => string | undefined) {
  const parent = Number(fieldsOf(pid, readProc)?.[PARENT_FIELD]);
  return Number.isInteger(parent) ? parent : undefined;
}

function readFile(path: string) {
  try {
    return readFileSync(path, "latin1");
  } catch {
    return undefined; // gone, somebody else's, or a system without /proc
  }
}
