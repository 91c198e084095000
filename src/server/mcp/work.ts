/** Work that must be done before its owner may leave. */
export class Work {
  readonly #open = new Set<Promise<unknown>>();

  track(work: Promise<unknown>): void {
    this.#open.add(work);
    const over = (): void => void this.#open.delete(work);
    work.then(over, over); // whoever asked for the work hears of its failure
  }

  /** Comes back when nothing is left, not even what was begun meanwhile. */
  async done(): Promise<void> {
    while (this.#open.size > 0) await Promise.allSettled(this.#open);
  }
}
