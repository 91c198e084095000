import { spawn, type ChildProcess } from "node:child_process";
import { constants, closeSync, openSync } from "node:fs";
import { rm } from "node:fs/promises";
import { isAbsolute, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Start } from "../agent.ts";
import { readBootId } from "./boot-id.ts";
import { isProcessAlive, parseStat, type ProcessIdentity } from "./process-identity.ts";
import { createPrivateFile, findFileText, replacePrivateFile } from "./private-file.ts";
import { epochFile, startDirOf, withoutCallerVariables, writeStartFiles } from "../runner/run-files.ts";
import { watchPath } from "./file-watch.ts";

/**
 * The shell script that starts every agent; its arguments are pid file, exit file, boot id, umask and program. The pid
 * file is created exclusively (`set -C`) before the program starts: of concurrent starts only one gets past that line,
 * and a byte on descriptor 3 reports it. Signals are caught, not ignored: the program gets them as usual, and this
 * shell, which waits for it in the foreground, survives signals to the whole group and writes the exit code. Its own
 * messages are discarded, so that the log holds only the program's output. Where /proc exists only builtins are used,
 * so that it works with any PATH.
 */
const WRAPPER = [
  `exec 4>&2 2>/dev/null`,
  `trap : HUP INT QUIT TERM PIPE USR1 USR2`,
  `_askd_pid=$1 _askd_exit=$2 _askd_boot=$3 _askd_umask=$4`,
  `shift 4`,
  `umask 077`,
  `if [ -r /proc/$$/stat ]; then read -r _askd_born </proc/$$/stat`,
  `else _askd_born="$$ $(TZ=UTC LC_ALL=C ps -o lstart= -p $$)"; fi`,
  `set -C`,
  `printf '%s\\n%s\\n' "$_askd_boot" "$_askd_born" >"$_askd_pid" || exit 75`,
  `set +C`,
  `printf w >&3`,
  `exec 3>&-`,
  `umask "$_askd_umask"`,
  `(exec "$@") 2>&4 4>&-`,
  `_askd_code=$?`,
  `umask 077`,
  `printf '%s\\n' "$_askd_code" >"$_askd_exit"`,
].join("\n");

const VOID = "void\n";
const DEFAULT_UMASK = 0o022;
/** How long a process may take between creating the pid file and writing it. */
const HALF_WRITTEN_MS = 1000;
const LOOK_AGAIN_MS = 10;

/** One start of a run's agent. */
export interface ProcessStart {
  runId: string;
  epoch: number;
  /** The directory of the run's files. */
  runDir: string;
  /** The agent's working directory. */
  dir: string;
  /** The caller's environment. */
  env: Readonly<Record<string, string>>;
  umask?: number | undefined;
  start: Start;
}

/** Whether this start won its epoch; if not, another process started it or voided it. */
export type StartResult = { won: true; identity: ProcessIdentity } | { won: false };

/** The state of an epoch's agent. The exit code is unknown if the machine or the wrapper was killed. */
export type AgentProcess =
  | { state: "none" }
  | { state: "void" }
  | { state: "alive"; identity: ProcessIdentity }
  | { state: "dead"; exitCode: number | undefined };

/** Starts an agent in its own session, so that it outlives this process; of concurrent starts of an epoch one wins. */
export async function startProcess(input: ProcessStart): Promise<StartResult> {
  const { runDir, epoch, start } = input;
  const pidFile = epochFile(runDir, epoch, "pid");
  if (!isAbsolute(start.argv[0] ?? "")) throw new Error("an agent is started by its absolute path");
  if ((await findFileText(pidFile)) !== undefined) return { won: false };
  await writeStartFiles(startDirOf(runDir, epoch), start.files);
  if (!(await spawnWrapper(input))) {
    const claim = await readClaim(pidFile);
    if (claim !== undefined && claim !== "none") return { won: false };
    throw new Error(`The agent was not started: ${pidFile} cannot be written`);
  }
  const claim = await readClaim(pidFile);
  if (typeof claim !== "object") throw new Error(`${pidFile} was changed by somebody`);
  return { won: true, identity: claim };
}

/** Voids the epochs up to this one that have not started, so that a late start does nothing. */
export async function blockEpochs(runDir: string, last: number): Promise<void> {
  for (let epoch = 0; epoch <= last; epoch += 1) {
    const file = epochFile(runDir, epoch, "pid");
    if ((await findFileText(file)) === undefined) await createPrivateFile(file, VOID);
  }
}

/**
 * Finds the state of an epoch's agent. Dead means that the wrapper is gone; leftovers, such as an agent whose wrapper
 * alone was killed, are found by `stopRun`, which precedes any new start.
 */
export async function findAgentProcess(runDir: string, epoch: number): Promise<AgentProcess> {
  const file = epochFile(runDir, epoch, "pid");
  const claim = await readClaim(file);
  if (claim === "none" || claim === "void") return { state: claim };
  const exitFile = epochFile(runDir, epoch, "exit");
  const written = await findExitCode(exitFile);
  if (written !== undefined) return { state: "dead", exitCode: written };
  if (claim !== undefined && (await isProcessAlive(claim))) return { state: "alive", identity: claim };
  // It may have ended between the two checks; now it has written everything.
  return { state: "dead", exitCode: await findExitCode(exitFile) };
}

