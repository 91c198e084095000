import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { epochMs, type Instant } from "../../src/core/instant.ts";
import type { Rules } from "../../src/core/rules.ts";
import type { LocalEngine } from "../../src/engine/local-engine.ts";
import { openDatabase } from "../../src/sqlite.ts";
import { engineOn } from "../../src/app.ts";
import { MemoryStore } from "../memory-store/memory.ts";
import { openPostgres } from "../../src/store/postgres/postgres.ts";
import { openSqliteStore } from "../../src/store/sqlite/sqlite.ts";
import type { Store } from "../../src/store/store.ts";
import { countingIds } from "../builders.ts";
import { overriding } from "./overriding.ts";

/** Nothing crashes here, so nothing has to wait for a real disk. */
const MEMORY_DISK = "/dev/shm";
const TABLES = ["job", "seal", "event", "entry", "content", "question", "run"];
/** The row of the store's own chain stays, as in a new store. */
const RENEW_CHAIN = "update run set chain_n = 0, chain_hash = '' where number = 0;";
const EMPTY = `${TABLES.map((table) => `delete from ${table}${table === "run" ? " where number > 0" : ""};`).join(" ")} ${RENEW_CHAIN}`;
// The database tells the time by this function alone, so that a test can set it.
const TELL_TIME = `
create table test_clock as select 0::bigint as ms;
create or replace function askd_instant(after_ms integer) returns text language sql volatile as $$
  select to_char(to_timestamp((ms + after_ms) / 1000.0) at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
  from test_clock
$$`;

/** One of several stores that are to behave alike, by a clock that moves when told. */
export interface Twin {
  name: string;
  store: Store;
  empty(): Promise<void>;
  setTime(now: Instant): Promise<void>;
  close(): Promise<void>;
}

export async function memoryTwin(now: () => Instant): Promise<Twin> {
  let store = new MemoryStore(now);
  return {
    name: "memory",
    get store() {
      return store;
    },
    empty: async () => {
      store = new MemoryStore(now);
    },
    setTime: async () => undefined,
    close: () => store.close(),
  };
}

export async function sqliteTwin(now: () => Instant): Promise<Twin> {
  const directory = mkdtempSync(join(existsSync(MEMORY_DISK) ? MEMORY_DISK : tmpdir(), "askd-twin-"));
  const path = join(directory, "askd.db");
  const store = await openSqliteStore(path, { now });
  const other = openDatabase(path);
  return {
    name: "sqlite",
    store,
    empty: async () => other.exec(`begin immediate; ${EMPTY} commit`),
    setTime: async () => undefined,
    close: async () => {
      other.close();
      await store.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

export async function postgresTwin(url: string): Promise<Twin> {
  const store = await openPostgres({ url });
  const other = new pg.Client(url);
  await other.connect();
  await other.query(TELL_TIME);
  return {
    name: "postgres",
    store,
    empty: async () => void (await other.query(EMPTY)),
    setTime: async (now) => void (await other.query("update test_clock set ms = $1", [epochMs(now)])),
    close: async () => {
      await other.end();
      await store.close();
    },
  };
}

/** The store of a twin by a clock that it is shown with every call that needs the time; it outlives its engines. */
export function clockedTwin(twin: Twin, now: () => Instant): Store {
  const { store } = twin;
  let shown: Instant | undefined;
  const showTime = async () => {
    const at = now();
    if (shown !== at) await twin.setTime(at);
    shown = at;
  };
  const timed = <Args extends unknown[], Result>(call: (...args: Args) => Promise<Result>) => {
    return async (...args: Args): Promise<Result> => {
      await showTime();
      return call(...args);
    };
  };
  return overriding(store, {
    now: timed(() => store.now()),
    commit: timed((changes) => store.commit(changes)),
    claimJobs: timed((filter) => store.claimJobs(filter)),
    nextJobAt: timed((filter) => store.nextJobAt(filter)),
    findSchemaDifferences: async () => [], // the clock is one
    close: async () => undefined,
  });
}

/** A new engine on a twin. All of them give the same ids to the same questions and runs. */
export function twinEngine(twin: Twin, rules: Rules, nowMs: () => number): LocalEngine {
  const store = overriding(twin.store, { close: async () => undefined }); // the store outlives the engine
  return engineOn(store, {
    rules,
    nowMs,
    ids: { ...countingIds("rows"), outcome: countingIds("outcomes").outcome, worker: countingIds("workers").worker },
    onFailure: (job, error) => {
      throw new Error(`job ${job.key} failed: ${String(error)}`, { cause: error });
    },
  });
}
