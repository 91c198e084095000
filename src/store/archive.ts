import { deflateRawSync, inflateRawSync } from "node:zlib";
import { timePart } from "../core/id.ts";
import type { Instant } from "../core/instant.ts";
import type { Question } from "../core/question/question.ts";
import { hasEnded } from "../core/run/run.ts";
import { CHAIN_START, chainHash } from "../core/trail/event.ts";
import type { StoredLine } from "./snapshot.ts";
import type { UnreadableRows } from "./unreadable.ts";

/** How many pages are kept inflated, about 0.5 MB each. */
const MOST_PAGES = 16;
const FORMAT = 1;
const POINTER = /^@([0-9]+)$/;

/** The part of the trail that may move into the archive. */
export interface ArchiveLimit {
  /** Only lines up to this cursor: those that a seal covers. */
  upTo: string;
  /** Only lines from before this moment. */
  olderThan: Instant;
  /** How many lines make a page. */
  lines: number;
}

/** A row whose text may be in the archive; contents go by their names. */
export interface ArchivableRow {
  id: string;
  body: string;
}

/** Consecutive lines of the feed, and the texts of the runs that end with them, by the ids of their rows. */
export interface ArchivePage {
  /** In feed order. */
  readonly lines: readonly StoredLine[];
  readonly texts: ReadonlyMap<string, string>;
  /** Its bytes cannot be read: all its lines and texts are missing. */
  readonly isDamaged: boolean;
}

/** The place of a line in the feed. */
type FeedPlace = Pick<StoredLine, "xid" | "seq">;

/** A page as it is stored, under its number and the place of its last line. */
export interface StoredPage extends FeedPlace {
  page: number;
  body: Uint8Array;
}

/** A page in the place of one whose bytes are damaged. */
const DAMAGED_PAGE: ArchivePage = { lines: [], texts: new Map(), isDamaged: true };

/** The name of a page for people. */
export function pageName(page: number): string {
  return `page ${page} of the archive`;
}

/** The text that a row has in place of its own once that is in the archive. */
export function pointerTo(page: number): string {
  return `@${page}`;
}

/** The page that a row's text is in; undefined for a text that was not archived, and for a damaged one that is no text. */
export function findPointer(body: unknown): number | undefined {
  const page = typeof body === "string" && body.startsWith("@") ? POINTER.exec(body)?.[1] : undefined;
  return page === undefined ? undefined : Number(page);
}

/** The row with its own text. A pointer to a page without that text stays: nothing reads it as a row. */
export function withText<Row extends ArchivableRow>(row: Row, page: ArchivePage | undefined): Row {
  const text = page?.texts.get(row.id);
  return text === undefined ? row : { ...row, body: text };
}

/** Says whether these lines fill a page and all of them are old enough. */
export function isPageDue(lines: ReadonlyArray<{ body: string }>, limit: ArchiveLimit): boolean {
  return lines.length === limit.lines && lines.every((line) => isOldEnough(line, limit));
}

export function isOldEnough({ body }: { body: string }, { olderThan }: ArchiveLimit): boolean {
  return (parse<{ at: string }>(body)?.at ?? "") < olderThan;
}

/** The runs that have ended and whose last line is among these: nothing has happened to them since. */
export function endedRuns<Row extends { id: string; status: string; chain_n: number }>(
  runs: readonly Row[],
  lines: readonly StoredLine[],
): Row[] {
  const last = new Map(lines.map(({ runId, n }) => [runId, n]));
  return runs.filter(({ id, status, chain_n: n }) => last.get(id) === n && hasEnded({ status }));
}

/** The rows whose texts are not archived yet. */
export function unarchived<Row extends ArchivableRow>(rows: readonly Row[]): Row[] {
  return rows.filter(({ body }) => findPointer(body) === undefined);
}

/**
 * The contents of these questions, each with the run it belongs to, as far as their names lead back to their questions.
 * A text that cannot be read names none.
 */
export function contentsOf(questions: ReadonlyArray<ArchivableRow & { run_id: string }>): Map<string, string> {
  const contents = new Map<string, string>();
  for (const { id, run_id: runId, body } of questions) {
    const name = parse<Question>(body)?.content;
    if (name?.startsWith(timePart(id))) contents.set(name, runId);
  }
  return contents;
}

/** The texts that a page gets of each run: its own, those of its questions, and what they ask. */
export function textsByRun(
  runs: readonly ArchivableRow[],
  questions: ReadonlyArray<ArchivableRow & { run_id: string }>,
  texts: ReadonlyArray<ArchivableRow & { run_id: string }>,
): Map<string, ArchivableRow[]> {
  const byRun = new Map(runs.map((run) => [run.id, [run]]));
  for (const row of [...questions, ...texts]) byRun.set(row.run_id, [...(byRun.get(row.run_id) ?? []), row]);
  return byRun;
}

/** Between which ids the questions with this content are: its name begins with the time of its question. */
export function questionsWith(content: string): [after: string, before: string] {
  const time = timePart(`q_${content}`);
  return [`q_${time}`, `q_${time}~`]; // "~" sorts after every character an id can have
}

/** A line in a page: its number, how far its place is from the line before it here, and the length of its text. */
type PackedLine = [n: number, xid: number, seq: number, before: number | null, chars: number, hash?: string];
type PackedText = [name: string, chars: number];
/** The part of a page about one run: its lines, then texts. The texts themselves follow the list of all runs. */
type PackedRun = [id: string, lines: PackedLine[], texts: PackedText[]];

