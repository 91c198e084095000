import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  truncateSync,
  writeFileSync,
  statSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { hasEnded } from "../../core/run/run.ts";
import { ADA } from "../../../test/builders.ts";
import { SYSTEM } from "../../core/people/actor.ts";
import { exportStore } from "../../engine/trail/export.ts";
import { importLines } from "../../engine/trail/import.ts";
import { verify } from "../../engine/trail/verify.ts";
import { openDatabase } from "../../sqlite.ts";
import { openPostgres } from "../../store/postgres/postgres.ts";
import { openSqliteStore } from "../../store/sqlite/sqlite.ts";
import type { Store } from "../../store/store.ts";
import { createDatabase } from "../../../test/postgres.ts";
import { archiveUnsealed, fillStore } from "../../../test/proof/tamper-fill.ts";
import { workflowEngine } from "../../../test/proof/tamper-workflow.ts";
import { said } from "../../../test/scene.ts";
import { Ward } from "../../../test/ward.ts";
import { checkStore } from "../check-up.ts";
import { type Finding, needsAction } from "../finding.ts";
import { repairAll } from "../run-checks.ts";

const directory = mkdtempSync(join(tmpdir(), "askd-damage-"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));
const filled = join(directory, "filled.db");
const exported: string[] = [];

beforeAll(async () => {
  const store = await openSqliteStore(filled);
  await fillStore(store);
  await exportStore(store, { version: "1", hasSecrets: true }, async (text) => void exported.push(text));
  await store.close();
});

/** Damage by statements, or to the file itself. */
type Damage = string | ((file: string) => void);
/** `mended`: doctor --fix repairs it. `explained`: it says what to type. */
type Case = [what: string, damage: Damage, code: string, how: "mended" | "explained"];

const bad = (table: string, where: string, key = "id") =>
  `update ${table} set body = '{"id": "broken' where ${key} in (select ${key} from ${table} where ${where} limit 1)`;
/** Deletes rows, as somebody does by hand. */
const lose = (table: string, where: string, { limit = 1, key = "rowid" } = {}) =>
  `pragma foreign_keys = off; ${remove(table, where, { limit, key })}`;
const remove = (table: string, where: string, { limit = 1, key = "id" } = {}) =>
  `delete from ${table} where ${key} in (select ${key} from ${table} where ${where} limit ${limit})`;
/** The run of a workflow, and the runs of its branches that it waits for. */
const WORKFLOW = "name = 'choose'";
const BRANCH = "name like 'choose/%'";
const broken = (kind: string, where: string) =>
  `update entry set body = '{"list": "broken' where kind = '${kind}' and id = (select min(id) from run where ${where})`;
const TIMERS = "kind in ('expire', 'remind', 'watch', 'settle')";
const ORPHAN = `insert into job (key, kind, due_at, ready_at, attempt, body)
  select 'clock:' || id, 'expire', '2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00.000Z', 1,
    '{"key":"clock:' || id || '","kind":"expire","dueAt":"2026-01-01T00:00:00.000Z","runId":"' || run_id
      || '","questionId":"' || id || '","tries":0}' from question where status = 'answered' limit 1`;

const PAGE = "a page of the archive";
const NO_PAGE = "no page of the archive";
const POINTED = "(select min(cast(substr(body, 2) as integer)) from question where body like '@%')";

