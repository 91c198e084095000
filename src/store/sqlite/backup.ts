import { existsSync } from "node:fs";
import { readFile, rm, writeFile } from "node:fs/promises";
import type { Instant } from "../../core/instant.ts";
import { Refusal } from "../../core/refusal.ts";
import { Backup, writeBackup, writeWhole } from "../backup-file.ts";
import { Connection } from "./connection.ts";
import { explainSqliteError, isOfWriting } from "./error.ts";
import { backupRecordOf } from "./restore-advice.ts";

const FILE_MODE = 0o600;

/** Copies a consistent snapshot of a store while others may write; the copy is checked before it gets its name. */
export async function backUp(
  database: string,
  target: string,
  {
    at,
    prepare,
  }: {
    at: Instant;
    /** Writes what belongs to it, before it gets its name. */
    prepare?: () => Promise<unknown>;
  },
): Promise<Backup> {
  if (!existsSync(database)) {
    throw new Refusal("not_found", `There is no store at ${database}`, {
      hint: "See where it is: askd status --verbose",
    });
  }
  const write = async (draft: string) => {
    await copyTo(database, draft);
    await requireWhole(draft);
  };
  const backup = await writeBackup({ target, at, write, prepare });
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

/** Copies a store as it is, damaged or not, into a new file that only its owner can read. */
export function copyStore(database: string, target: string): Promise<void> {
  return writeWhole(target, (draft) => copyTo(database, draft));
}

async function copyTo(database: string, draft: string) {
  const connection = await Connection.open(database, { check: false });
  try {
    await connection.read(() => {
      try {
        connection.database.prepare("vacuum into ?").run(draft);
      } catch (error) {
        throw isOfWriting(error) ? explainSqliteError(error, draft) : error;
      }
    });
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
