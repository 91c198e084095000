/** Reads rows page by page; only one page is kept at a time. */
export class RowStream<Row> {
  readonly #readPage: (after: Row | undefined) => Promise<Row[]>;
  #page: Row[] = [];
  #place = 0;
  #last: Row | undefined;
  #hasEnded = false;

  constructor(readPage: (after: Row | undefined) => Promise<Row[]>) {
    this.#readPage = readPage;
  }

  /** The next row, which stays the next one until it is taken. */
  async peek(): Promise<Row | undefined> {
    if (this.#place < this.#page.length) return this.#page[this.#place];
    if (this.#hasEnded) return undefined;
    this.#page = await this.#readPage(this.#last);
    this.#place = 0;
    this.#last = this.#page.at(-1);
    this.#hasEnded = this.#last === undefined;
    return this.#page[0];
  }

  take(): void {
    this.#place += 1;
  }

  /** Takes all that come before this name, and those that have it. */
  async *takeUpTo(name: string, nameOf: (row: Row) => string): AsyncGenerator<Row> {
    for (let row = await this.peek(); row !== undefined && nameOf(row) <= name; row = await this.peek()) {
      this.take();
      yield row;
    }
  }
}
