import { existsSync } from "node:fs";
import { chmod, mkdir, open, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { z } from "zod";
import { Instant } from "../../core/instant.ts";
import { Refusal } from "../../core/refusal.ts";
import { Connection } from "./connection.ts";
import { backupRecordOf } from "./restore-advice.ts";

const FILE_MODE = 0o600;
const DIRECTORY_MODE = 0o700;

/** The time, file and size of a backup. */
export const Backup = z.object({ at: Instant, file: z.string(), bytes: z.int() });
export type Backup = z.infer<typeof Backup>;

/** Copies a consistent snapshot of a store while others may write; the copy is checked before it gets its name. */
export async function backUp(database: string, target: string, at: Instant): Promise<Backup> {
  if (!existsSync(database)) {
    throw new Refusal("not_found", `There is no store at ${database}`, {
      hint: "See where it is: askd status --verbose",
    });
  }
  if (existsSync(target)) {
    throw new Refusal("bad_input", `${target} already exists; nothing was changed`, { hint: "Name another file" });
  }
  await mkdir(dirname(target), { recursive: true, mode: DIRECTORY_MODE });
  const draft = `${target}.${process.pid}.part`;
  await rm(draft, { force: true });
  try {
    await copyTo(database, draft);
    await chmod(draft, FILE_MODE);
    await requireWhole(draft);
    await syncFile(draft);
    await rename(draft, target);
  } finally {
    await rm(draft, { force: true });
  }
  const backup: Backup = { at, file: target, bytes: (await stat(target)).size };
  await writeFile(backupRecordOf(database), `${JSON.stringify(backup)}\n`, { mode: FILE_MODE });
  return backup;
}

/** Finds the last recorded backup of this store. */
export async function findLastBackup(database: string): Promise<Backup | undefined> {
  const text = await readFile(backupRecordOf(database), "utf8").catch(() => undefined); // none was made yet
  if (text === undefined) return undefined;
  try {
    return Backup.parse(JSON.parse(text));
  } catch {
    return undefined; // somebody else's file: nothing is known
  }
}

async function copyTo(database: string, draft: string) {
  const connection = await Connection.open(database, { check: false });
  try {
    await connection.read(() => connection.database.prepare("vacuum into ?").run(draft));
  } finally {
    connection.database.close();
  }
}

async function requireWhole(draft: string) {
  const copy = await Connection.open(draft, { check: false });
  try {
    const [found] = copy.database.prepare<{ integrity_check: string }>("pragma integrity_check(1)").all();
    if (found?.integrity_check === "ok") return;
    throw new Refusal("store_unusable", "The copy is damaged and was deleted", {
      hint: "Check the disk, then check the store: askd audit --verify",
      cause: found?.integrity_check,
    });
  } finally {
    copy.close();
    for (const more of ["-wal", "-shm"]) await rm(`${draft}${more}`, { force: true });
  }
}

async function syncFile(path: string) {
  const file = await open(path, "r+");
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}
