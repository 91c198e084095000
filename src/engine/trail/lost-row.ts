import { type RunId, STORE_CHAIN, shortId } from "../../core/id.ts";
import { hasEnded } from "../../core/run/run.ts";
import type { Event } from "../../core/trail/event.ts";
import { RUN_ROW, contentRow, entryRow } from "../../core/trail/row-digest.ts";
import { readSeal } from "../../core/trail/seal.ts";
import type { LostRow, TrailMismatch } from "../../core/trail/trail-mismatch.ts";
import { parseEvent } from "../../store/row.ts";
import type { StoreSnapshot, StoredEntry, StoredLine } from "../../store/snapshot.ts";
import type { LostRun } from "../../store/store.ts";
import { tryToRead } from "./export-run.ts";
import type { UnreadableRow } from "./unreadable-row.ts";

const PAGE = 500;
const SEALS_AT_ONCE = 10;
/** Columns of a run that no line of its trail tells. */
const UNTOLD = { name: "lost", externalId: null, host: "", agent: "none", session: null, parentId: null };

/**
 * The rows that the trail tells of and that are gone, with what it tells of them: they can be replaced like damaged ones.
 * Without a run the rest of it cannot be compared, so its other rows are found once it is back.
 */
export async function findLostRows(snapshot: StoreSnapshot, flaws: readonly TrailMismatch[]): Promise<UnreadableRow[]> {
  const runs = new Set(flaws.flatMap((flaw) => (flaw.is === "line_unknown" ? flaw.id : [])));
  const rows: UnreadableRow[] = [];
  for (const runId of runs) {
    const events = await readEvents(snapshot, runId);
    const number = await findNumber(snapshot, runId);
    rows.push(...describeRun(runId as RunId, number, events)); // named so by its own lines
  }
  for (const { lost } of flaws.filter((flaw) => flaw.is === "row_missing"))
    if (lost) rows.push(...(await describeRow(snapshot, lost)));
  return rows;
}

interface ToldEvent {
  line: StoredLine;
  event: Event | undefined;
}

async function readEvents(snapshot: StoreSnapshot, runId: string): Promise<ToldEvent[]> {
  const found: ToldEvent[] = [];
  for (let last: Pick<StoredLine, "runId" | "n" | "seq"> = { runId, n: 0, seq: 0 }; ;) {
    const page = await snapshot.listLines(last, PAGE);
    const own = page.filter((line) => line.runId === runId);
    found.push(...own.map((line) => ({ line, event: tryToRead(() => parseEvent({ ...line, cursor: "" }).event) })));
    const end = own.at(-1);
    if (end === undefined || own.length < PAGE) return found;
    last = end;
  }
}

/** The number that a seal names beside the chain of the run; 0 if it was never sealed. */
async function findNumber(snapshot: StoreSnapshot, runId: string): Promise<number> {
  let number = 0;
  for (let after = 0; ;) {
    const seals = await snapshot.listSeals(after, SEALS_AT_ONCE);
    for (const kept of seals) number = tryToRead(() => readSeal(kept).heads[runId]?.number) ?? number;
    const last = seals.at(-1);
    if (last === undefined) return number;
    after = last.n;
  }
}

function describeRun(id: RunId, number: number, told: readonly ToldEvent[]): UnreadableRow[] {
  const end = told.at(-1)?.line;
  if (end === undefined || id === STORE_CHAIN) return [];
  const last = told.findLast(({ event }) => event && event.questionId === undefined)?.event;
  const version = last?.version ?? 1;
  const head: LostRun["head"] = { n: end.n, hash: end.hash, seq: end.seq };
  const endedAt = last && hasEnded({ status: last.to }) ? last.at : null;
  const columns = { ...UNTOLD, id, version, status: last?.to ?? null, endedAt };
  const name = `run ${shortId(id)}`;
  const row = { table: "run", name, trailName: RUN_ROW, id, runId: id, number, version, columns, body: "" } as const;
  return [{ ...row, lost: { head, first: told[0]?.event } }];
}

async function describeRow(snapshot: StoreSnapshot, lost: LostRow): Promise<UnreadableRow[]> {
  const { id } = lost;
  const gone = { id, version: 0, columns: {}, body: "", lost: {} } as const;
  switch (lost.table) {
    case "question": {
      const events = (await readEvents(snapshot, lost.runId)).map(({ event }) => event);
      const last = events.findLast((event) => event?.questionId === id);
      const version = last?.version ?? 1;
      const columns = { id, version, runId: lost.runId, key: `lost:${id}`, status: last?.to ?? "pending" };
      const name = `question ${shortId(id)}`;
      return [{ ...gone, table: "question", name, trailName: id, runId: lost.runId, version, columns }];
    }
    case "content":
      return [{ ...gone, table: "content", name: `text ${id}`, trailName: contentRow(id) }];
    case "entry": {
      const kind = lost.kind as StoredEntry["kind"]; // told by a line that we wrote
      const names = { name: `${kind} ${id}`, trailName: entryRow({ kind, id }) };
      return [{ ...gone, table: "entry", ...names, kind, columns: { parent: lost.parent ?? null } }];
    }
    default:
      return []; // a missing job is scheduled anew
  }
}
