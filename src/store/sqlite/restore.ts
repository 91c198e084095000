import { existsSync } from "node:fs";
import { chmod, mkdir, open, readdir, rename, rm, stat, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { hasErrorCode } from "../../core/error-code.ts";
import type { Instant } from "../../core/instant.ts";
import { Refusal } from "../../core/refusal.ts";
import { syncFile } from "../backup-file.ts";
import { compareVersion } from "../schema.ts";
import type { Store } from "../store.ts";
import { Connection, isUnused } from "./connection.ts";
import { describeFileUsers, listFileUsers } from "./file-users.ts";
import { SCHEMA, readMeta } from "./schema.ts";
import { restoreMarkOf } from "./restore-mark.ts";
import { readSqliteStore } from "./sqlite.ts";
import { prepareFiles } from "./store-files.ts";

const FILE_MODE = 0o600;
const DIRECTORY_MODE = 0o700;
const DRAFT = ".restore.part";

export interface RestoreInput {
  database: string;
  backup: string;
  at: Instant;
  /** Prepares what belongs to the store elsewhere, from the copy that is about to take its place; may refuse. */
  prepare?: ((copy: Store) => Promise<void>) | undefined;
  /** Called at each step; tests end the process there. */
  onStep?: ((step: string) => void) | undefined;
}

export interface RestoredStore {
  /** The folder with the store that was there before, if any. */
  aside: string | undefined;
  bytes: number;
}

/**
 * Puts a copy of a backup in place of a store that no process has open. The store that was there is moved into a folder
 * beside it, with its log. While the files change their places a mark keeps every process out; a restore that was
 * killed is done again from the beginning.
 */
export async function restoreSqlite(input: RestoreInput): Promise<RestoredStore> {
  const { database, backup, at, onStep } = input;
  requireOther(database, backup);
  prepareFiles(database);
  await removeDrafts(database);
  const draft = `${database}.${process.pid}${DRAFT}`;
  const mark = restoreMarkOf(database);
  const isRepeated = existsSync(mark);
  try {
    await copyChecked(backup, draft);
    onStep?.("copied");
    await writeMark(mark, backup);
    onStep?.("marked");
    await orUnmark(mark, isRepeated, async () => {
      requireUnused(database);
      if (input.prepare) await withCopy(draft, input.prepare);
    });
    onStep?.("prepared");
    const aside = await moveAside(database, at, onStep);
    await rename(draft, database);
    onStep?.("named");
    await syncFolder(dirname(database));
    await rm(mark);
    return { aside, bytes: (await stat(database)).size };
  } finally {
    await rm(draft, { force: true });
  }
}

function requireOther(database: string, backup: string) {
  if (!existsSync(backup)) {
    throw new Refusal("not_found", `There is no file ${backup}`, { hint: "See what was backed up: askd doctor" });
  }
  if (backup === database) throw new Refusal("bad_input", `${backup} is the store itself; nothing was changed`);
}

/** Copies the backup with what is in its log, which stays as it is, and checks the copy. */
async function copyChecked(backup: string, draft: string) {
  await rm(draft, { force: true });
  const source = await Connection.lookUntouched(backup);
  try {
    const version = compareVersion(await source.read(() => readMeta(source)), SCHEMA);
    if (version === "newer") {
      throw new Refusal("newer_schema", `${backup} was made by a newer askd; nothing was changed`, {
        hint: "npm install -g askd@latest",
      });
    }
    await source.read(() => source.database.prepare("vacuum into ?").run(draft));
  } finally {
    source.close();
  }
  await chmod(draft, FILE_MODE);
  const copy = await Connection.lookUntouched(draft);
  try {
    const found = copy.database.prepare<{ integrity_check: string }>("pragma integrity_check(1)").get();
    if (found?.integrity_check !== "ok") {
      throw new Refusal("store_unusable", `${backup} is damaged; nothing was changed`, {
        hint: "Restore an older backup (docs/backup.md)",
        cause: found?.integrity_check,
      });
    }
  } finally {
    copy.close();
  }
  await syncFile(draft);
}

async function writeMark(mark: string, backup: string) {
  await writeFile(mark, `${JSON.stringify({ backup })}\n`, { mode: FILE_MODE });
  await syncFile(mark);
  await syncFolder(dirname(mark));
}

/** Takes the mark away again if the restore is refused; that of an interrupted one stays. */
async function orUnmark(mark: string, isRepeated: boolean, body: () => Promise<void>) {
  try {
    await body();
  } catch (error) {
    if (!isRepeated) await rm(mark, { force: true });
    throw error;
  }
}

async function withCopy(draft: string, prepare: (copy: Store) => Promise<void>) {
  const copy = readSqliteStore(await Connection.lookUntouched(draft));
  try {
    await prepare(copy);
  } finally {
    await copy.close();
  }
}

/** Refuses if a process has the store open; one that opens it from now on finds the mark. */
function requireUnused(database: string) {
  const users = listFileUsers(database);
  if (users.length === 0 && isUnused(database)) return;
  const named = users.length === 0 ? "another process" : describeFileUsers(users);
  const verb = users.length > 1 ? "have" : "has";
  const kill = users.map(({ pid }) => pid).join(" ");
  throw new Refusal("store_unusable", `${named} ${verb} the store open; nothing was changed`, {
    hint: `Stop what uses it: askd service stop${kill === "" ? "" : `, or kill ${kill}`}. Then restore again.`,
  });
}

/** Moves the store and its log into a folder beside it; the log first, because it belongs to its file. */
async function moveAside(database: string, at: Instant, onStep: RestoreInput["onStep"]) {
  const files = ["-wal", "-shm", ""].map((end) => `${database}${end}`).filter((file) => existsSync(file));
  if (files.length === 0) return undefined;
  const aside = await makeAside(database, at);
  for (const file of files) {
    await rename(file, join(aside, basename(file)));
    onStep?.(`moved ${basename(file)}`);
  }
  await syncFolder(aside);
  return aside;
}

/** The folder of an interrupted restore is used again, unless a store is already in it. */
async function makeAside(database: string, at: Instant) {
  const stamp = at.slice(0, 19).replaceAll(/\W/g, "");
  for (let count = 1; ; count += 1) {
    const aside = `${database}.before-${stamp}Z${count === 1 ? "" : `-${count}`}`;
    try {
      await mkdir(aside, { mode: DIRECTORY_MODE });
      return aside;
    } catch (error) {
      if (!hasErrorCode(error, "EEXIST")) throw error;
    }
  }
}

async function removeDrafts(database: string) {
  const folder = dirname(database);
  const names = await readdir(folder);
  const drafts = names.filter((name) => name.startsWith(`${basename(database)}.`) && name.includes(DRAFT));
  for (const name of drafts) await rm(join(folder, name), { force: true });
}

async function syncFolder(path: string) {
  const folder = await open(path, "r");
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
