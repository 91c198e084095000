import { constants } from "node:fs";
import { lstat, mkdir, open, rename, rm, unlink } from "node:fs/promises";
import { dirname } from "node:path";
import { Refusal } from "../core/refusal.ts";
import { hasErrorCode } from "../core/error-code.ts";

const OTHERS = 0o077;
const isUnix = process.platform !== "win32";
// Windows has no such flag, and keeps a user's folders from other users by itself.
const NO_FOLLOW = isUnix ? constants.O_NOFOLLOW : 0;

/** Reads a file that only this user may read; nothing if there is none. */
export async function readPrivate(file: string): Promise<string | undefined> {
  let handle;
  try {
    handle = await open(file, constants.O_RDONLY | NO_FOLLOW);
  } catch (error) {
    if (hasErrorCode(error, "ENOENT")) return undefined;
    throw notPrivate(file, "is not a plain file that can be read");
  }
  try {
    const { mode, uid } = await handle.stat();
    requirePrivate(file, { mode, uid, fix: "chmod 600" });
    return (await handle.readFile("utf8")).trim();
  } finally {
    await handle.close();
  }
}

/** Makes a file that only this user may read, in a folder that only this user may enter; false if one is there. */
export async function createPrivate(file: string, text: string): Promise<boolean> {
  await makePrivateDir(dirname(file));
  let handle;
  try {
    handle = await open(file, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | NO_FOLLOW, 0o600);
  } catch (error) {
    if (hasErrorCode(error, "EEXIST")) return false;
    throw error;
  }
  try {
    await handle.writeFile(`${text}\n`);
  } finally {
    await handle.close();
  }
  return true;
}

/** The same, in place of the file that is there; readers see the old or the new one, whole. */
export async function replacePrivate(file: string, text: string): Promise<void> {
  const draft = `${file}.${process.pid}`;
  await rm(draft, { force: true });
  await createPrivate(draft, text);
  await rename(draft, file);
}

export async function removePrivate(file: string): Promise<void> {
  try {
    await unlink(file);
  } catch (error) {
    if (!hasErrorCode(error, "ENOENT")) throw error;
  }
}

async function makePrivateDir(dir: string) {
  await mkdir(dir, { recursive: true, mode: 0o700 });
  const { mode, uid } = await lstat(dir);
  if ((mode & constants.S_IFMT) !== constants.S_IFDIR) throw notPrivate(dir, "is not a folder");
  requirePrivate(dir, { mode, uid, fix: "chmod 700" });
}

function requirePrivate(path: string, { mode, uid, fix }: { mode: number; uid: number; fix: string }) {
  if (!isUnix) return;
  if (uid !== process.getuid?.()) throw notPrivate(path, "belongs to another user");
  if ((mode & OTHERS) !== 0) throw notPrivate(path, "is open to other users", `${fix} ${path}`);
}

function notPrivate(path: string, problem: string, hint?: string): Refusal {
  return new Refusal("not_permitted", `${path} ${problem}; it must be yours alone`, {
    hint: hint ?? `See: ls -ld ${path}`,
  });
}
