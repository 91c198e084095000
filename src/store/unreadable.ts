import { Refusal } from "../core/refusal.ts";

/** How long a row is reported after it was last met: somebody may have repaired it since. */
const REPORTED_MS = 60_000;
const MOST_REPORTED = 100;
const FILL_TRIES = 10;

/** Remembers the rows that this process could not read: lists leave them out, and reports name them. */
export class UnreadableRows {
  readonly #metAtMs = new Map<string, number>();
  #misses = 0;

  /** The rows that can be read. */
  read<Raw, Row>(rows: readonly Raw[], nameOf: (raw: Raw) => string, parse: (raw: Raw) => Row): Row[] {
    return rows.flatMap((raw) => this.readOne(raw, nameOf, parse) ?? []);
  }

  /** The row, undefined if it cannot be read. */
  readOne<Raw, Row>(raw: Raw, nameOf: (raw: Raw) => string, parse: (raw: Raw) => Row): Row | undefined {
    try {
      return parse(raw);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      this.#note(nameOf(raw));
      return undefined;
    }
  }

  /** The row, or a refusal that names it. */
  get<Raw, Row>(raw: Raw, nameOf: (raw: Raw) => string, parse: (raw: Raw) => Row): Row {
    try {
      return parse(raw);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      const name = nameOf(raw);
      this.#note(name);
      throw new Refusal("store_unusable", `The ${name} cannot be read: its row in the store is damaged.`, {
        hint: "Set the row aside, with a copy of it: askd doctor --fix",
        cause: error,
      });
    }
  }

  /** A page without unreadable rows; one that is shorter than its limit still means that there are no more. */
  async fillPage<Row>(limit: number, list: (limit: number) => Promise<Row[]>): Promise<Row[]> {
    let asked = limit;
    for (let tries = 1; ; tries += 1) {
      const before = this.#misses;
      const rows = await list(asked);
      const missed = this.#misses - before;
      const isWhole = missed === 0 || rows.length >= limit || rows.length + missed < asked;
      if (isWhole || tries === FILL_TRIES) return rows.slice(0, limit);
      asked += missed;
    }
  }

  /** Reports something else that cannot be read, such as a page of the archive; rows that are in it are met on their own. */
  report(name: string): void {
    if (this.#metAtMs.size < MOST_REPORTED || this.#metAtMs.has(name)) this.#metAtMs.set(name, performance.now());
  }

  /** The names of the rows that were met lately. */
  list(): string[] {
    const sinceMs = performance.now() - REPORTED_MS;
    for (const [name, metAtMs] of this.#metAtMs) if (metAtMs < sinceMs) this.#metAtMs.delete(name);
    return [...this.#metAtMs.keys()];
  }

  #note(name: string) {
    this.#misses += 1;
    this.report(name);
  }
}
