/** Concurrent background tasks; the rest of the machine serves callers that wait. */
const AT_ONCE = 16;

/** Work that must be finished before its owner stops. */
export class BackgroundWork {
  readonly #onBug: (error: unknown) => void;
  readonly #later: Array<() => Promise<void>> = [];
  #doing = 0;
  #open = 0;
  #waiting: Array<() => void> = [];
  /** One for all: very many may be under way. */
  readonly #over = (): void => {
    this.#open -= 1;
    if (this.#open > 0) return;
    for (const done of this.#waiting.splice(0)) done();
  };

  constructor(onBug: (error: unknown) => void) {
    this.#onBug = onBug;
  }

  track(work: Promise<unknown>): void {
    this.#open += 1;
    work.then(this.#over, this.#over); // whoever asked for the work hears of its failure
  }

  /** Runs a background task: at once if there are few, else queued. */
  afterwards(work: () => Promise<void>): void {
    this.#later.push(work);
    if (this.#doing < AT_ONCE) this.track(this.#doLater());
  }

  async #doLater() {
    this.#doing += 1;
    for (let next = this.#later.shift(); next; next = this.#later.shift()) await next().catch(this.#onBug);
    this.#doing -= 1;
  }

  /** Comes back when nothing is left, not even what was begun meanwhile. */
  async done(): Promise<void> {
    while (this.#open > 0) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }
}