/** Compresses a page. The lines and texts of a run come together, because they repeat each other. */
export function encodePage(
  lines: readonly StoredLine[],
  textsOf: ReadonlyMap<string, readonly ArchivableRow[]>,
): Uint8Array {
  const parts: string[] = [];
  let place = { xid: 0, seq: 0 };
  const linesOf = new Map<string, StoredLine[]>();
  for (const line of lines) linesOf.set(line.runId, [...(linesOf.get(line.runId) ?? []), line]);
  const runs = [...linesOf].map(([id, own]): PackedRun => {
    const packed = own.map((line, index): PackedLine => {
      const { xid, seq, before, body } = line;
      const cells: PackedLine = [
        line.n,
        xid - place.xid,
        seq - place.seq,
        before === undefined ? null : seq - before,
        body.length,
      ];
      // Most hashes follow from the line before; one that does not is kept, whatever the reason.
      if (line.hash !== hashAfter(own[index - 1], line)) cells.push(line.hash);
      place = { xid, seq };
      parts.push(body);
      return cells;
    });
    const texts = textsOf.get(id) ?? [];
    parts.push(...texts.map(({ body }) => body));
    return [id, packed, texts.map(({ id: name, body }) => [name, body.length])];
  });
  const text = `${JSON.stringify(runs)}\n${parts.join("")}`;
  return Buffer.concat([Buffer.of(FORMAT), deflateRawSync(text, { level: 9 })]);
}

/** Inflates a page; throws for bytes that this program did not write. */
export function decodePage(bytes: Uint8Array): Omit<ArchivePage, "isDamaged"> & { last: FeedPlace } {
  if (bytes[0] !== FORMAT) throw new Error(`format ${bytes[0]} is unknown`);
  const text = inflate(bytes.subarray(1));
  let start = text.indexOf("\n") + 1;
  const runs = JSON.parse(text.slice(0, start)) as PackedRun[]; // written by `encodePage`
  const take = (chars: number) => text.slice(start, (start += chars));
  const chains: Array<Array<Omit<StoredLine, "hash"> & { hash: string | undefined }>> = [];
  const texts = new Map<string, string>();
  let place = { xid: 0, seq: 0 };
  for (const [runId, lines, named] of runs) {
    const chain = lines.map(([n, xid, seq, back, chars, hash]) => {
      place = { xid: place.xid + xid, seq: place.seq + seq };
      return { runId, n, hash, body: take(chars), ...place, before: back === null ? undefined : place.seq - back };
    });
    chains.push(chain);
    for (const [name, chars] of named) texts.set(name, take(chars));
  }
  if (start !== text.length) throw new Error("its texts are longer or shorter than they were");
  let hashed: StoredLine[] | undefined;
  return {
    texts,
    last: chains.flat().reduce<FeedPlace>((last, line) => (byPlace(line, last) > 0 ? line : last), { xid: 0, seq: 0 }),
    // Hashing takes half of the time, and only readers of the trail need it.
    get lines() {
      return (hashed ??= chains.flatMap(hashChain).sort(byPlace));
    },
  };
}

/** Bytes after the end of the compressed ones would be ignored, and an edit must not go unnoticed. */
function inflate(bytes: Uint8Array) {
  // With `info` both the result and what made it are returned, which the types do not say.
  const { buffer, engine } = inflateRawSync(bytes, { info: true }) as unknown as {
    buffer: Buffer;
    engine: { bytesWritten: number };
  };
  if (engine.bytesWritten !== bytes.length) throw new Error("something follows its end");
  return buffer.toString();
}

function hashChain(lines: ReadonlyArray<Omit<StoredLine, "hash"> & { hash: string | undefined }>): StoredLine[] {
  let previous: StoredLine | undefined;
  return lines.map((line) => (previous = { ...line, hash: line.hash ?? hashAfter(previous, line) }));
}

/** The hash of a line by the one before it in its page; for the first of a run as if the chain began with it. */
function hashAfter(previous: StoredLine | undefined, { body }: Pick<StoredLine, "body">) {
  return chainHash(previous?.hash ?? CHAIN_START, body);
}

function byPlace(one: FeedPlace, other: FeedPlace) {
  return one.xid - other.xid || one.seq - other.seq;
}

function parse<Row>(body: string) {
  try {
    return JSON.parse(body) as Row | null; // its fields are only compared
  } catch {
    return undefined; // a damaged row stays as it is, for verification to report
  }
}

/** Keeps the pages that were inflated last; a page never changes. One that cannot be read is reported and empty. */
export class PageCache {
  readonly #pages = new Map<number, ArchivePage>();
  readonly #unreadable: Pick<UnreadableRows, "report">;
  readonly #damaged = new Map<number, StoredPage>();

  constructor(unreadable: Pick<UnreadableRows, "report">) {
    this.#unreadable = unreadable;
  }

  /** The damaged pages that were met. */
  get damaged(): readonly StoredPage[] {
    return [...this.#damaged.values()];
  }

  get(page: number): ArchivePage | undefined {
    const found = this.#pages.get(page);
    if (found?.isDamaged) this.#unreadable.report(pageName(page));
    return found;
  }

  put(stored: StoredPage): ArchivePage {
    const decoded = this.#decode(stored);
    const oldest = this.#pages.size < MOST_PAGES ? undefined : this.#pages.keys().next().value;
    if (oldest !== undefined) this.#pages.delete(oldest);
    this.#pages.set(stored.page, decoded);
    return decoded;
  }

  #decode(stored: StoredPage): ArchivePage {
    try {
      const decoded = decodePage(stored.body);
      if (byPlace(decoded.last, stored) !== 0) throw new Error("it is not the page that ends at its place");
      return Object.assign(decoded, { isDamaged: false });
    } catch {
      // Whatever a damaged page makes the reader throw: its rows are named, and everything else goes on.
      this.#damaged.set(stored.page, stored);
      this.#unreadable.report(pageName(stored.page));
      return DAMAGED_PAGE;
    }
  }
}