const IN_FILES: Case[] = [
  [PAGE, `update archive set body = x'01ff' where last = ${POINTED}`, "trail_unreadable", "explained"],
  ["a run whose text is bytes", `update run set body = x'00ff00' where number = 2`, "row_unreadable", "mended"],
  ["a pending question", bad("question", "status = 'pending'"), "row_unreadable", "mended"],
  ["an answered question", bad("question", "status = 'answered'"), "row_unreadable", "mended"],
  ["a timed out question", bad("question", "status = 'timeout'"), "row_unreadable", "mended"],
  ["a cancelled question", bad("question", "status = 'cancelled'"), "row_unreadable", "mended"],
  ["every question", "update question set body = 'x'", "row_unreadable", "mended"],
  ["a run that waits", bad("run", "status = 'awaiting_input'"), "row_unreadable", "mended"],
  ["a run to be resumed", bad("run", "status = 'resuming'"), "row_unreadable", "mended"],
  ["a run that ended", bad("run", "status = 'completed'"), "row_unreadable", "mended"],
  [
    "a run and its question",
    `${bad("run", "number = 2")}; ${bad("question", "run_id = (select id from run where number = 2)")}`,
    "row_unreadable",
    "mended",
  ],
  ["a text", bad("content", "1 = 1", "hash"), "row_unreadable", "mended"],
  [
    "a text that is a number",
    "update content set body = '7' where hash = (select max(hash) from content)",
    "row_unreadable",
    "mended",
  ],
  [
    "a question that is an array",
    "update question set body = '[]' where status = 'pending'",
    "row_unreadable",
    "mended",
  ],
  ["a timer", bad("job", TIMERS, "key"), "row_unreadable", "mended"],
  ["a job that resumes", bad("job", "kind = 'resume'", "key"), "row_unreadable", "mended"],
  ["a job that seals", bad("job", "kind = 'seal'", "key"), "row_unreadable", "mended"],
  ["a person", "update entry set body = 'x' where kind = 'person' and id = 'lena'", "row_unreadable", "mended"],
  ["a template", "update entry set body = '[1' where kind = 'template'", "row_unreadable", "mended"],
  [
    "a token",
    `update entry set body = '' where kind = 'token' and id = (select max(id) from entry where kind = 'token')`,
    "row_unreadable",
    "mended",
  ],
  [
    "a message",
    "update entry set body = '{' where kind = 'delivery' and id = (select max(id) from entry where kind = 'delivery')",
    "row_unreadable",
    "mended",
  ],
  ["a workflow that waits", bad("run", WORKFLOW), "row_unreadable", "mended"],
  ["a branch of a workflow", bad("run", BRANCH), "row_unreadable", "mended"],
  ["the checkpoint of a workflow", broken("checkpoint", WORKFLOW), "row_unreadable", "mended"],
  ["the checkpoint of a branch", broken("checkpoint", BRANCH), "row_unreadable", "mended"],
  ["every checkpoint", "update entry set body = '{' where kind = 'checkpoint'", "row_unreadable", "mended"],
  ["an approval of a workflow", "update entry set body = '{' where kind = 'workflow'", "row_unreadable", "mended"],
  [
    "a line of the trail",
    "update event set body = '{' where seq = (select max(seq) from event)",
    "trail_unreadable",
    "explained",
  ],
  ["no version", "delete from meta", "schema_lost", "mended"],
  ["no trail of tokens", "pragma foreign_keys = off; delete from run where number = 0", "schema_lost", "mended"],
  ["no mark of words", "delete from word_mark", "schema_lost", "mended"],
  ["no index of states", "drop index run_status", "schema_differs", "mended"],
  ["no index of keys", "drop index question_key", "schema_differs", "mended"],
  ["no index of jobs", "drop index job_ready", "schema_differs", "mended"],
  [
    "another index of that name",
    "drop index run_parent; create index run_parent on run (name)",
    "schema_differs",
    "mended",
  ],
  ["no words of questions", "drop table question_word", "schema_differs", "mended"],
  ["no words of answers", "drop table answered_word", "schema_differs", "mended"],
  [
    "no words at all",
    "drop table question_word; drop table answered_word; drop table word_mark",
    "schema_differs",
    "mended",
  ],
  [
    "a foreign trigger",
    "create trigger t after insert on question begin delete from job; end",
    "schema_differs",
    "mended",
  ],
  ["a foreign view", "create view v as select * from question", "schema_differs", "mended"],
  ["a foreign index", "create index i on question (version)", "schema_differs", "mended"],
  ["no mark of whose it is", "pragma application_id = 0", "schema_differs", "mended"],
  ["another user version", "pragma user_version = 7", "schema_differs", "mended"],
  ["an older askd allowed", "update meta set writable_by = 1", "schema_differs", "mended"],
  ["attempts that begin anew", "update meta set attempt = 0", "schema_differs", "mended"],
  ["a foreign table", "create table other (x)", "schema_foreign", "explained"],
  ["a foreign column", "alter table run add column other", "schema_foreign", "explained"],
  ["no run that waits", lose("run", "status = 'awaiting_input'"), "row_lost", "mended"],
  ["no run that is to be resumed", lose("run", "status = 'resuming'"), "row_lost", "mended"],
  ["no run that ended", lose("run", "status = 'completed'"), "row_lost", "mended"],
  ["no run that is in the archive", lose("run", "body like '@%'"), "row_lost", "mended"],
  ["no runs at all", lose("run", "number > 0", { limit: 100 }), "row_lost", "mended"],
  ["no pending question", lose("question", "status = 'pending'"), "row_lost", "mended"],
  ["no answered question", lose("question", "status = 'answered'"), "row_lost", "mended"],
  ["no question that is in the archive", lose("question", "body like '@%'"), "row_lost", "mended"],
  ["no questions at all", lose("question", "1 = 1", { limit: 100 }), "row_lost", "mended"],
  ["no text", lose("content", "1 = 1", { key: "hash" }), "row_lost", "mended"],
  ["no person", lose("entry", "kind = 'person'"), "row_lost", "mended"],
  ["no token", lose("entry", "kind = 'token'"), "row_lost", "mended"],
  ["no template", lose("entry", "kind = 'template'"), "row_lost", "mended"],
  ["no message", lose("entry", "kind = 'delivery'"), "row_lost", "mended"],
  [
    "no entries that the trail tells of",
    lose("entry", "kind in ('person', 'token', 'ask')", { limit: 100 }),
    "row_lost",
    "mended",
  ],
  ["no workflow that waits", lose("run", WORKFLOW), "row_lost", "mended"],
  ["no branch of a workflow", lose("run", BRANCH), "row_lost", "mended"],
  ["no checkpoint", lose("entry", "kind = 'checkpoint'"), "row_lost", "mended"],
  ["no checkpoints at all", lose("entry", "kind = 'checkpoint'", { limit: 100 }), "row_lost", "mended"],
  ["no line of the trail", lose("event", "n = 2"), "trail_differs", "explained"],
  ["no last line of the trail", lose("event", "seq = (select max(seq) from event)"), "trail_differs", "explained"],
  [NO_PAGE, lose("archive", "1 = 1"), "row_unreadable", "explained"],
  ["no first seal", lose("seal", "n = 1"), "trail_differs", "explained"],
  ["no last seal", lose("seal", "n = (select max(n) from seal)"), "trail_differs", "explained"],
  ["no seals", lose("seal", "1 = 1", { limit: 100 }), "trail_differs", "explained"],
  ["another seal", "update seal set hash = 'x' where n = 2", "trail_differs", "explained"],
  ["a seal that is no JSON", "update seal set body = '{' where n = 2", "trail_differs", "explained"],
  ["no mark of the last seal", lose("entry", "kind = 'seal'"), "trail_differs", "explained"],
  [
    "another answer",
    `update question set body = replace(body, '"answered"', '"answered" ') where body like '{%'`,
    "trail_differs",
    "explained",
  ],
  [
    "another state in a column",
    "update question set status = 'answered' where status = 'timeout'",
    "trail_differs",
    "explained",
  ],
  ["another name in a column", "update run set name = 'x' where number = 2", "trail_differs", "explained"],
  [
    "a person in no trail",
    "insert into entry select kind, 'eve', parent, version, body from entry where id = 'ada'",
    "trail_differs",
    "explained",
  ],
  ["no timers", `delete from job where ${TIMERS}`, "timer_missing", "mended"],
  ["no job to resume", "delete from job where kind = 'resume'", "timer_missing", "mended"],
  ["no jobs but those that stop agents", "delete from job where kind <> 'stop'", "timer_missing", "mended"],
  ["a timer of a closed question", ORPHAN, "timer_orphaned", "mended"],
  ["no table of entries", "drop table entry", "store_unusable", "explained"],
  ["a newer version", "update meta set schema = 99, writable_by = 99", "newer_schema", "explained"],
  ["another journal", "pragma journal_mode = delete", "not_durable", "explained"],
  ["a cut file", (file) => truncateSync(file, 8192), "store_unusable", "explained"],
  ["an empty file", (file) => truncateSync(file, 0), "store_unusable", "explained"],
  ["another file", (file) => writeFileSync(file, "Dear diary, ".repeat(1000)), "store_unusable", "explained"],
  ["a file that others can read", (file) => chmodSync(file, 0o644), "store_open", "mended"],
];

