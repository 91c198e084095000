import { spawn } from "node:child_process";
import { closeSync, mkdirSync, openSync } from "node:fs";
import { dirname } from "node:path";
import { type Database, openDatabase } from "../sqlite.ts";
import type { Detached } from "./context.ts";

/** Takes the lock of a file for this process, until it is given back or the process ends; nothing if another has it. */
export function lock(file: string): (() => void) | undefined {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
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

/** Says whether some process has the lock of a file. */
export function isLocked(file: string): boolean {
  const unlock = lock(file);
  unlock?.();
  return unlock === undefined;
}

/** Starts a program that outlives this one and knows nothing of its terminal. */
export function detach({ argv, env, log }: Detached): void {
  mkdirSync(dirname(log), { recursive: true, mode: 0o700 });
  const out = openSync(log, "a", 0o600);
  const [program = "", ...args] = argv;
  const child = spawn(program, args, { cwd: "/", env, detached: true, stdio: ["ignore", out, out] });
  closeSync(out);
  child.once("error", () => undefined); // what it was to do is still to be done, and whoever looks next starts it
  child.unref();
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
