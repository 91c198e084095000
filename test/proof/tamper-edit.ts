import { chainHash } from "../../src/core/trail/event.ts";
import { digestOf } from "../../src/core/trail/row-digest.ts";
import { decodePage, encodePage } from "../../src/store/archive.ts";
import type { StoredLine } from "../../src/store/snapshot.ts";

type Value = string | number | bigint | null;
export type EditedRow = Record<string, Value>;

/** A store's database behind askd's back; every "?" stands for a value. */
export interface Editor {
  all(sql: string, ...values: Value[]): Promise<EditedRow[]>;
  run(sql: string, ...values: Array<Value | Uint8Array>): Promise<void>;
}

/** One way to change a store behind its back. Edits of one kind differ only in the row they change. */
export interface Edit {
  name: string;
  kind: string;
  apply(editor: Editor): Promise<void>;
  /** Takes back what putting the rows back does not. */
  undo?(editor: Editor): Promise<void>;
}

const KEYS: Readonly<Record<string, readonly string[]>> = {
  run: ["id"],
  question: ["id"],
  content: ["hash"],
  entry: ["kind", "id"],
  event: ["run_id", "n"],
  seal: ["n"],
  job: ["key"],
  archive: [], // by its own edits
};

/** Leases and attempts, and places in an index of words: what is outside the promise. */
const OUTSIDE_COLUMNS: ReadonlySet<string> = new Set([
  "job.attempt",
  "job.claimed_by",
  "job.lease_until",
  "question.row", // by its own edits: most numbers are taken
  "event.xid",
  "event.seq",
  "archive.page", // a number that rows point to: what counts is where it leads
]);
const OUTSIDE_KINDS: ReadonlySet<Value> = new Set([
  "usage",
  "worker",
  "clock",
  "listener",
  "presence",
  "outage",
  "last_sent",
]);
/** Entries whose version no event tells of. */
const COUNTED_KINDS: ReadonlySet<Value> = new Set(["delivery", "refused"]);
/** What of a delivery does not change without an event. */
const DELIVERY_FIELDS: ReadonlySet<string> = new Set(["token", "channel", "person", "state", "sentAt"]);
const OUTSIDE_JOB_FIELDS: ReadonlySet<string> = new Set(["tries", "failure"]);

/** Every edit of one column, one field of a text or one row that the rows of this store allow. */
export async function listEdits(editor: Editor): Promise<Edit[]> {
  const edits: Edit[] = [];
  for (const [table, keys] of Object.entries(KEYS)) {
    for (const row of await editor.all(`select * from ${table}`)) {
      if (table === "archive") edits.push(...archiveEdits(row));
      if (table === "archive") continue;
      if (table === "entry" && OUTSIDE_KINDS.has(row["kind"] ?? null)) continue;
      edits.push(...editsOf({ table, keys, row }));
    }
  }
  return [...edits, ...(await listForgeries(editor))];
}

interface Place {
  table: string;
  keys: readonly string[];
  row: EditedRow;
}

function editsOf(place: Place): Edit[] {
  const { table, row } = place;
  const edits: Edit[] = [];
  for (const [column, value] of Object.entries(row)) {
    if (OUTSIDE_COLUMNS.has(`${table}.${column}`)) continue;
    if (COUNTED_KINDS.has(row["kind"] ?? null) && column === "version") continue;
    const isPointer = column === "body" && String(value).startsWith("@");
    if (isPointer) edits.push(put(place, column, value === "@1" ? "@2" : "@1", "pointer"));
    if (column !== "body" || isPointer)
      edits.push(put(place, column, changed(value), `${column}${isPointer ? " pointer" : ""}`));
    else edits.push(...bodyEdits(place, String(value)));
  }
  // Whoever has work to do arranges for seals again, so a job that is gone is no loss.
  // The trail has the tries that a count is of.
  const isLoss = row["key"] !== "seal" && row["kind"] !== "stop" && row["kind"] !== "refused";
  if (isLoss) edits.push(remove(place));
  // A row that no event tells of may be one of before they did.
  if (row["kind"] !== "trigger" && row["kind"] !== "quarantine") edits.push(copy(place));
  return edits;
}

