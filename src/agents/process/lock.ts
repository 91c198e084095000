import { closeSync, existsSync, mkdirSync, openSync } from "node:fs";
import { dirname } from "node:path";
import { type Database, openDatabase } from "../../sqlite.ts";

/** Takes the lock of a file until it is released or the process ends; undefined if another process has it. */
export function takeLock(file: string): (() => void) | undefined {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  createIfMissing(file);
  const database = openDatabase(file);
  if (!isFree(database)) {
    database.close();
    return undefined;
  }
  return () => {
    database.exec("rollback");
    database.close();
  };
}

/** Says whether a process has the lock of a file. */
export function isLocked(file: string): boolean {
  if (!existsSync(file)) return false;
  const unlock = takeLock(file);
  unlock?.();
  return unlock === undefined;
}

// A file that exists is never opened here: closing any handle of it would drop the locks this process has on it.
function createIfMissing(file: string): void {
  if (existsSync(file)) return;
  try {
    closeSync(openSync(file, "ax", 0o600));
  } catch (error) {
    if (!existsSync(file)) throw error; // else another process was faster
  }
}

/** SQLite's own locks end with their process, however it ends. */
function isFree(database: Database): boolean {
  try {
    database.exec("begin exclusive");
    return true;
  } catch {
    return false;
  }
}
