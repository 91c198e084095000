import { randomBytes } from "node:crypto";
import {
  chmod,
  chown,
  lstat,
  mkdir,
  open,
  readFile,
  readlink,
  realpath,
  rename,
  rm,
  stat,
  writeFile,
} from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { hasErrorCode, errorCodeOf } from "../core/error-code.ts";
import { Unfit } from "../edit/change.ts";

const ANYBODY_WRITES = 0o222;
const PERMISSIONS = 0o7777;
const LARGEST_BYTES = 64 * 1024 * 1024;

/** A file of somebody's settings as it is now. */
export interface ConfigFile {
  file: string;
  /** The real file, if this one is a link. */
  real: string;
  /** Undefined when there is none. */
  bytes: Buffer | undefined;
}

/** Reads a file of settings; throws `Unfit` for what is no file. */
export async function readConfig(file: string): Promise<ConfigFile> {
  const real = await followLink(file);
  const found = await stat(real).catch((error: unknown) => {
    if (hasErrorCode(error, "ENOENT") || hasErrorCode(error, "ENOTDIR")) return undefined;
    throw new Unfit(`it cannot be looked at (${errorCodeOf(error)})`);
  });
  if (!found) return { file, real, bytes: undefined };
  if (!found.isFile()) throw new Unfit("it is not a file");
  if (found.size > LARGEST_BYTES) throw new Unfit("it is too large");
  const bytes = await readFile(real).catch((error: unknown) => {
    throw new Unfit(`it cannot be read (${errorCodeOf(error)})`);
  });
  return { file, real, bytes };
}

/** The text of a file, with a byte order mark if it has one; what is not UTF-8 would be lost by writing it. */
export function textOf(bytes: Buffer): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new Unfit("it is not UTF-8");
  }
}

/** Says why a file must not be written, if so. Who takes away the right to write to a file means it, even for root. */
export async function findLock(real: string): Promise<string | undefined> {
  const found = await stat(real).catch(() => undefined); // there is none yet
  return found && (found.mode & ANYBODY_WRITES) === 0 ? "it is read-only" : undefined;
}

/** Writes a file at once, whole; mode and owner stay. A new one gets that mode. */
export async function writeConfig(real: string, bytes: Buffer, freshMode: number): Promise<void> {
  const found = await stat(real).catch(() => undefined); // there is none yet
  await mkdir(dirname(real), { recursive: true });
  const draft = `${real}.${process.pid}-${randomBytes(6).toString("hex")}.draft`;
  try {
    await writeSafely(draft, bytes, found ? found.mode & PERMISSIONS : freshMode);
    const isKept = !found || (found.nlink === 1 && (await keepOwner(draft, found)));
    if (isKept) await rename(draft, real);
    // Another name of the file, or an owner that cannot be given to a new one: the file itself has to be written.
    else await writeFile(real, bytes);
  } finally {
    await rm(draft, { force: true });
  }
}

async function writeSafely(file: string, bytes: Buffer, mode: number): Promise<void> {
  const handle = await open(file, "wx", mode);
  try {
    await handle.writeFile(bytes);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await chmod(file, mode);
}

async function keepOwner(draft: string, { uid, gid }: { uid: number; gid: number }): Promise<boolean> {
  const own = await stat(draft);
  if (own.uid === uid && own.gid === gid) return true;
  return chown(draft, uid, gid).then(
    () => true,
    () => false, // only root may
  );
}

/** Where a link leads, also to a file that is not there yet. */
async function followLink(file: string): Promise<string> {
  try {
    return await realpath(file);
  } catch {
    const found = await lstat(file).catch(() => undefined); // there is nothing
    return found?.isSymbolicLink() ? resolve(dirname(file), await readlink(file)) : file;
  }
}