function bodyEdits(place: Place, text: string): Edit[] {
  const edits: Edit[] = [];
  const visit = (node: unknown, path: readonly string[], write: (value: unknown) => void): void => {
    if (place.table === "job" && OUTSIDE_JOB_FIELDS.has(path[0] ?? "")) return;
    const isDelivery = place.table === "entry" && place.row["kind"] === "delivery";
    if (isDelivery && path[0] !== undefined && !DELIVERY_FIELDS.has(path[0])) return;
    const name = `body.${path.map((part) => (/^[0-9]+$|^[qr]_|^content |^job |^entry /.test(part) ? "*" : part)).join(".")}`;
    const edited = (value: unknown): Edit => {
      write(value);
      const edit = put(place, "body", JSON.stringify(root), value === undefined ? `${name} removed` : name);
      write(node);
      return edit;
    };
    if (typeof node === "object" && node !== null) {
      const object = node as Record<string, unknown>;
      for (const [field, value] of Object.entries(object)) {
        visit(value, [...path, field], (next) => {
          object[field] = next;
        });
      }
      if (Array.isArray(node)) edits.push(edited([...(node as unknown[]), "added"]));
      else if (!isDelivery) edits.push(edited({ ...node, added: true }));
      return;
    }
    edits.push(edited(changed(node)));
    if (!Array.isArray(node)) edits.push(edited(undefined));
  };
  let root = JSON.parse(text) as unknown;
  visit(root, [], (value) => {
    root = value;
  });
  return edits;
}

function changed(value: unknown): Value {
  if (typeof value === "number") return value + 1;
  if (typeof value === "bigint") return value + 1n;
  if (typeof value === "boolean") return value ? 0 : 1;
  if (typeof value !== "string" || value === "") return "x";
  const time = /^(\d{4})-/.exec(value);
  if (time) return `${Number(time[1]) + 1}${value.slice(4)}`;
  return `${value.slice(0, -1)}${value.endsWith("a") ? "b" : "a"}`;
}

function where({ keys, row }: Place): [string, Value[]] {
  return [keys.map((key) => `${key} = ?`).join(" and "), keys.map((key) => row[key] ?? null)];
}

function nameOf({ table, keys, row }: Place): string {
  return `${table} ${keys.map((key) => row[key]).join(" ")}`;
}

/** Rows in different states have different rules, so each state counts as a kind of its own. */
function kindOf({ table, row }: Place): string {
  const state = row["status"] ?? row["kind"] ?? "";
  return `${table} ${state}`;
}

function put(place: Place, column: string, value: Value | Uint8Array, what: string): Edit {
  const [condition, values] = where(place);
  return {
    name: `${nameOf(place)}: ${what} changed`,
    kind: `${kindOf(place)}: ${what}`,
    apply: (editor) => editor.run(`update ${place.table} set "${column}" = ? where ${condition}`, value, ...values),
  };
}

function remove(place: Place): Edit {
  const [condition, values] = where(place);
  return {
    name: `${nameOf(place)}: deleted`,
    kind: `${kindOf(place)}: deleted`,
    apply: (editor) => editor.run(`delete from ${place.table} where ${condition}`, ...values),
  };
}

/** A row of the same looks under another name. */
function copy(place: Place): Edit {
  const { table, keys, row } = place;
  const last = keys.at(-1) ?? "";
  const other: EditedRow = { ...row, [last]: changed(row[last]) };
  if (table === "run") Object.assign(other, { number: Number(row["number"]) + 10_000, session: null });
  if (table === "question") Object.assign(other, { key: `${row["key"]}x`, status: "answered" });
  if (table === "event") Object.assign(other, { n: Number(row["n"]) + 100, seq: Number(row["seq"]) + 10_000 });
  delete other["row"];
  const columns = Object.keys(other);
  const sql = `insert into ${table} (${columns.map((column) => `"${column}"`).join(", ")})
    values (${columns.map(() => "?").join(", ")})`;
  return {
    name: `${nameOf(place)}: copied`,
    kind: `${kindOf(place)}: copied`,
    apply: (editor) => editor.run(sql, ...Object.values(other)),
  };
}

