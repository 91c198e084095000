import { randomUUID } from "node:crypto";
import {
  closeSync,
  constants,
  copyFileSync,
  existsSync,
  fsyncSync,
  linkSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { MINUTE_MS } from "../../core/instant.ts";
import { hasErrorCode } from "../../core/error-code.ts";
import { Connection } from "./connection.ts";
import { requireNoRestore } from "./restore-mark.ts";
import { createEmptyFile, explainUnusable } from "./store-files.ts";
import { migrate } from "./schema.ts";

/** The suffix of a store being created; an old one was left by a dead process. */
const DRAFT = ".new";
const OLD_MS = 10 * MINUTE_MS;

/**
 * Creates a new store, unless the file exists. It is completed under another name: a process that dies meanwhile leaves
 * no half-made store, and of concurrent ones one wins.
 */
export async function createStore(database: string): Promise<void> {
  requireNoRestore(database);
  if (existsSync(database)) return;
  const draft = `${database}.${randomUUID()}${DRAFT}`;
  // The file that gets the name is a copy that was never open as a database: SQLite shares the index of the log among
  // all that this process has open under one inode, and the driver for older versions of Node closes a file some time
  // later.
  const copy = `${draft}.copy`;
  try {
    removeOld(database);
    createEmptyFile(draft);
    await fill(draft);
    copyFileSync(draft, copy, constants.COPYFILE_EXCL);
    sync(copy);
    giveName(copy, database);
    sync(dirname(database));
  } catch (error) {
    throw explainUnusable(error, dirname(database));
  } finally {
    for (const file of [draft, `${draft}-wal`, `${draft}-shm`, copy]) rmSync(file, { force: true });
  }
}

async function fill(draft: string) {
  const connection = await Connection.open(draft, { check: false, isNew: true });
  try {
    await migrate(connection);
    await connection.markAsOwn();
  } finally {
    connection.close();
  }
}

/** Renames the draft unless the name is taken: a store made by another process meanwhile is not replaced. */
function giveName(draft: string, database: string) {
  try {
    linkSync(draft, database);
  } catch (error) {
    if (hasErrorCode(error, "EEXIST")) return;
    // Some file systems have no links; there, two processes that start at the same moment could still collide.
    if (!existsSync(database)) renameSync(draft, database);
  }
}

function removeOld(database: string) {
  const directory = dirname(database);
  for (const name of readdirSync(directory)) {
    if (!name.startsWith(`${basename(database)}.`) || !name.includes(DRAFT)) continue;
    const path = join(directory, name);
    const found = statSync(path, { throwIfNoEntry: false });
    if (found && Date.now() - found.mtimeMs > OLD_MS) rmSync(path, { force: true });
  }
}

function sync(path: string) {
  const file = openSync(path, "r");
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}
