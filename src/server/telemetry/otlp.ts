import type { KeptEvent } from "../../core/trail/event.ts";
import type { QuestionId, RunId } from "../../core/id.ts";
import { endsQuestion, traceRun } from "../../core/trail/trace.ts";
import type { Engine } from "../../engine/engine.ts";
import type { SpanSender } from "./span-sender.ts";

const MOST_RUNS = 1_000;
const REMEMBERED = 10_000;

export interface TracerDeps {
  engine: Pick<Engine, "findRun" | "readChain">;
  sender: SpanSender;
  onFailure(error: unknown): void;
}

/** Makes the spans of questions that are over, from the events of their runs. */
export class Tracer {
  readonly #deps: TracerDeps;
  readonly #runs = new Set<RunId>();
  readonly #sent = new Set<QuestionId>();
  #working: Promise<void> | undefined;

  constructor(deps: TracerDeps) {
    this.#deps = deps;
  }

  take(events: readonly KeptEvent[]): void {
    for (const { event } of events) {
      // Too many to look at: spans left out are missing from the traces only.
      if (endsQuestion(event) && this.#runs.size < MOST_RUNS) this.#runs.add(event.runId);
    }
    if (this.#runs.size > 0) this.#working ??= this.#work();
  }

  /** Sends queued spans and stops. */
  async stop(): Promise<void> {
    await this.#working;
    await this.#deps.sender.flush();
  }

  async #work(): Promise<void> {
    for (const id of this.#runs) {
      this.#runs.delete(id);
      await this.#trace(id).catch((error: unknown) => this.#deps.onFailure(error));
    }
    this.#working = undefined;
  }

  async #trace(id: RunId): Promise<void> {
    const run = await this.#deps.engine.findRun(id);
    if (!run) return;
    const kept = await this.#deps.engine.readChain(id);
    const spans = traceRun(
      run,
      kept.map(({ event }) => event),
    );
    for (const [questionId, made] of spans) {
      if (this.#sent.has(questionId)) continue;
      this.#remember(questionId);
      this.#deps.sender.add(made);
    }
  }

  #remember(id: QuestionId): void {
    this.#sent.add(id);
    const [oldest] = this.#sent;
    if (this.#sent.size > REMEMBERED && oldest !== undefined) this.#sent.delete(oldest);
  }
}