/** Edits of a page of the archive: of its columns, its bytes, and of every line and text in it. */
function archiveEdits(row: EditedRow): Edit[] {
  const keys = "last" in row ? ["last"] : ["page"];
  const place: Place = { table: "archive", keys, row };
  const bytes = row["body"] as unknown as Uint8Array; // the only column of that type
  const { lines, texts } = decodePage(bytes);
  const named = [...texts].map(([id, body]) => ({ id, body }));
  const owner = lines.at(-1)?.runId ?? "";
  const columns = Object.keys(row).filter((column) => column.startsWith("last"));
  const pack = (changedLines: readonly StoredLine[], changedTexts: typeof named) =>
    encodePage(changedLines, new Map([[owner, changedTexts]]));
  const edited = (body: string) => `${body.slice(0, -1)},"added":true}`;
  return [
    ...columns.map((column) => put(place, column, changed(row[column]), column)),
    remove(place),
    ...(keys[0] === "last" ? [copy(place)] : []),
    put(place, "body", Buffer.concat([bytes, Buffer.of(0)]), "body, longer"),
    put(place, "body", bytes.subarray(0, -9), "body, shorter"),
    put(place, "body", Buffer.of(2, ...bytes.subarray(1)), "body, format"),
    put(place, "body", pack(lines.slice(1), named), "first line"),
    put(place, "body", pack(lines.slice(0, -1), named), "last line"),
    ...lines.flatMap((line, index) => [
      put(place, "body", pack(lines.with(index, { ...line, body: edited(line.body) }), named), "body of a line"),
      put(
        place,
        "body",
        pack(lines.with(index, { ...line, hash: changed(line.hash) as string }), named),
        "hash of a line",
      ),
      put(place, "body", pack(lines.with(index, { ...line, n: line.n + 1 }), named), "number of a line"),
      put(
        place,
        "body",
        pack(lines.with(index, { ...line, runId: changed(line.runId) as string }), named),
        "run of a line",
      ),
    ]),
    ...named.flatMap((text, index) => [
      put(
        place,
        "body",
        pack(lines, named.with(index, { ...text, body: edited(text.body) })),
        `text ${text.id.slice(0, 2)}`,
      ),
      put(place, "body", pack(lines, named.toSpliced(index, 1)), `text ${text.id.slice(0, 2)} removed`),
    ]),
  ];
}

/** Edits of several rows that fit each other, as somebody would make who knows how the store is built. */
async function listForgeries(editor: Editor): Promise<Edit[]> {
  const questions = await editor.all("select id, run_id, status, body from question where body like '{%'");
  const runs = await editor.all("select id from run where number > 0");
  const edits: Edit[] = questions.flatMap((question) => [forgeState(question), forgeWithChain(question)]);
  for (const { id } of runs) edits.push(deleteRun(id ?? null), cutTrail(id ?? null), swapLines(id ?? null));
  edits.push(...(await listMoves(editor)));
  const deliveries = await editor.all("select id, body from entry where kind = 'delivery'");
  edits.push(...deliveries.flatMap(forgeProgress));
  const jobs = await editor.all("select key, body from job where key <> 'seal'");
  for (const { key, body } of jobs) edits.push(moveJob(key ?? null, String(body)));
  edits.push({
    name: "the last seal deleted",
    kind: "the last seal deleted",
    apply: (each) => each.run("delete from seal where n = (select max(n) from seal)"),
  });
  edits.push({
    name: "all seals deleted",
    kind: "all seals deleted",
    apply: (each) => each.run("delete from seal"),
  });
  return edits;
}

/** The state of a question, in its text and its column, at the same version. */
function forgeState({ id, body }: EditedRow): Edit {
  const question = JSON.parse(String(body)) as Record<string, unknown>;
  const status = question["status"] === "cancelled" ? "timeout" : "cancelled";
  const forged = JSON.stringify({ ...question, status, reason: "forged", handover: { state: "void", reason: "x" } });
  return {
    name: `question ${id}: forged state`,
    kind: `question ${String(question["status"])}: forged state`,
    apply: (editor) => editor.run("update question set status = ?, body = ? where id = ?", status, forged, id ?? null),
  };
}

/** The text of a question together with its digest and all hashes of its chain: only seals know better. */
function forgeWithChain({ id, run_id: runId, body }: EditedRow): Edit {
  const question = JSON.parse(String(body)) as Record<string, unknown>;
  const forged = JSON.stringify({ ...question, title: "Forged?" });
  return {
    name: `question ${id}: forged with its chain`,
    kind: "question: forged with its chain",
    apply: async (editor) => {
      await editor.run("update question set body = ? where id = ?", forged, id ?? null);
      const lines = await editor.all("select n, body from event where run_id = ? order by n", runId ?? null);
      let hash = "";
      for (const line of lines) {
        const text = String(line["body"]).replaceAll(digestOf(String(body)), digestOf(forged));
        hash = chainHash(hash, text);
        const where = "where run_id = ? and n = ?";
        await editor.run(`update event set body = ?, hash = ? ${where}`, text, hash, runId ?? null, line["n"] ?? null);
      }
      await editor.run("update run set chain_hash = ? where id = ?", hash, runId ?? null);
    },
  };
}

