import { existsSync } from "node:fs";
import { chmod, mkdir, open, rename, rm, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { z } from "zod";
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
  await mkdir(dirname(target), { recursive: true, mode: DIRECTORY_MODE });
  const draft = `${target}.${process.pid}.part`;
  await rm(draft, { force: true });
  try {
    // Exclusive and private before the first byte is in it.
    await (await open(draft, "wx", FILE_MODE)).close();
    await write(draft);
    await chmod(draft, FILE_MODE);
    await syncFile(draft);
    await prepare?.();
    await rename(draft, target);
  } finally {
    await rm(draft, { force: true });
  }
  return { at, file: target, bytes: (await stat(target)).size };
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
