import { SECOND_MS } from "../../core/instant.ts";
import type { Span } from "../../core/trail/trace.ts";
import { type OtlpTarget, otlpBody } from "./otlp.ts";

const MOST_WAITING = 4_096;
const BATCH = 512;
const TIMEOUT_MS = 10 * SECOND_MS;

export interface SenderDeps {
  target: OtlpTarget;
  version: string;
  everyMs: number;
  /** Reports spans that did not arrive; they are not sent again. */
  onFailure(error: unknown, spans: number): void;
}

/** Sends spans in batches. A receiver that is slow or away costs a bounded memory and nothing else. */
export class SpanSender {
  readonly #deps: SenderDeps;
  #waiting: Span[] = [];
  #timer: NodeJS.Timeout | undefined;
  #sending: Promise<void> = Promise.resolve();

  constructor(deps: SenderDeps) {
    this.#deps = deps;
  }

  add(spans: readonly Span[]): void {
    const room = MOST_WAITING - this.#waiting.length;
    this.#waiting.push(...spans.slice(0, room));
    if (spans.length > room) this.#deps.onFailure(new Error("too many spans wait"), spans.length - room);
    this.#timer ??= setTimeout(() => void this.flush(), this.#deps.everyMs).unref();
  }

  /** Sends queued spans; never fails. */
  flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#sending = this.#sending.then(() => this.#sendAll());
    return this.#sending;
  }

  async #sendAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.slice(0, BATCH);
      this.#waiting = this.#waiting.slice(BATCH);
      await this.#send(batch).catch((error: unknown) => this.#deps.onFailure(error, batch.length));
    }
  }

  async #send(batch: readonly Span[]): Promise<void> {
    const { target, version } = this.#deps;
    const response = await fetch(target.url, {
      method: "POST",
      redirect: "error",
      headers: { ...target.headers, "content-type": "application/json" },
      body: otlpBody(batch, { service: target.service, version }),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    await response.body?.cancel();
    if (!response.ok) throw new Error(`the receiver of traces replied ${response.status}`);
  }
}