/** Another state of a message, alone and with a time at which it arrived. */
function forgeProgress({ id, body }: EditedRow): Edit[] {
  const delivery = JSON.parse(String(body)) as Record<string, unknown>;
  const { state, sentAt } = delivery;
  const states = ["due", "sent", "closed", "failed"].filter((each) => each !== state && !isSameNews(each, state));
  const update = "update entry set body = ? where kind = 'delivery' and id = ?";
  return states.flatMap((to) =>
    [undefined, "2026-01-01T00:00:00.000Z"].flatMap((at) => {
      if (at !== undefined && sentAt !== undefined) return [];
      const forged = JSON.stringify({ ...delivery, state: to, ...(at && { sentAt: at }) });
      const what = `${String(state)} forged as ${to}${at ? " and arrived" : ""}`;
      return {
        name: `delivery ${id}: ${what}`,
        kind: `entry delivery: ${what}`,
        apply: (editor: Editor) => editor.run(update, forged, id ?? null),
      };
    }),
  );
}

/** A message that arrived closes without an event where its channel has nothing to tell of an outcome. */
function isSameNews(one: string, other: unknown) {
  return [one, other].every((state) => state === "sent" || state === "closed");
}

function deleteRun(id: Value): Edit {
  return {
    name: `run ${id}: deleted with all that belongs to it`,
    kind: "run: deleted with all that belongs to it",
    apply: async (editor) => {
      for (const { id: question } of await editor.all("select id from question where run_id = ?", id)) {
        await editor.run("delete from job where key like ?", `%${question}`);
      }
      await editor.run("delete from job where key like ?", `%${id}`);
      for (const table of ["event", "question"]) await editor.run(`delete from ${table} where run_id = ?`, id);
      await editor.run("delete from run where id = ?", id);
    },
  };
}

/** The last line of a chain is gone, and the run names the one before it as its last. */
function cutTrail(id: Value): Edit {
  return {
    name: `run ${id}: its trail cut`,
    kind: "run: its trail cut",
    apply: async (editor) => {
      const lines = await editor.all("select * from event where run_id = ? order by n desc limit 2", id);
      const [last, before] = lines;
      await editor.run("delete from event where run_id = ? and n = ?", id, last?.["n"] ?? null);
      await editor.run(
        "update run set chain_n = ?, chain_hash = ? where id = ?",
        before?.["n"] ?? 0,
        before?.["hash"] ?? "",
        id,
      );
      if (last && "before" in last) {
        await editor.run("update run set chain_seq = ? where id = ?", last["before"] ?? 0, id);
      }
    },
  };
}

/** Two lines of different chains stand in each other's place in the feed. */
function swapLines(id: Value): Edit {
  return {
    name: `run ${id}: a line in another place`,
    kind: "run: a line in another place",
    apply: async (editor) => {
      const [line] = await editor.all("select * from event where run_id = ? order by n limit 1", id);
      const [other] = await editor.all("select * from event where run_id <> ? order by seq desc limit 1", id);
      // PostgreSQL orders lines by transaction first.
      const columns = ["seq", ...(line && "xid" in line ? ["xid"] : [])];
      const move = `update event set ${columns.map((column) => `${column} = ?`).join(", ")} where seq = ?`;
      const placeOf = (row: EditedRow | undefined) => columns.map((column) => row?.[column] ?? null);
      await editor.run(move, ...placeOf(line && { ...line, seq: -1 }), line?.["seq"] ?? null);
      await editor.run(move, ...placeOf(line), other?.["seq"] ?? null);
      await editor.run(move, ...placeOf(other), -1);
    },
  };
}

/** In SQLite each question has a number, which its words are found by: to one that is free, or to that of another. */
async function listMoves(editor: Editor): Promise<Edit[]> {
  const questions = await editor.all("select * from question");
  const last = questions.length;
  return questions.flatMap(({ id = null, row }, index) => {
    if (row === undefined) return [];
    const move = (to: number): Edit => ({
      name: `question ${id}: number ${row} moved to ${to}`,
      kind: `question: number moved to ${to > last ? "a later one" : to < 1 ? "an earlier one" : "that of another"}`,
      apply: async (each) => {
        const put = `update question set "row" = ? where "row" = ?`;
        await each.run(put, -1_000_000, to);
        await each.run(put, to, row);
        await each.run(put, row, -1_000_000);
      },
    });
    const other = Number(questions[(index + 1) % last]?.["row"]);
    return [move(last + 1), move(last + 100), move(0), move(-5), move(other)];
  });
}

/** A job that never falls due. */
function moveJob(key: Value, body: string): Edit {
  const dueAt = "2099-01-01T00:00:00.000Z";
  const moved = JSON.stringify({ ...(JSON.parse(body) as object), dueAt });
  return {
    name: `job ${key}: moved`,
    kind: `job ${String(key).split(":")[0]}: moved`,
    apply: (editor) =>
      editor.run("update job set due_at = ?, ready_at = ?, body = ? where key = ?", dueAt, dueAt, moved, key),
  };
}
