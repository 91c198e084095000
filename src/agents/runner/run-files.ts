import { lstat, mkdir, readdir, rm } from "node:fs/promises";
import { isAbsolute, join } from "node:path";
import { z } from "zod";
import { RunId } from "../../core/id.ts";
import type { Start } from "../agent.ts";
import { createFile, findText, replaceFile } from "../process/private-file.ts";

const LAUNCH = "env.json";
const OTHERS = 0o077;
/** Files of ours that say nothing secret by themselves or are the run's own log; the others go when nothing can take it up. */
const KEPT = /^\d+\.(pid|exit|out|err)$/;
const FILE_NAME = /^[A-Za-z0-9][\w.-]{0,99}$/;
/** Variables that belong to the caller and not to the agent that it starts. */
const CALLERS_OWN = /^ASKD_(RUN|EPOCH|ANSWER_FILE|\w*(TOKEN|SECRET|PASSW|KEY)\w*)$/;

const Absolute = z.string().refine((path) => isAbsolute(path), "is not an absolute path");

/** What a worker needs to start a run, as its caller had it. It stays on this host for as long as anything can take the run up. */
export const Launch = z.object({
  agent: z.string().min(1),
  program: Absolute,
  args: z.array(z.string()),
  prompt: z.string().optional(),
  dir: Absolute,
  env: z.record(z.string(), z.string()),
  /** Which rights the files that the agent makes do not get. */
  umask: z.int().min(0).max(0o777).optional(),
  options: z.looseObject({
    maxTurns: z.int().positive().optional(),
    budgetUsd: z.number().positive().optional(),
    /** How to start the agent again: `{session}` and `{message}` stand for what they say. */
    resumeWith: z.array(z.string()).min(1).optional(),
    /** How long its questions are held live. */
    liveWindowMs: z.int().positive().optional(),
    /** Our tool that decides its permission prompts. */
    promptTool: z.string().optional(),
  }),
});
export type Launch = z.infer<typeof Launch>;

/** What belongs to one start of the agent; a start that came too late writes to files that nobody reads. */
export type EpochFile = "pid" | "exit" | "out" | "err";

/** A file of a run that cannot be what we wrote: it was changed or cut off. */
export class BrokenRunFile extends Error {
  constructor(file: string, cause: unknown) {
    super(`${file} is broken: ${cause instanceof Error ? sayCause(cause) : String(cause)}`, { cause });
    this.name = "BrokenRunFile";
  }
}

/** The directory of a run's own files. */
export function runDirOf(stateDir: string, runId: RunId): string {
  return join(stateDir, "runs", RunId.parse(runId));
}

/** Says whether the run's own files are kept here. */
export async function hasRunDir(stateDir: string, runId: RunId): Promise<boolean> {
  return lstat(runDirOf(stateDir, runId)).then(
    (found) => found.isDirectory(),
    () => false,
  );
}

/** Makes the directory of a run's own files, which nobody else may enter. */
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

/** The epochs that have a file of this kind, oldest first. */
export async function listEpochs(runDir: string, kind: EpochFile): Promise<number[]> {
  const names = await readdir(runDir);
  return names
    .filter((name) => KEPT.test(name) && name.endsWith(`.${kind}`))
    .map((name) => Number.parseInt(name, 10))
    .sort((one, other) => one - other);
}

/** Keeps what is needed to start the run, once; says false when it is kept already. */
export async function keepLaunch(runDir: string, launch: Launch): Promise<boolean> {
  return createFile(join(runDir, LAUNCH), launchText(launch));
}

/** The same for a session that somebody else started: each of its starts may bring another environment. */
export async function replaceLaunch(runDir: string, launch: Launch): Promise<void> {
  await replaceFile(join(runDir, LAUNCH), launchText(launch));
}

/** What is needed to start the run; undefined when it was never kept here, or is deleted. */
export async function findKeptLaunch(runDir: string): Promise<Launch | undefined> {
  const file = join(runDir, LAUNCH);
  const text = await findText(file);
  return text === undefined ? undefined : parseFile(file, () => Launch.parse(JSON.parse(text)));
}

/** Says whether anything is kept here that a start needs. */
export async function hasLaunch(runDir: string): Promise<boolean> {
  return lstat(join(runDir, LAUNCH)).then(
    () => true,
    () => false,
  );
}

/** Writes the files that an agent is started with. */
export async function writeStartFiles(runDir: string, files: Start["files"]): Promise<void> {
  for (const { name, text } of files) {
    if (!FILE_NAME.test(name) || KEPT.test(name) || name === LAUNCH) throw new Error(`${name} is no name for a file`);
    await replaceFile(join(runDir, name), text);
  }
}

/** Takes away the directory of a run that was never made. */
export async function removeRunDir(stateDir: string, runId: RunId): Promise<void> {
  await rm(runDirOf(stateDir, runId), { recursive: true, force: true });
}

/** Takes away all that may hold a secret when nothing can take the run up; its output stays. */
export async function forgetLaunch(runDir: string): Promise<void> {
  const names = await readdir(runDir);
  const gone = names.filter((name) => !KEPT.test(name));
  await Promise.all(gone.map((name) => rm(join(runDir, name), { recursive: true, force: true })));
}

/** The caller's environment without what only the caller may have: its tokens, and the run that it belongs to. */
export function withoutOwn(env: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) {
    if (value !== undefined && !CALLERS_OWN.test(name)) kept[name] = value;
  }
  return kept;
}

function launchText(launch: Launch): string {
  return `${JSON.stringify(Launch.parse({ ...launch, env: withoutOwn(launch.env) }))}\n`;
}

function parseFile<Value>(file: string, parse: () => Value): Value {
  try {
    return parse();
  } catch (error) {
    throw new BrokenRunFile(file, error);
  }
}

function sayCause(cause: Error): string {
  return cause instanceof z.ZodError ? z.prettifyError(cause) : cause.message;
}