async function spawnWrapper(input: ProcessStart): Promise<boolean> {
  const { runId, runDir, epoch, dir, start, umask = DEFAULT_UMASK } = input;
  const boot = await readBootId();
  const files = [epochFile(runDir, epoch, "pid"), epochFile(runDir, epoch, "exit")];
  const own = { PWD: dir, ASKD_RUN: runId, ASKD_EPOCH: String(epoch) };
  const open: number[] = [await openStdin(runDir, start.stdin)];
  try {
    open.push(openLog(epochFile(runDir, epoch, "out")), openLog(epochFile(runDir, epoch, "err")));
    const args = ["-c", WRAPPER, "sh", ...files, boot, umask.toString(8).padStart(4, "0"), ...start.argv];
    const child = spawn("/bin/sh", args, {
      cwd: dir,
      env: { ...withoutCallerVariables(input.env), ...start.env, ...own },
      detached: true,
      stdio: [...open, "pipe"],
    });
    return await hasWon(child);
  } finally {
    for (const descriptor of open) closeSync(descriptor);
  }
}

/** Waits until the wrapper reports that it starts the agent, or ends without a report. */
function hasWon(child: ChildProcess): Promise<boolean> {
  const report = child.stdio[3];
  return new Promise<boolean>((resolve, reject) => {
    child.once("error", (cause) => reject(new Error(`The agent was not started: ${cause.message}`, { cause })));
    report?.once("data", () => resolve(true));
    report?.once("close", () => resolve(false));
    report?.on("error", reject);
  }).finally(() => {
    report?.destroy();
    child.unref();
  });
}

/** The agent's input file is unlinked before it starts, so that nothing stays behind. */
async function openStdin(runDir: string, text: string | undefined): Promise<number> {
  if (text === undefined) return openSync("/dev/null", "r");
  const file = join(runDir, `stdin.${process.pid}.${process.hrtime.bigint()}`);
  await replacePrivateFile(file, text);
  try {
    return openSync(file, "r");
  } finally {
    await rm(file, { force: true });
  }
}

function openLog(file: string): number {
  const { O_APPEND, O_CREAT, O_NOFOLLOW, O_WRONLY } = constants;
  return openSync(file, O_APPEND | O_CREAT | O_NOFOLLOW | O_WRONLY, 0o600);
}

/** The owner of the epoch; undefined if its creator was killed before it wrote. */
async function readClaim(file: string): Promise<ProcessIdentity | "void" | "none" | undefined> {
  for (let waitedMs = 0; ; waitedMs += LOOK_AGAIN_MS) {
    const text = await findFileText(file);
    if (text === undefined) return "none";
    const claim = parseClaim(text);
    if (claim !== undefined || waitedMs >= HALF_WRITTEN_MS) return claim;
    await sleep(LOOK_AGAIN_MS);
  }
}

async function findExitCode(file: string): Promise<number | undefined> {
  const text = await findFileText(file);
  return text !== undefined && /^\d+\n$/.test(text) ? Number(text) : undefined;
}

function parseClaim(text: string): ProcessIdentity | "void" | undefined {
  if (text === VOID) return "void";
  const [, boot, line] = /^([^\n]+)\n([^\n]+)\n$/.exec(text) ?? [];
  if (boot === undefined || line === undefined) return undefined;
  const stat = parseStat(line);
  if (stat) return { pid: stat.pid, born: stat.born, boot };
  const [, pid, born] = /^(\d+)\s+(\S.*?)\s*$/.exec(line) ?? [];
  return pid === undefined || born === undefined
    ? undefined
    : { pid: Number(pid), born: born.replace(/\s+/g, " "), boot };
}

/** How often a process is polled: an agent killed together with its wrapper writes no exit file. */
const END_CHECK_MS = 500;

/** The state of an agent that is not alive. */
export type EndedProcess = Exclude<AgentProcess, { state: "alive" }>;

/** Waits until an epoch's agent has ended, whoever started it; undefined if aborted. */
export async function waitForProcessEnd(
  runDir: string,
  epoch: number,
  stop?: AbortSignal,
): Promise<EndedProcess | undefined> {
  let ring = (): void => undefined;
  const wake = (): void => ring();
  const close = watchPath(runDir, wake);
  stop?.addEventListener("abort", wake);
  try {
    while (!stop?.aborted) {
      const rung = new Promise<void>((resolve) => (ring = resolve));
      const found = await findAgentProcess(runDir, epoch);
      if (found.state !== "alive") return found;
      const timer = setTimeout(wake, END_CHECK_MS);
      if (!stop?.aborted) await rung;
      clearTimeout(timer);
    }
    return undefined;
  } finally {
    close();
    stop?.removeEventListener("abort", wake);
  }
}
