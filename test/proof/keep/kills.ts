import { copyFileSync, cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { execFileSync } from "node:child_process";
import pg from "pg";
import { checkExport } from "../../../src/engine/trail/import.ts";
import { Refusal } from "../../../src/core/refusal.ts";
import { restoreMarkOf } from "../../../src/store/sqlite/restore-mark.ts";
import { verify } from "../../../src/engine/trail/verify.ts";
import { startDebianPostgres } from "../../debian-postgres.ts";
import { createDatabase } from "../../postgres.ts";
import { type Database, type Place, openStore, withPlace } from "../place.ts";
import { askd, mustAskd } from "./askd.ts";
import { fillWithEveryState } from "./every-state.ts";

/** The part of a command's time in which it is killed: before, it only loads. */
const FROM = 0.3;
const TO = 1;
/** Some end before they can be killed: others are tried in their place. */
const TRIES_PER_POINT = 2;

export interface Killed {
  operation: string;
  killed: number;
  /** How many had ended before. */
  ended: number;
  problems: string[];
}

/** A home with a filled store and what was made of it. */
interface Stage {
  home: string;
  place: Place;
  /** A whole export and a backup, made in peace. */
  file: string;
  backup: string;
  runs: number;
}

interface Operation {
  name: string;
  /** Prepares one try and returns its command, and how to see that nothing is lost or half. */
  prepare(stage: Stage, index: number): Promise<Try>;
}

interface Try {
  argv: string[];
  place: Place;
  check(): Promise<string[]>;
}

/** Kills backup, export, import and restore at so many points each, and looks for anything that is lost or half. */
export async function killWhileKeeping(database: Database, points: number, only = ""): Promise<Killed[]> {
  return withOwnPlace(database, async (place) => {
    const home = mkdtempSync(join(tmpdir(), "askd-kills-"));
    try {
      const stage = await prepareStage(home, place);
      const operations =
        database === "sqlite" ? [BACKUP, EXPORT, IMPORT, RESTORE_FILE] : [BACKUP_DUMP, EXPORT, IMPORT, RESTORE_DUMP];
      const results: Killed[] = [];
      const wanted = operations.filter(({ name }) => name.includes(only));
      for (const operation of wanted) results.push(await killOperation(operation, stage, points));
      return results;
    } finally {
      rmSync(home, { recursive: true, force: true });
    }
  });
}

/** In PostgreSQL on Debian's server, whose dumps Debian's programs can make and restore. */
async function withOwnPlace<Result>(database: Database, body: (place: Place) => Promise<Result>): Promise<Result> {
  if (database === "sqlite") return withPlace(database, body);
  const server = await startDebianPostgres();
  try {
    return await body({ database, address: await createDatabase("kept", server.url) });
  } finally {
    await server.stop();
  }
}

async function prepareStage(home: string, place: Place): Promise<Stage> {
  const store = await openStore(place);
  await fillWithEveryState(store);
  const { runs } = await verify(store);
  await store.close();
  const file = join(home, "whole.ndjson");
  const backup = join(home, "whole.backup");
  await mustAskd(["export", "--with-secrets", "-o", file], { home, place });
  await mustAskd(["backup", backup], { home, place });
  return { home, place, file, backup, runs };
}

async function killOperation({ name, prepare }: Operation, stage: Stage, points: number): Promise<Killed> {
  const result: Killed = { operation: name, killed: 0, ended: 0, problems: [] };
  const peaceful = await prepare(stage, 0);
  let { ms: longestMs } = await mustAskd(peaceful.argv, { home: stage.home, place: peaceful.place });
  result.problems.push(...(await peaceful.check()).map((problem) => `in peace: ${problem}`));
  for (let index = 1; result.killed < points && index <= points * TRIES_PER_POINT; index += 1) {
    const { argv, place, check } = await prepare(stage, index);
    const part = FROM + ((TO - FROM) * ((index - 1) % points)) / points;
    const { exit, ms } = await askd(argv, { home: stage.home, place, killAfterMs: longestMs * part });
    if (exit === undefined) result.killed += 1;
    else result.ended += 1;
    // The first one loads the program from the disk, and takes longer than all others.
    if (exit !== undefined) longestMs = Math.min(longestMs, ms);
    result.problems.push(...(await check()).map((problem) => `try ${index}: ${problem}`));
  }
  return result;
}

/** The problems of a store that must be whole, with all runs, or with any number of whole ones. */
async function checkWhole(place: Place, runs: number | "any"): Promise<string[]> {
  const store = await openStore(place);
  try {
    const verified = await verify(store);
    const isShort = runs !== "any" && verified.runs !== runs;
    return [...verified.problems, ...(isShort ? [`${verified.runs} of ${runs} runs are there`] : [])];
  } finally {
    await store.close();
  }
}

const BACKUP: Operation = {
  name: "backup",
  prepare: async ({ home, place, runs }, index) => {
    const target = join(home, `backup-${index}.db`);
    return {
      argv: ["backup", target],
      place,
      check: async () => {
        const copy: Place = { database: "sqlite", address: target };
        return [...(await checkWhole(place, runs)), ...(existsSync(target) ? await checkWhole(copy, runs) : [])];
      },
    };
  },
};

const BACKUP_DUMP: Operation = {
  name: "backup",
  prepare: async ({ home, place, runs }, index) => {
    const target = join(home, `backup-${index}.dump`);
    return {
      argv: ["backup", target],
      place,
      check: async () => {
        // Its list of contents is at its end: a dump that has one is complete.
        if (existsSync(target)) execFileSync("pg_restore", ["--list", target], { stdio: "ignore" });
        return checkWhole(place, runs);
      },
    };
  },
};

const EXPORT: Operation = {
  name: "export",
  prepare: async ({ home, place, runs }, index) => {
    const target = join(home, `export-${index}.ndjson`);
    return {
      argv: ["export", "--with-secrets", "-o", target],
      place,
      check: async () => {
        const problems = await checkWhole(place, runs);
        if (!existsSync(target)) return problems;
        const { key } = await checkExport(linesOf(target));
        return key === undefined ? [...problems, "the export is not signed"] : problems;
      },
    };
  },
};

const IMPORT: Operation = {
  name: "import",
  prepare: async ({ home, place, file, runs }, index) => {
    const target = await emptyPlace(home, place, index);
    return {
      argv: ["import", file],
      place: target,
      check: async () => {
        const half = await checkWhole(target, "any");
        // The same command finishes what was begun.
        await mustAskd(["import", file], { home, place: target });
        return [...half.map((problem) => `half: ${problem}`), ...(await checkWhole(target, runs))];
      },
    };
  },
};

const RESTORE_FILE: Operation = {
  name: "restore",
  prepare: async ({ home, place, backup, runs }, index) => {
    const target = await emptyPlace(home, place, 1_000 + index);
    copyFileSync(place.address, target.address);
    return {
      argv: ["restore", backup],
      place: target,
      check: async () => {
        // A copy, because nobody may have the store open that is restored next.
        const copy = { ...target, address: join(`${dirname(target.address)}.half`, basename(target.address)) };
        cpSync(dirname(target.address), dirname(copy.address), { recursive: true });
        const half = await checkHalf(copy, runs);
        await mustAskd(["restore", backup], { home, place: target });
        const folder = dirname(target.address);
        const aside = readdirSync(folder).filter((name) => name.includes(".before-"));
        const kept = aside.filter((name) => existsSync(join(folder, name, "askd.db")));
        const lost = kept.length === 0 ? ["the store that was there is not kept"] : [];
        return [...half.map((problem) => `half: ${problem}`), ...lost, ...(await checkWhole(target, runs))];
      },
    };
  },
};

/** Old or new, but whole; in between nobody can open it, and is told to restore again. */
async function checkHalf(place: Place, runs: number): Promise<string[]> {
  if (!existsSync(restoreMarkOf(place.address))) return checkWhole(place, runs);
  try {
    await (await openStore(place)).close();
    return ["a store was opened whose restore was interrupted"];
  } catch (error) {
    return error instanceof Refusal && error.hint?.includes("restore again") ? [] : [String(error)];
  }
}

const RESTORE_DUMP: Operation = {
  name: "restore",
  prepare: async ({ home, place, backup, runs }, index) => {
    const target = await emptyPlace(home, place, 1_000 + index);
    await (await openStore(target)).close();
    return {
      argv: ["restore", backup],
      place: target,
      check: async () => {
        await untilUnused(target);
        // Old or new, but whole; then the same command does it.
        const half = await checkWhole(target, "any");
        await mustAskd(["restore", backup], { home, place: target });
        return [...half.map((problem) => `half: ${problem}`), ...(await checkWhole(target, runs))];
      },
    };
  },
};

/** Another place of the same kind. */
async function emptyPlace(home: string, place: Place, index: number): Promise<Place> {
  if (place.database === "sqlite") {
    const folder = join(home, `store-${index}`);
    mkdirSync(folder, { mode: 0o700 });
    return { database: "sqlite", address: join(folder, "askd.db") };
  }
  const name = `kept_${process.pid}_${index}`;
  await withClient(place, async (client) => {
    await client.query(`drop database if exists ${name}`);
    await client.query(`create database ${name}`);
  });
  const url = new URL(place.address);
  url.pathname = `/${name}`;
  return { database: "postgres", address: url.href };
}

/** The server ends what a killed program left open. */
async function untilUnused(place: Place) {
  const name = new URL(place.address).pathname.slice(1);
  await withClient(place, async (client) => {
    const sql = "select from pg_stat_activity where datname = $1";
    while ((await client.query(sql, [name])).rows.length > 0) await new Promise((wake) => setTimeout(wake, 20));
  });
}

async function withClient(place: Place, act: (client: pg.Client) => Promise<void>) {
  const url = new URL(place.address);
  url.pathname = "/postgres";
  const client = new pg.Client(url.href);
  await client.connect();
  try {
    await act(client);
  } finally {
    await client.end();
  }
}

async function* linesOf(file: string): AsyncGenerator<string> {
  for (const line of readFileSync(file, "utf8").trimEnd().split("\n")) yield line;
}
