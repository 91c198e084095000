import { readFileSync, readdirSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { formatDuration } from "../../core/text/duration.ts";
import { quoteShellWord } from "../../core/text/shell-word.ts";

/** The file that remembers the last backup of a store. */
export function backupRecordOf(database: string): string {
  return join(dirname(database), "askd.backup.json");
}

/** How to get a damaged store back: its newest backup with the command that restores it, or what can be saved. */
export function adviseRestore(database: string): string {
  const newest = findNewestBackup(database);
  const recover = `save what can be read: sqlite3 ${quoteShellWord(database)} .recover`;
  if (!newest) return `There is no backup that askd knows of (docs/backup.md); ${recover}`;
  const age = formatDuration(Math.max(0, Date.now() - newest.atMs));
  return `The newest backup is ${newest.file} (${age} old). Restore it: askd service stop && askd restore ${quoteShellWord(newest.file)}`;
}

function findNewestBackup(database: string) {
  const folder = join(dirname(database), "backups");
  const files = listFiles(folder)
    .filter((name) => name.endsWith(".db"))
    .map((name) => join(folder, name));
  const known = [...files, ...readRecord(database)].flatMap((file) => {
    const found = statSync(file, { throwIfNoEntry: false });
    return found?.isFile() ? [{ file, atMs: found.mtimeMs }] : [];
  });
  return known.toSorted((one, other) => other.atMs - one.atMs)[0];
}

function listFiles(folder: string) {
  try {
    return readdirSync(folder);
  } catch {
    return []; // none was made yet
  }
}

function readRecord(database: string): string[] {
  try {
    const record: unknown = JSON.parse(readFileSync(backupRecordOf(database), "utf8"));
    const isNamed =
      record !== null && typeof record === "object" && "file" in record && typeof record.file === "string";
    return isNamed ? [String(record.file)] : [];
  } catch {
    return []; // none was made yet, or it is somebody else's file
  }
}
