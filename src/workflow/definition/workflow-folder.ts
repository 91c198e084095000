import { lstat, readFile, readdir } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { hasErrorCode } from "../../core/error-code.ts";
import { Refusal } from "../../core/refusal.ts";
import { findNearest } from "../../core/text/nearest.ts";
import type { KnownTools } from "../../core/workflow/definition/check-definition.ts";
import type { WorkflowDefinition } from "../../core/workflow/definition/definition.ts";
import { type ReadWorkflow, readWorkflow } from "./read-workflow.ts";
import { MOST_YAML_BYTES } from "./yaml-source.ts";

export const WORKFLOW_FOLDER = join(".askd", "workflows");
const ENDING = /\.ya?ml$/;
const MOST_FILES = 200;

/** A workflow with the file that it comes from. */
export interface WorkflowFile extends ReadWorkflow {
  path: string;
}

/** A workflow that can run. */
export interface UsableWorkflow extends WorkflowFile {
  definition: WorkflowDefinition;
  hash: string;
}

/** The folder of a project's workflows: the nearest one, up to the root of the repository or the home folder. */
export async function findWorkflowFolder(cwd: string, homeDir: string): Promise<string | undefined> {
  for (let dir = cwd; ; dir = dirname(dir)) {
    const folder = join(dir, WORKFLOW_FOLDER);
    if (await isFolder(folder)) return folder;
    if (dir === homeDir || dirname(dir) === dir || (await isThere(join(dir, ".git")))) return undefined;
  }
}

/** The files of a folder that hold workflows, in the order of their names. */
export async function listWorkflowFiles(folder: string): Promise<string[]> {
  const names = (await readdir(folder)).filter((name) => ENDING.test(name)).sort();
  return names.slice(0, MOST_FILES).map((name) => join(folder, name));
}

/** Reads and checks workflows. Two files with one name are a mistake of the second. */
export async function readWorkflowFiles(
  paths: readonly string[],
  { cwd, tools }: { cwd: string; tools?: KnownTools | undefined },
): Promise<WorkflowFile[]> {
  const files: WorkflowFile[] = [];
  for (const path of paths) {
    const source = relative(cwd, path);
    files.push({ path, ...refuseSameName(await readWorkflowFile(path, source, tools), source, files) });
  }
  return files;
}

/** The workflow of a name; refuses if there is none that can run. */
export function getWorkflow(files: readonly WorkflowFile[], name: string): UsableWorkflow {
  const usable = files.filter(isUsable);
  const found = usable.find(({ definition }) => definition.name === name);
  if (found) return found;
  const names = usable.map(({ definition }) => definition.name);
  const meant = findNearest(name, names);
  const isWrong = files.some(({ path, definition }) => !definition && basenameOf(path) === name);
  if (isWrong) {
    throw new Refusal("bad_input", `The file of the workflow ${name} has mistakes`, {
      hint: "See them: askd workflow validate",
    });
  }
  throw new Refusal("not_found", `There is no workflow "${name}"`, {
    hint: meant === undefined ? "See all: askd workflow list" : `Did you mean ${meant}?`,
  });
}

/** Says whether a file holds a workflow without mistakes. */
export function isUsable(file: WorkflowFile): file is UsableWorkflow {
  return file.definition !== undefined && file.hash !== undefined;
}

async function readWorkflowFile(path: string, source: string, tools: KnownTools | undefined): Promise<ReadWorkflow> {
  const problem = await findFileProblem(path);
  if (problem === undefined) return readWorkflow(await readFile(path, "utf8"), source, tools);
  return { definition: undefined, hash: undefined, problems: [{ level: "error", source, message: problem }] };
}

/** A link could lead out of the project, and a large file is not read at all. */
async function findFileProblem(path: string): Promise<string | undefined> {
  try {
    const { size, isFile } = await describeFile(path);
    if (!isFile) return "This is not a plain file";
    return size > MOST_YAML_BYTES ? `The file has ${size} bytes; at most ${MOST_YAML_BYTES}` : undefined;
  } catch (error) {
    if (hasErrorCode(error, "ENOENT") || hasErrorCode(error, "ENOTDIR")) return "There is no such file";
    if (hasErrorCode(error, "EACCES")) return "The file cannot be read: permission denied";
    throw error;
  }
}

async function describeFile(path: string) {
  const stat = await lstat(path);
  return { size: stat.size, isFile: stat.isFile() };
}

function refuseSameName(read: ReadWorkflow, source: string, before: readonly WorkflowFile[]): ReadWorkflow {
  const name = read.definition?.name;
  const same = before.find(({ definition }) => definition !== undefined && definition.name === name);
  if (!same) return read;
  const message = `${same.path} has a workflow of the same name, ${name}`;
  const problem = { level: "error", source, line: 1, column: 1, message, hint: "Change one of the names" } as const;
  return { definition: undefined, hash: undefined, problems: [...read.problems, problem] };
}

async function isFolder(path: string) {
  const stat = await lstat(path).catch(() => undefined); // a folder that this user may not look into is none
  return stat?.isDirectory() === true;
}

/** Says whether something has this name. */
export async function isThere(path: string): Promise<boolean> {
  return (await lstat(path).catch(() => undefined)) !== undefined; // as above
}

function basenameOf(path: string) {
  return path.replace(/^.*[/\\]/, "").replace(ENDING, "");
}
