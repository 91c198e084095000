import { type RunId, STORE_CHAIN, shortId } from "../../core/id.ts";
import { type RowDigests, contentRow, entryRow, jobRow, RUN_ROW } from "../../core/trail/row-digest.ts";
import type { KeptColumns } from "../../core/trail/rebuilt-row.ts";
import type { Event } from "../../core/trail/event.ts";
import type { LostRun } from "../../store/store.ts";
import { pageName } from "../../store/archive.ts";
import {
  entryName,
  jobName,
  parseContent,
  parseEntry,
  parseEvent,
  parseJob,
  parseQuestion,
  parseRun,
  runName,
} from "../../store/row.ts";
import type {
  StoredEntry,
  StoredJob,
  StoredLine,
  StoredQuestion,
  StoredRun,
  StoreSnapshot,
} from "../../store/snapshot.ts";
import { tryToRead } from "./export-run.ts";

const PAGE = 500;
/** More than anybody repairs at once; the next repair goes on. */
const MOST_FOUND = 1_000;

/** A row whose text cannot be read. */
export interface UnreadableRow {
  table: "run" | "question" | "content" | "event" | "job" | "entry" | "archive";
  /** Its name for people. */
  name: string;
  /** Its name in the trail. */
  trailName: string;
  /** Its name in its table; of an entry, after its kind. */
  id: string;
  kind?: StoredEntry["kind"];
  /** The run it belongs to, if that is known. */
  runId?: string | undefined;
  number?: number;
  version: number;
  columns: KeptColumns;
  body: string;
  /** Set if the row is gone; of a run with the end and the first event of its chain. */
  lost?: { head?: LostRun["head"]; first?: Event | undefined };
}

/** Finds all rows of a store that cannot be read. */
export async function findUnreadableRows(snapshot: StoreSnapshot): Promise<UnreadableRow[]> {
  const found: UnreadableRow[] = [];
  for await (const row of listUnreadable(snapshot)) {
    found.push(row);
    if (found.length === MOST_FOUND) break;
  }
  return found;
}

async function* listUnreadable(snapshot: StoreSnapshot): AsyncGenerator<UnreadableRow> {
  yield* listRunRows(snapshot);
  const kinds = [...(await snapshot.countRows()).entries.keys()] as StoredEntry["kind"][]; // written by us
  for (const kind of kinds) {
    const entries = pages<StoredEntry>((last) => snapshot.listEntries(kind, last?.id ?? "", PAGE));
    for await (const entry of entries) {
      if (isReadable(() => parseEntry(entry))) continue;
      const { id, version, parent, body } = entry;
      yield {
        table: "entry",
        name: entryName(entry),
        trailName: entryRow(entry),
        kind,
        id,
        version,
        columns: { parent },
        body,
      };
    }
  }
  const contents = pages<{ hash: string; body: string }>((last) => snapshot.listContents(last?.hash ?? "", PAGE));
  for await (const { hash, body } of contents) {
    if (isReadable(() => parseContent(body))) continue;
    const names = { name: `text ${hash}`, trailName: contentRow(hash) };
    yield { table: "content", ...names, id: hash, version: 0, columns: {}, body };
  }
}

async function* listRunRows(snapshot: StoreSnapshot): AsyncGenerator<UnreadableRow> {
  for await (const run of pages<StoredRun>((last) => snapshot.listRuns(last?.id ?? "", PAGE))) {
    const { id, number, body, columns } = run;
    if (id === STORE_CHAIN || isReadable(() => parseRun(body, number))) continue;
    const version = Number(columns["version"]);
    yield { table: "run", name: runName(run), trailName: RUN_ROW, id, runId: id, number, version, columns, body };
  }
  for await (const row of pages<StoredQuestion>((last) => snapshot.listQuestions(last, PAGE))) {
    const { id, runId, body, columns } = row;
    if (isReadable(() => parseQuestion(body))) continue;
    const version = Number(columns["version"]);
    yield { table: "question", name: `question ${shortId(id)}`, trailName: id, id, runId, version, columns, body };
  }
  for await (const line of pages<StoredLine>((last) => snapshot.listLines(last, PAGE))) {
    const { runId, n, hash, body } = line;
    if (isReadable(() => parseEvent({ n, hash, body, cursor: "" }))) continue;
    const name = `line ${n} of the trail of ${runId === STORE_CHAIN ? "the store" : runId}`;
    yield { table: "event", name, trailName: "", id: `${runId} ${n}`, runId, version: 0, columns: {}, body };
  }
  // Listing all lines has read every page.
  for (const { page, body } of snapshot.listDamagedPages()) {
    const text = Buffer.from(body).toString("base64");
    yield {
      table: "archive",
      name: pageName(page),
      trailName: "",
      id: String(page),
      version: 0,
      columns: {},
      body: text,
    };
  }
  for await (const job of pages<StoredJob>((last) => snapshot.listJobs(last?.key ?? "", PAGE))) {
    const { key, body, columns } = job;
    if (isReadable(() => parseJob(body))) continue;
    yield { table: "job", name: jobName(job), trailName: jobRow(key), id: key, version: 0, columns, body };
  }
}

/** Which chains of events tell of these rows. */
export async function findChains(snapshot: StoreSnapshot, rows: readonly string[]): Promise<Map<string, RunId[]>> {
  const chains = new Map<string, Set<RunId>>(rows.map((row) => [row, new Set()]));
  for await (const { runId, body } of pages<StoredLine>((last) => snapshot.listLines(last, PAGE))) {
    const told = tryToRead(() => JSON.parse(body) as { rows?: RowDigests } | null)?.rows ?? {};
    for (const row of Object.keys(told)) chains.get(row)?.add(runId as RunId); // written by us
  }
  return new Map([...chains].map(([row, ids]) => [row, [...ids]]));
}

async function* pages<Row>(list: (last: Row | undefined) => Promise<Row[]>): AsyncGenerator<Row> {
  let last: Row | undefined;
  for (;;) {
    const page = await list(last);
    yield* page;
    if (page.length < PAGE) return;
    last = page.at(-1);
  }
}

function isReadable(parse: () => unknown) {
  return tryToRead(() => [parse()]) !== undefined;
}
