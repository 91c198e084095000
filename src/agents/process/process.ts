import { spawn, type ChildProcess } from "node:child_process";
import { constants, closeSync, openSync } from "node:fs";
import { rm } from "node:fs/promises";
import { isAbsolute, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Start } from "../agent.ts";
import { readBootId } from "./boot-id.ts";
import { isAlive, parseStat, type Identity } from "./process-identity.ts";
import { createFile, findText, replaceFile } from "./private-file.ts";
import { epochFile, withoutOwn, writeStartFiles } from "../runner/run-files.ts";

/**
 * Every agent is started by this text; what differs comes as arguments: pid file, exit file, boot id, umask, program.
 * The pid file is made exclusively (`set -C`) before the program starts: of many only one gets past that line, and a
 * byte on descriptor 3 tells its starter. Signals are caught, not ignored: the program gets them as usual, and this
 * shell, which waits for it in the foreground, outlives what is sent to the whole group and writes the exit code.
 * Its own messages go nowhere, so that the log holds what the program wrote and nothing else.
 * Nothing but builtins is used where /proc is there, so that it works whatever the environment's PATH is.
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
/** How long somebody may take between making the pid file and writing it. */
const HALF_WRITTEN_MS = 1000;
const LOOK_AGAIN_MS = 10;

/** One start of a run's agent. */
export interface ProcessStart {
  runId: string;
  epoch: number;
  /** The directory of the run's own files. */
  runDir: string;
  /** Where the agent works. */
  dir: string;
  /** The caller's environment. */
  env: Readonly<Record<string, string>>;
  umask?: number | undefined;
  start: Start;
}

/** Whether this start won its epoch; if not, somebody else started it or made it void. */
export type Started = { won: true; identity: Identity } | { won: false };

/** What became of an epoch's agent. Its exit code is unknown when the machine or its wrapper was killed. */
export type Found =
  | { state: "none" }
  | { state: "void" }
  | { state: "alive"; identity: Identity }
  | { state: "dead"; exitCode: number | undefined };

/** Starts an agent in a session of its own, so that it outlives this process; of many starts of an epoch one wins. */
export async function startProcess(input: ProcessStart): Promise<Started> {
  const { runDir, epoch, start } = input;
  const pidFile = epochFile(runDir, epoch, "pid");
  if (!isAbsolute(start.argv[0] ?? "")) throw new Error("an agent is started by its absolute path");
  // A start that comes too late must not replace the files of the one that goes on, either.
  if ((await findText(pidFile)) !== undefined) return { won: false };
  await writeStartFiles(runDir, start.files);
  if (!(await spawnWrapper(input))) {
    const claim = await readClaim(pidFile);
    if (claim !== undefined && claim !== "none") return { won: false };
    throw new Error(`The agent was not started: ${pidFile} cannot be written`);
  }
  const claim = await readClaim(pidFile);
  if (typeof claim !== "object") throw new Error(`${pidFile} was changed by somebody`);
  return { won: true, identity: claim };
}

/** Makes the epochs up to this one void unless they have started, so that a late start of theirs starts nothing. */
export async function blockEpochs(runDir: string, last: number): Promise<void> {
  for (let epoch = 0; epoch <= last; epoch += 1) {
    const file = epochFile(runDir, epoch, "pid");
    if ((await findText(file)) === undefined) await createFile(file, VOID);
  }
}

/**
 * Looks what became of an epoch's agent. Dead means that the agent's wrapper is gone; what it left behind, such as an
 * agent whose wrapper alone was killed, is found by `stopRun`, which comes before any new start.
 */
export async function findAgent(runDir: string, epoch: number): Promise<Found> {
  const file = epochFile(runDir, epoch, "pid");
  const claim = await readClaim(file);
  if (claim === "none" || claim === "void") return { state: claim };
  const exitFile = epochFile(runDir, epoch, "exit");
  const written = await findExitCode(exitFile);
  if (written !== undefined) return { state: "dead", exitCode: written };
  if (claim !== undefined && (await isAlive(claim))) return { state: "alive", identity: claim };
  // It may have ended between the two looks; now it has written all that it will ever write.
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
      env: { ...withoutOwn(input.env), ...start.env, ...own },
      detached: true,
      stdio: [...open, "pipe"],
    });
    return await hasWon(child);
  } finally {
    for (const descriptor of open) closeSync(descriptor);
  }
}

/** Waits until the wrapper says that it goes on to start the agent, or ends without having said so. */
function hasWon(child: ChildProcess): Promise<boolean> {
  const told = child.stdio[3];
  return new Promise<boolean>((resolve, reject) => {
    child.once("error", (cause) => reject(new Error(`The agent was not started: ${cause.message}`, { cause })));
    told?.once("data", () => resolve(true));
    told?.once("close", () => resolve(false));
    told?.on("error", reject);
  }).finally(() => {
    told?.destroy();
    child.unref();
  });
}

/** What is to be read by the agent has no name any more when it starts, so nothing of it stays behind. */
async function openStdin(runDir: string, text: string | undefined): Promise<number> {
  if (text === undefined) return openSync("/dev/null", "r");
  const file = join(runDir, `stdin.${process.pid}.${process.hrtime.bigint()}`);
  await replaceFile(file, text);
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

/** Who has the epoch; undefined when that cannot be told, as its maker was killed before it wrote. */
async function readClaim(file: string): Promise<Identity | "void" | "none" | undefined> {
  for (let waitedMs = 0; ; waitedMs += LOOK_AGAIN_MS) {
    const text = await findText(file);
    if (text === undefined) return "none";
    const claim = parseClaim(text);
    if (claim !== undefined || waitedMs >= HALF_WRITTEN_MS) return claim;
    await sleep(LOOK_AGAIN_MS);
  }
}

async function findExitCode(file: string): Promise<number | undefined> {
  const text = await findText(file);
  return text !== undefined && /^\d+\n$/.test(text) ? Number(text) : undefined;
}

function parseClaim(text: string): Identity | "void" | undefined {
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
