const MOST_UNSENT_BYTES = 1024 * 1024;
const LONGEST_STALL_MS = 60_000;

/** The output to one reader of live events. A reader that does not read is cut off and can come back. */
export class EventStream {
  readonly body: ReadableStream<Uint8Array>;
  readonly #encoder = new TextEncoder();
  readonly #ended = new AbortController();
  readonly #cut: () => void;
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  #hasRoom: () => void = () => undefined;

  /** `cut` ends the connection at once; what is queued would never be taken. */
  constructor(cut: () => void) {
    this.#cut = cut;
    this.body = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#controller = controller;
        },
        pull: () => this.#hasRoom(),
        cancel: () => this.#ended.abort(),
      },
      new ByteLengthQueuingStrategy({ highWaterMark: MOST_UNSENT_BYTES }),
    );
  }

  /** Aborts when nothing more can be sent. */
  get ended(): AbortSignal {
    return this.#ended.signal;
  }

  /** Sends without waiting; too much unsent ends the stream. */
  send(text: string): void {
    if (this.ended.aborted) return;
    this.#controller?.enqueue(this.#encoder.encode(text));
    if (this.#unsentBytes() >= MOST_UNSENT_BYTES) this.drop();
  }

  /** Waits until the reader has taken most of what was sent; for history, which may be long. */
  async room(): Promise<void> {
    while (!this.ended.aborted && this.#unsentBytes() > MOST_UNSENT_BYTES / 2) {
      const isTaken = await new Promise<boolean>((resolve) => {
        const timer = setTimeout(() => resolve(false), LONGEST_STALL_MS);
        this.#hasRoom = () => {
          clearTimeout(timer);
          resolve(true);
        };
      });
      if (!isTaken) this.drop();
    }
  }

  /** Ends the stream after everything sent. */
  close(): void {
    if (this.ended.aborted) return;
    this.#ended.abort();
    this.#controller?.close();
  }

  /** Cuts the stream off, dropping unsent events. */
  drop(): void {
    if (this.ended.aborted) return;
    this.#ended.abort();
    this.#cut();
  }

  #unsentBytes() {
    return MOST_UNSENT_BYTES - (this.#controller?.desiredSize ?? 0);
  }
}
