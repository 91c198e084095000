/**
 * Remembers at least the latest so many values, and at most twice as many. Those that were set longest ago are
 * forgotten all at once: to take the oldest out of a map one by one takes longer the more were taken out before.
 */
export class RecentCache<Value> {
  readonly #atLeast: number;
  #newer = new Map<string, Value>();
  #older = new Map<string, Value>();

  constructor(atLeast: number) {
    this.#atLeast = atLeast;
  }

  get(key: string): Value | undefined {
    return this.#newer.get(key) ?? this.#older.get(key);
  }

  set(key: string, value: Value): void {
    if (this.#newer.size >= this.#atLeast && !this.#newer.has(key)) {
      this.#older = this.#newer;
      this.#newer = new Map();
    }
    this.#newer.set(key, value);
  }

  delete(key: string): void {
    this.#newer.delete(key);
    this.#older.delete(key);
  }

  clear(): void {
    this.#newer.clear();
    this.#older.clear();
  }
}