test.each(IN_FILES)("a file with %s damaged", async (what, damage, code, how) => {
  const ward = new Ward();
  mkdirSync(dirname(ward.file), { mode: 0o700 });
  copyFileSync(filled, ward.file);
  chmodSync(ward.file, 0o600);
  if (typeof damage === "string") {
    const database = openDatabase(ward.file);
    database.exec(damage);
    database.close();
  } else damage(ward.file);
  expect(await treat(ward, { code, how, open: () => openSqliteStore(ward.file) })).toBe(how);
  const copies = readdirSync(dirname(ward.file)).filter((name) => name.includes(".before-fix-"));
  for (const name of copies) expect(statSync(join(dirname(ward.file), name)).mode & 0o777).toBe(0o600);
  // Of a damaged page, the rows in it are set aside.
  const isRebuilt = (/^(row|schema)/.test(code) && how === "mended") || what === PAGE || what === NO_PAGE;
  expect(copies.length > 0).toBe(isRebuilt);
  if (how === "mended") await expectNoWorkflowLost(ward.file, damage);
});

/** With a row of it mended, a workflow ends: nothing of it waits for ever. */
async function expectNoWorkflowLost(file: string, damage: Damage): Promise<void> {
  if (typeof damage !== "string" || !/choose|checkpoint/.test(damage)) return;
  const store = await openSqliteStore(file);
  try {
    const { engine, doSteps } = workflowEngine(store);
    await doSteps();
    const waiting = await store.listQuestions({ status: "pending", order: "oldest", limit: 100 });
    for (const { id, title } of waiting) if (/colour|shape/.test(title)) await engine.answer(id, said("green"), ADA);
    await doSteps();
    const runs = await store.listRuns({ order: "oldest", limit: 100 });
    const left = runs.filter(
      (run) => !hasEnded(run) && (run.name.startsWith("choose") || run.reason === "row_damaged"),
    );
    expect(left.map(({ name, status }) => `${name} ${status}`)).toEqual([]);
    expect((await verify(store)).problems).toEqual([]);
  } finally {
    await store.close();
  }
}

