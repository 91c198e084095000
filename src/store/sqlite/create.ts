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
import { isCode } from "../../core/error-code.ts";
import { Connection } from "./connection.ts";
import { createPrivate, unusable } from "./store-files.ts";
import { migrate } from "./schema.ts";

/** A store that is being made; one this old was left by a process that died. */
const DRAFT = ".new";
const OLD_MS = 10 * MINUTE_MS;

/**
 * Makes a new store, unless there is a file. It is made whole under another name: a process that dies meanwhile leaves
 * nothing behind that could be taken for a store, and of many that do so at once one wins.
 */
export async function createStore(database: string): Promise<void> {
  if (existsSync(database)) return;
  const draft = `${database}.${randomUUID()}${DRAFT}`;
  // What gets the name is a copy that no database ever had open: SQLite shares the index of the log among all that this
  // process has open under one inode, and the driver for older versions of Node closes a file some time later.
  const copy = `${draft}.copy`;
  try {
    removeOld(database);
    createPrivate(draft);
    await fill(draft);
    copyFileSync(draft, copy, constants.COPYFILE_EXCL);
    sync(copy);
    giveName(copy, database);
    sync(dirname(database));
  } catch (error) {
    throw unusable(error, dirname(database));
  } finally {
    for (const file of [draft, `${draft}-wal`, `${draft}-shm`, copy]) rmSync(file, { force: true });
  }
}

async function fill(draft: string): Promise<void> {
  const connection = await Connection.open(draft, { check: false, isNew: true });
  try {
    await migrate(connection);
    await connection.markAsOwn();
  } finally {
    connection.close();
  }
}

/** Gives it its name if nobody has it: a store that somebody else made meanwhile is not replaced. */
function giveName(draft: string, database: string): void {
  try {
    linkSync(draft, database);
  } catch (error) {
    if (isCode(error, "EEXIST")) return;
    // Some file systems have no links; there two that begin at the very same moment could still meet.
    if (!existsSync(database)) renameSync(draft, database);
  }
}

function removeOld(database: string): void {
  const directory = dirname(database);
  for (const name of readdirSync(directory)) {
    if (!name.startsWith(`${basename(database)}.`) || !name.includes(DRAFT)) continue;
    const path = join(directory, name);
    const found = statSync(path, { throwIfNoEntry: false });
    if (found && Date.now() - found.mtimeMs > OLD_MS) rmSync(path, { force: true });
  }
}

function sync(path: string): void {
  const file = openSync(path, "r");
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}
