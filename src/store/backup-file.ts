import { existsSync } from "node:fs";
import { chmod, mkdir, open, rename, rm, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { z } from "zod";
import { errorCodeOf } from "../core/error-code.ts";
import { Instant } from "../core/instant.ts";
import { Refusal } from "../core/refusal.ts";

const FILE_MODE = 0o600;
const DIRECTORY_MODE = 0o700;

/** The time, file and size of a backup. */
export const Backup = z.object({ at: Instant, file: z.string(), bytes: z.int() });
export type Backup = z.infer<typeof Backup>;

interface BackupInput {
  target: string;
  at: Instant;
  /** Writes the copy and checks it. */
  write(draft: string): Promise<void>;
  /** Writes what belongs to it, before it gets its name. */
  prepare?: (() => Promise<unknown>) | undefined;
}

/** Writes a private backup that gets its name when it is complete and on the disk. */
export async function writeBackup({ target, at, write, prepare }: BackupInput): Promise<Backup> {
  if (existsSync(target)) {
    throw new Refusal("bad_input", `${target} already exists; nothing was changed`, { hint: "Name another file" });
  }
  await writeWhole(target, async (draft) => {
    await write(draft);
    await prepare?.();
  });
  return { at, file: target, bytes: (await stat(target)).size };
}

/** Writes a file that only its owner can read, and that gets its name when it is complete and on the disk. */
export async function writeWhole<Result>(target: string, write: (draft: string) => Promise<Result>): Promise<Result> {
  const draft = `${target}.${process.pid}.part`;
  try {
    await mkdir(dirname(target), { recursive: true, mode: DIRECTORY_MODE });
    await rm(draft, { force: true });
    // Exclusive and private before the first byte is in it.
    await (await open(draft, "wx", FILE_MODE)).close();
    const result = await write(draft);
    await chmod(draft, FILE_MODE);
    await syncFile(draft);
    await rename(draft, target);
    return result;
  } catch (error) {
    throw explainUnwritten(error, target);
  } finally {
    await rm(draft, { force: true }).catch(() => undefined); // where nothing can be written, nothing was
  }
}

const FULL: ReadonlySet<string> = new Set(["ENOSPC", "EDQUOT"]);
const NO_PLACE: ReadonlySet<string> = new Set([
  "ENOENT",
  "ENOTDIR",
  "EISDIR",
  "EACCES",
  "EPERM",
  "EROFS",
  "ENAMETOOLONG",
]);

/** Turns an error of the place that a person named into a refusal; returns any other error unchanged. */
function explainUnwritten(error: unknown, target: string) {
  const code = errorCodeOf(error);
  if (error instanceof Refusal || !(FULL.has(code) || NO_PLACE.has(code))) return error;
  const why = FULL.has(code) ? "its disk is full" : code;
  return new Refusal("bad_input", `${target} cannot be written: ${why}; nothing was changed`, {
    hint: "Name a file in a folder that you can write to, on a disk with room",
    cause: error,
  });
}

/** Waits until a file is on the disk. */
export async function syncFile(path: string): Promise<void> {
  const file = await open(path, "r+");
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}