const IN_DATABASES: Case[] = [
  [PAGE, `update archive set body = '\\x01ff' where page = ${POINTED}`, "trail_unreadable", "explained"],
  ["a pending question", bad("question", "status = 'pending'"), "row_unreadable", "mended"],
  ["no version", "delete from meta", "schema_lost", "mended"],
  ["no index of states", "drop index run_status", "schema_differs", "mended"],
  ["no run that waits", remove("run", "status = 'awaiting_input'"), "row_lost", "mended"],
  ["no runs at all", remove("run", "number > 0", { limit: 100 }), "row_lost", "mended"],
  ["no answered question", remove("question", "status = 'answered'"), "row_lost", "mended"],
  ["no text", remove("content", "1 = 1", { key: "hash" }), "row_lost", "mended"],
  ["another name in a column", "update run set name = 'x' where number = 2", "trail_differs", "explained"],
  ["an older askd allowed", "update meta set writable_by = 1", "schema_differs", "mended"],
  ["attempts that begin anew", "select setval('job_attempt', 1)", "schema_differs", "mended"],
  ["two versions", "insert into meta values (0, 0)", "schema_differs", "mended"],
  ["no words", "drop table question_word, answered_word, word_mark", "schema_differs", "mended"],
];

test.each(IN_DATABASES)("a database with %s damaged", async (what, damage, code, how) => {
  const url = await createDatabase("doctor_damage");
  const store = await openPostgres({ url });
  await importLines(store, each(exported), SYSTEM);
  if (what === PAGE) await archiveUnsealed(store);
  await store.close();
  const client = new pg.Client(url);
  await client.connect();
  await client.query(String(damage));
  await client.end();
  const ward = new Ward({ store: { kind: "postgres", url } });
  expect(await treat(ward, { code, how, open: () => openPostgres({ url }) })).toBe(how);
  // The pg_dump of this machine may be older than the server of the tests: then it is said that there is no copy.
  const isRebuilt = (/^(row|schema)/.test(code) && how === "mended") || what === PAGE;
  expect(ward.notes.some((note) => /^The database (was copied|is repaired without a copy)/.test(note))).toBe(isRebuilt);
});

interface Treatment {
  code: string;
  how: "mended" | "explained";
  open(): Promise<Store>;
}

/** Looks at the store, repairs what can be repaired, and says which of the two it came to. */
async function treat(ward: Ward, { code, how, open }: Treatment): Promise<Treatment["how"]> {
  const look = () => checkStore(ward.context);
  const troubles = (await look()).filter(isOfStore);
  expect(troubles.map((finding) => finding.code)).toContain(code);
  // Whatever is found says what to type.
  for (const { fix } of troubles) expect(fix).toBeTruthy();
  const { findings, repaired } = await repairAll(troubles, look);
  expect(repaired.map(({ failure }) => failure).filter(Boolean)).toEqual([]);
  const left = findings.filter(isOfStore).map((finding) => finding.code);
  expect(left).not.toContain("row_unreadable");
  expect(left.length).toBeLessThanOrEqual(troubles.length);
  if (how === "explained") return left.length > 0 ? "explained" : "mended";
  expect(left).toEqual([]);
  const store = await open();
  try {
    expect((await verify(store)).problems).toEqual([]);
    while ((await store.indexWords(1_000)) > 0);
    const found = await store.listQuestions({ order: "newest", limit: 10, find: "queue" });
    if (code.startsWith("schema")) expect(found.map(({ title }) => title)).toEqual(["Which queue?"]);
  } finally {
    await store.close();
  }
  return "mended";
}

/** The machine of the test is none of its business. */
function isOfStore(finding: Finding): boolean {
  return needsAction(finding) && /^(row|trail|schema|timer|store|newer|not_durable|not_checked)/.test(finding.code);
}

async function* each(lines: readonly string[]): AsyncGenerator<string> {
  yield* lines;
}
