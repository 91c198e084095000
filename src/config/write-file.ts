import { type FileHandle, mkdir, open, realpath, rename, rm, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { Refusal } from "../core/refusal.ts";
import { hasErrorCode } from "../core/error-code.ts";
import type { ConfigFile } from "./config-files.ts";
import { FIRST_LINE } from "./json-schema.ts";
import { parseValues } from "./load.ts";
import type { ConfigProblem } from "./config-problem.ts";
import { formatProblem } from "../core/text/file-problem.ts";
import { readConfigFile } from "./read-file.ts";

const TRIES = 200;
const PAUSE_MS = 25;
/** A draft this old was left by a dead process. */
const STALE_MS = 10_000;

/** Changes a configuration file atomically; a change that makes a setting invalid is refused. */
export async function changeConfigFile(
  file: ConfigFile,
  userFile: string,
  change: (text: string) => string,
): Promise<"changed" | "same"> {
  const decide = async (): Promise<{ before: string | undefined; after: string }> => {
    const before = await findConfigText(file);
    const after = change(before ?? `${FIRST_LINE}\n`);
    requireBetter(file, userFile, { before: before ?? "", after });
    return { before, after };
  };
  const first = await decide();
  if (first.after === first.before) return "same";
  await writeAlone(file, async () => (await decide()).after);
  return "changed";
}

/** Finds the text of a configuration file. */
export async function findConfigText(file: ConfigFile): Promise<string | undefined> {
  if (!(await isThere(file.path))) return undefined;
  const read = await readConfigFile(file);
  if ("text" in read) return read.text;
  throw refusalFor(read.problem);
}

/** Refuses a change that adds an error; existing ones may stay. */
function requireBetter(file: ConfigFile, userFile: string, { before, after }: { before: string; after: string }) {
  const known = new Set(errorsIn(file, before, userFile).map(({ key, message }) => `${key} ${message}`));
  const added = errorsIn(file, after, userFile).find(({ key, message }) => !known.has(`${key} ${message}`));
  if (added) throw refusalFor(added);
}

function errorsIn(file: ConfigFile, text: string, userFile: string): ConfigProblem[] {
  return parseValues(file, text, userFile).problems.filter(({ level }) => level === "error");
}

function refusalFor(problem: ConfigProblem) {
  return new Refusal("bad_input", formatProblem(problem), problem.hint === undefined ? {} : { hint: problem.hint });
}

/**
 * Writes by rename, so that readers see a whole file; a link is followed and stays. The draft is a lock: concurrent
 * writers wait for it.
 */
async function writeAlone({ path, layer }: ConfigFile, decide: () => Promise<string>): Promise<void> {
  const isUsers = layer !== "project";
  await mkdir(dirname(path), { recursive: true, ...(isUsers && { mode: 0o700 }) });
  const target = (await isThere(path)) ? await realpath(path) : path;
  const draft = `${target}.new`;
  const handle = await openAlone(draft);
  try {
    const mode = (await isThere(target)) ? (await stat(target)).mode & 0o777 : isUsers ? 0o600 : 0o644;
    await handle.writeFile(await decide());
    await handle.chmod(mode); // whatever the umask says
    await handle.sync();
    await rename(draft, target);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  } finally {
    await handle.close();
  }
}

async function openAlone(draft: string): Promise<FileHandle> {
  for (let tries = 0; tries < TRIES; tries += 1) {
    try {
      return await open(draft, "wx", 0o600);
    } catch (error) {
      if (!hasErrorCode(error, "EEXIST")) throw error;
      const age =
        Date.now() -
        (await stat(draft).then(
          ({ mtimeMs }) => mtimeMs,
          () => Date.now(),
        ));
      if (age > STALE_MS) await rm(draft, { force: true });
      else await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
  }
  throw new Refusal("moved", `${draft} is in the way`, { hint: "Remove it if no other askd is writing there" });
}

async function isThere(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
