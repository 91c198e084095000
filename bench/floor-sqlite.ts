import { join } from "node:path";
import { type Database, openDatabase } from "../src/sqlite.ts";
import type { Subject } from "./loop.ts";

const SCHEMA = `
  pragma journal_mode = wal;
  pragma synchronous = full;
  create table question (id integer primary key, body text not null, answer text, given integer not null default 0)`;
const BODY = JSON.stringify({ question: "Redis or Memcached?", context: "x".repeat(250) });

/** The least that a durable cycle can cost with this driver: three statements, each its own transaction. */
export function bareSqlite(directory: string): Subject {
  return floor("floor: bare driver, 3 transactions", openFloor(join(directory, "bare.db")), (work) =>
    Promise.resolve(work()),
  );
}

/** The same three statements, where everything of one turn of the loop shares a transaction. */
export function groupedSqlite(directory: string): Subject {
  const db = openFloor(join(directory, "grouped.db"));
  let waiting: Array<() => void> = [];
  const flush = () => {
    const batch = waiting;
    waiting = [];
    db.exec("begin immediate");
    const done = batch.map((work) => work());
    db.exec("commit");
    return done;
  };
  const commit = <Result>(work: () => Result): Promise<Result> =>
    new Promise((resolve) => {
      let result: Result;
      if (waiting.length === 0) setImmediate(() => flush());
      waiting.push(() => {
        result = work();
        queueMicrotask(() => resolve(result));
      });
    });
  return floor("floor: bare driver, group commit", db, commit);
}

function openFloor(path: string): Database {
  const db = openDatabase(path);
  db.exec(SCHEMA);
  return db;
}

function floor(name: string, db: Database, commit: <Result>(work: () => Result) => Promise<Result>): Subject {
  const insert = db.prepare("insert into question (body) values (?)");
  const answer = db.prepare("update question set answer = ? where id = ? and answer is null");
  const give = db.prepare("update question set given = 1 where id = ? and given = 0");
  return {
    name,
    async cycle() {
      const id = await commit(() => insert.run(BODY).lastInsertRowid);
      let seenAt = 0;
      let wake: () => void = () => {};
      const seen = new Promise<void>((resolve) => (wake = resolve)).then(() => void (seenAt = performance.now()));
      const answeredAt = performance.now();
      await commit(() => answer.run("Redis", id)).then(wake);
      await seen;
      await commit(() => give.run(id));
      return { wakeMs: seenAt - answeredAt };
    },
    close: async () => db.close(),
  };
}
