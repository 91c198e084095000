import { CHAIN_START, type Event, chainHash } from "../../core/trail/event.ts";
import type { TrailMismatch } from "../../core/trail/trail-mismatch.ts";
import type { RowDigests } from "../../core/trail/row-digest.ts";
import type { StoredLine, StoredRun } from "../../store/snapshot.ts";

/** Events that tell of something without changing it: their line may be older than its place. */
const CHANGES_NOTHING: ReadonlySet<string> = new Set(["question.late_reply", "question.refused", "question.linked"]);

type ChainFlaw = Extract<TrailMismatch, { is: "line_missing" | "line_changed" | "trail_cut" }>;

/** Reads one chain line by line: is it whole, what are its rows, and how did it leave each question? */
export class ChainCheck {
  /** The last digest of each row, without what is gone. */
  readonly digests = new Map<string, string>();
  /** The last event of each question, and of the run itself under "run". */
  readonly lastOf = new Map<string, Pick<Event, "to" | "version">>();
  lines = 0;
  readonly #run: StoredRun;
  #previous: Pick<StoredLine, "hash" | "xid" | "seq"> = { hash: CHAIN_START, xid: 0, seq: 0 };
  #flaw: ChainFlaw | undefined;

  constructor(run: StoredRun) {
    this.#run = run;
  }

  take(line: StoredLine): void {
    this.lines += 1;
    this.#flaw ??= this.#checkLine(line);
    this.#previous = line;
    const event = readEvent(line.body);
    if (event === undefined) return;
    for (const [row, digest] of Object.entries(event.rows ?? {})) {
      if (digest === null) this.digests.delete(row);
      else this.digests.set(row, digest);
    }
    // An alert tells of the whole store, in the trail of the question that made the difference.
    if (event.type.startsWith("alert.")) return;
    const name = event.questionId ?? "run";
    if (!CHANGES_NOTHING.has(event.type) || !this.lastOf.has(name)) {
      this.lastOf.set(name, { to: event.to, version: event.version });
    }
  }

  /** The first place where the chain is broken, if there is one. */
  findFlaw(): ChainFlaw | undefined {
    if (this.#flaw) return this.#flaw;
    const { chain, lastSeq, number } = this.#run;
    const isEnd = chain.n === this.lines && chain.hash === this.#previous.hash;
    const isLinked = lastSeq === undefined || lastSeq === this.#previous.seq;
    return isEnd && isLinked ? undefined : { is: "trail_cut", run: number, line: this.lines, last: chain.n };
  }

  #checkLine(line: StoredLine): ChainFlaw | undefined {
    const { number: run } = this.#run;
    if (line.n !== this.lines) return { is: "line_missing", run, line: this.lines };
    const isLinked = line.before === undefined || line.before === this.#previous.seq;
    const { xid, seq } = this.#previous;
    // In PostgreSQL a transaction that began first may be the second to get its turn: only lines of one transaction, and
    // all of SQLite, stand in the order of their numbers.
    const isLater = line.xid !== xid || line.seq > seq;
    const isWhole = chainHash(this.#previous.hash, line.body) === line.hash;
    return isWhole && isLinked && isLater ? undefined : { is: "line_changed", run, line: line.n };
  }
}

type ReadEvent = Pick<Event, "type" | "questionId" | "to" | "version"> & { rows?: RowDigests };

/** The checked fields of a line that may have been changed; undefined if it is no event. */
function readEvent(body: string): ReadEvent | undefined {
  try {
    const raw = JSON.parse(body) as ReadEvent | null; // its hash says whether we wrote it
    return typeof raw?.type === "string" ? raw : undefined;
  } catch {
    return undefined; // its hash is wrong, which is the flaw
  }
}
