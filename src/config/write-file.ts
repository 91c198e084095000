import { type FileHandle, mkdir, open, realpath, rename, rm, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { Refusal } from "../core/refusal.ts";
import { isCode } from "../core/error-code.ts";
import type { ConfigFile } from "./config-files.ts";
import { FIRST_LINE } from "./json-schema.ts";
import { parseValues } from "./load.ts";
import { type Problem, sayProblem } from "./problem.ts";
import { readConfigFile } from "./read-file.ts";

const TRIES = 200;
const PAUSE_MS = 25;
/** Nobody takes that long to write a small file: whoever began it is gone. */
const STALE_MS = 10_000;

/** Changes the text of a file and writes it in one step; what the change would make wrong is refused. */
export async function changeConfigFile(
  file: ConfigFile,
  userFile: string,
  change: (text: string) => string,
): Promise<"changed" | "same"> {
  const decide = async (): Promise<{ before: string | undefined; after: string }> => {
    const before = await readText(file);
    const after = change(before ?? `${FIRST_LINE}\n`);
    requireBetter(file, userFile, { before: before ?? "", after });
    return { before, after };
  };
  const first = await decide();
  if (first.after === first.before) return "same";
  await writeAlone(file, async () => (await decide()).after);
  return "changed";
}

/** The text of a file; undefined if there is none. */
export async function readText(file: ConfigFile): Promise<string | undefined> {
  if (!(await isThere(file.path))) return undefined;
  const read = await readConfigFile(file);
  if ("text" in read) return read.text;
  throw refusalFor(read.problem);
}

/** What was wrong before may stay; nothing may become wrong. */
function requireBetter(file: ConfigFile, userFile: string, { before, after }: { before: string; after: string }): void {
  const known = new Set(errorsIn(file, before, userFile).map(({ key, message }) => `${key} ${message}`));
  const added = errorsIn(file, after, userFile).find(({ key, message }) => !known.has(`${key} ${message}`));
  if (added) throw refusalFor(added);
}

function errorsIn(file: ConfigFile, text: string, userFile: string): Problem[] {
  return parseValues(file, text, userFile).problems.filter(({ level }) => level === "error");
}

function refusalFor(problem: Problem): Refusal {
  return new Refusal("bad_input", sayProblem(problem), problem.hint === undefined ? {} : { hint: problem.hint });
}

/**
 * By rename, so that a reader finds a whole file; a link is followed and stays. Of many who write at once one has the
 * draft, and the others wait for it.
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
      if (!isCode(error, "EEXIST")) throw error;
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
