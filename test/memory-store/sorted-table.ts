/** Rows that can be read in id order, from any id. */
export class SortedTable<Row> {
  readonly #rows = new Map<string, Row>();
  readonly #ids: string[] = [];

  get size(): number {
    return this.#rows.size;
  }

  has(id: string): boolean {
    return this.#rows.has(id);
  }

  get(id: string): Row | undefined {
    return this.#rows.get(id);
  }

  set(id: string, row: Row): void {
    // Ids start with their time, so this is nearly always the end of the list.
    if (!this.#rows.has(id)) this.#ids.splice(this.#placeOf(id), 0, id);
    this.#rows.set(id, row);
  }

  /** The rows after that id, or all of them. */
  *scan(order: "oldest" | "newest", after?: string): Generator<[string, Row]> {
    const step = order === "oldest" ? 1 : -1;
    for (let index = this.#startOf(order, after); index >= 0 && index < this.#ids.length; index += step) {
      const id = this.#ids[index];
      const row = id === undefined ? undefined : this.#rows.get(id);
      if (id !== undefined && row !== undefined) yield [id, row];
    }
  }

  #startOf(order: "oldest" | "newest", after: string | undefined): number {
    if (order === "newest") return (after === undefined ? this.#ids.length : this.#placeOf(after)) - 1;
    if (after === undefined) return 0;
    return this.#placeOf(after) + (this.#rows.has(after) ? 1 : 0);
  }

  /** Where the id is, or would be put. */
  #placeOf(id: string): number {
    let low = 0;
    let high = this.#ids.length;
    if (high > 0 && (this.#ids[high - 1] ?? "") < id) return high;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#ids[middle] ?? "") < id) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
