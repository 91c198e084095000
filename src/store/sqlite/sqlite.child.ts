import { randomBytes } from "node:crypto";
import { createInterface } from "node:readline";
import { idsFrom } from "../../core/id.ts";
import { openDatabase } from "../../sqlite.ts";
import { aQuestion, aRun, anEvent } from "../../../test/builders.ts";
import { openSqliteStore } from "./sqlite.ts";
import type { Store } from "../store.ts";

// A second process for tests: it runs one command per line and reports when it is done.
const [path = ""] = process.argv.slice(2);
const ids = idsFrom(Date.now, (count) => randomBytes(count));
process.umask(0); // the store must close its files to others by itself
let store: Store | undefined;

const COMMANDS: Record<string, (argument: string) => Promise<string>> = {
  open: async () => {
    store = await openSqliteStore(path);
    return "opened";
  },
  ask: async () => {
    const run = aRun({ id: ids.run() });
    const question = aQuestion({ id: ids.question(), runId: run.id });
    const events = [anEvent({ runId: run.id, questionId: question.id })];
    const committed = await store?.commit({ runs: [run], questions: [question], events });
    const number = committed?.ok ? committed.numbers.get(run.id) : undefined;
    return JSON.stringify({ number, id: question.id, at: Date.now() });
  },
  lock: async (ms) => {
    const database = openDatabase(path);
    database.exec("begin immediate");
    setTimeout(() => database.exec("commit"), Number(ms));
    return "locked";
  },
  sql: async (text) => {
    const database = openDatabase(path);
    database.exec(text);
    return "done";
  },
};

console.log("ready");
for await (const line of createInterface({ input: process.stdin })) {
  const [name = "", ...rest] = line.split(" ");
  console.log((await COMMANDS[name]?.(rest.join(" "))) ?? "unknown");
}
