/** Work that must be done before its owner may leave. */
export class Work {
  #open = 0;
  #waiting: Array<() => void> = [];
  /** One for all: very many may be under way. */
  readonly #over = (): void => {
    this.#open -= 1;
    if (this.#open > 0) return;
    for (const done of this.#waiting.splice(0)) done();
  };

  track(work: Promise<unknown>): void {
    this.#open += 1;
    work.then(this.#over, this.#over); // whoever asked for the work hears of its failure
  }

  /** Comes back when nothing is left, not even what was begun meanwhile. */
  async done(): Promise<void> {
    while (this.#open > 0) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }
}
