import { lstat, mkdir, readdir, rm } from "node:fs/promises";
import { isAbsolute, join } from "node:path";
import { z } from "zod";
import { RunId } from "../../core/id.ts";
import type { Start } from "../agent.ts";
import { createPrivateFile, findFileText, replacePrivateFile } from "../process/private-file.ts";

const LAUNCH = "env.json";
const OTHERS = 0o077;
/** Files without secrets and the run's log; the others are deleted when the run can no longer be resumed. */
const KEPT = /^\d+\.(pid|exit|out|err)$/;
const FILE_NAME = /^[A-Za-z0-9][\w.-]{0,99}$/;
/** Variables of the caller that the started agent must not get. */
const CALLERS_OWN = /^ASKD_(RUN|EPOCH|ANSWER_FILE|\w*(TOKEN|SECRET|PASSW|KEY)\w*)$/;

const Absolute = z.string().refine((path) => isAbsolute(path), "is not an absolute path");

/**
 * The launch record: what a worker needs to start a run, as its caller had it. It stays on this host while the run can
 * be resumed.
 */
export const Launch = z.object({
  agent: z.string().min(1),
  program: Absolute,
  args: z.array(z.string()),
  prompt: z.string().optional(),
  dir: Absolute,
  env: z.record(z.string(), z.string()),
  /** The umask of the agent. */
  umask: z.int().min(0).max(0o777).optional(),
  options: z.looseObject({
    maxTurns: z.int().positive().optional(),
    budgetUsd: z.number().positive().optional(),
    /** The resume command, with `{session}` and `{message}` as placeholders. */
    resumeWith: z.array(z.string()).min(1).optional(),
    /** How long its questions are held. */
    liveWindowMs: z.int().positive().optional(),
    /** The tool of askd that decides its permission prompts. */
    promptTool: z.string().optional(),
  }),
});
export type Launch = z.infer<typeof Launch>;

/** The files of one epoch; a late start writes to files that nobody reads. */
export type EpochFile = "pid" | "exit" | "out" | "err";

/** A run file that was changed or truncated. */
export class BrokenRunFile extends Error {
  constructor(file: string, cause: unknown) {
    super(`${file} is broken: ${cause instanceof Error ? describeCause(cause) : String(cause)}`, { cause });
    this.name = "BrokenRunFile";
  }
}

/** The directory of a run's own files. */
export function runDirOf(stateDir: string, runId: RunId): string {
  return join(stateDir, "runs", RunId.parse(runId));
}

/** Says whether this machine has the run's files. */
export async function hasRunDir(stateDir: string, runId: RunId): Promise<boolean> {
  return lstat(runDirOf(stateDir, runId)).then(
    (found) => found.isDirectory(),
    () => false,
  );
}

/** Creates the private directory of a run's files. */
export async function makeRunDir(stateDir: string, runId: RunId): Promise<string> {
  const dir = runDirOf(stateDir, runId);
  await mkdir(dir, { recursive: true, mode: 0o700 });
  const found = await lstat(dir);
  if (!found.isDirectory() || (found.mode & OTHERS) !== 0 || found.uid !== process.getuid?.()) {
    throw new BrokenRunFile(dir, "it must be a directory of yours alone");
  }
  return dir;
}

export function epochFile(runDir: string, epoch: number, kind: EpochFile): string {
  return join(runDir, `${epoch}.${kind}`);
}

/** The epochs with a file of this kind, oldest first. */
export async function listEpochs(runDir: string, kind: EpochFile): Promise<number[]> {
  const names = await readdir(runDir);
  return names
    .filter((name) => KEPT.test(name) && name.endsWith(`.${kind}`))
    .map((name) => Number.parseInt(name, 10))
    .sort((one, other) => one - other);
}

/** Stores the launch record once; false if it exists. */
export async function saveLaunch(runDir: string, launch: Launch): Promise<boolean> {
  return createPrivateFile(join(runDir, LAUNCH), launchText(launch));
}

/** Replaces the launch record of a foreign session: each of its starts may have another environment. */
export async function replaceLaunch(runDir: string, launch: Launch): Promise<void> {
  await replacePrivateFile(join(runDir, LAUNCH), launchText(launch));
}

/** Finds the launch record; undefined if it was never stored here or is deleted. */
export async function findKeptLaunch(runDir: string): Promise<Launch | undefined> {
  const file = join(runDir, LAUNCH);
  const text = await findFileText(file);
  return text === undefined ? undefined : parseFile(file, () => Launch.parse(JSON.parse(text)));
}

/** Says whether a launch record is stored here. */
export async function hasLaunch(runDir: string): Promise<boolean> {
  return lstat(join(runDir, LAUNCH)).then(
    () => true,
    () => false,
  );
}

/** The directory of the files that an epoch's agent is started with: a worker that comes late replaces none of another epoch. */
export function startDirOf(runDir: string, epoch: number): string {
  return join(runDir, `${epoch}.start`);
}

/** Writes files that an agent is started with. */
export async function writeStartFiles(startDir: string, files: Start["files"]): Promise<void> {
  const wrong = files.find(({ name }) => !FILE_NAME.test(name));
  if (wrong) throw new Error(`${wrong.name} is no name for a file`);
  await mkdir(startDir, { recursive: true, mode: 0o700 });
  for (const { name, text } of files) await replacePrivateFile(join(startDir, name), text);
}

/** Deletes the directory of a run that was never created. */
export async function removeRunDir(stateDir: string, runId: RunId): Promise<void> {
  await rm(runDirOf(stateDir, runId), { recursive: true, force: true });
}

/** Deletes everything that may hold a secret; the run's output stays. */
export async function deleteLaunch(runDir: string): Promise<void> {
  const names = await readdir(runDir);
  const gone = names.filter((name) => !KEPT.test(name));
  await Promise.all(gone.map((name) => rm(join(runDir, name), { recursive: true, force: true })));
}

/** The caller's environment without its tokens and its run. */
export function withoutCallerVariables(env: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) {
    if (value !== undefined && !CALLERS_OWN.test(name)) kept[name] = value;
  }
  return kept;
}

/** The environment without these variables. */
export function withoutVariables<Value>(
  env: Readonly<Record<string, Value>>,
  names: readonly string[],
): Record<string, Value> {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !names.includes(name)));
}

function launchText(launch: Launch): string {
  return `${JSON.stringify(Launch.parse({ ...launch, env: withoutCallerVariables(launch.env) }))}\n`;
}

function parseFile<Value>(file: string, parse: () => Value): Value {
  try {
    return parse();
  } catch (error) {
    throw new BrokenRunFile(file, error);
  }
}

function describeCause(cause: Error): string {
  return cause instanceof z.ZodError ? z.prettifyError(cause) : cause.message;
}
