import type { Event } from "../../core/trail/event.ts";
import { type Instant, SECOND_MS, epochMs } from "../../core/instant.ts";
import type { Question } from "../../core/question/question.ts";

const BUCKETS = 1_440;

interface Bucket {
  answered: number;
  timedOut: number;
}

/** How many of the questions that were closed lately nobody answered; its memory does not grow with their number. */
export class TimeoutWindow {
  readonly #windowMs: number;
  readonly #bucketMs: number;
  readonly #buckets = new Map<number, Bucket>();
  readonly #known = new Set<string>();
  #last: Pick<Question, "id" | "runId"> | undefined;

  constructor(windowMs: number) {
    this.#windowMs = windowMs;
    this.#bucketMs = Math.max(SECOND_MS, Math.ceil(windowMs / BUCKETS));
  }

  /** The question that timed out last. */
  get last(): Pick<Question, "id" | "runId"> | undefined {
    return this.#last;
  }

  add(event: Event): void {
    if (event.questionId && this.#known.has(event.questionId)) return;
    if (event.type === "question.answered") this.#bucketAt(event.at).answered += 1;
    if (event.type !== "question.timed_out") return;
    this.#bucketAt(event.at).timedOut += 1;
    if (event.questionId) this.#last = { id: event.questionId, runId: event.runId };
  }

  /** A question that was closed before this window was made; the feed may tell of it once more. */
  addClosed(question: Question): void {
    this.#known.add(question.id);
    if (question.status === "answered") this.#bucketAt(question.answer.at).answered += 1;
    if (question.status !== "timeout") return;
    this.#bucketAt(question.timedOutAt).timedOut += 1;
    this.#last ??= question;
  }

  /** From 0 to 1; nothing closed is 0. */
  rate(now: Instant): number {
    const oldest = this.#indexAt(epochMs(now) - this.#windowMs);
    let answered = 0;
    let timedOut = 0;
    for (const [index, bucket] of this.#buckets) {
      if (index <= oldest) this.#buckets.delete(index);
      else {
        answered += bucket.answered;
        timedOut += bucket.timedOut;
      }
    }
    return timedOut === 0 ? 0 : timedOut / (answered + timedOut);
  }

  #bucketAt(at: Instant): Bucket {
    const index = this.#indexAt(epochMs(at));
    const bucket = this.#buckets.get(index) ?? { answered: 0, timedOut: 0 };
    this.#buckets.set(index, bucket);
    return bucket;
  }

  #indexAt(ms: number): number {
    return Math.floor(ms / this.#bucketMs);
  }
}
