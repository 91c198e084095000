import { earlier, type Instant } from "../core/instant.ts";
import type { Prepared } from "./prepare.ts";
import type { Change } from "./store.ts";

/** What these commits, taken together, may have changed. */
export function changeOf(commits: readonly Prepared[]): Change {
  const questions = new Set<string>();
  let dueAt: Instant | undefined;
  for (const commit of commits) {
    for (const question of commit.questions) questions.add(question.id);
    for (const event of commit.events) if (event.questionId !== null) questions.add(event.questionId);
    for (const { job } of commit.scheduled) dueAt = earlier(job.dueAt, dueAt);
    for (const postponed of commit.postponed) dueAt = earlier(postponed.dueAt, dueAt);
  }
  return { questions, dueAt };
}

/** Those who want to know what commits change. */
export class Listeners {
  readonly #listeners = new Set<(change: Change) => void>();

  get size(): number {
    return this.#listeners.size;
  }

  /** Adds one, even if the same function is there already; the returned function takes it away. */
  add(listener: (change: Change) => void): () => void {
    const own = (change: Change): void => listener(change);
    this.#listeners.add(own);
    return () => {
      this.#listeners.delete(own);
    };
  }

  /** Calls everybody. What one throws is a bug of its own and keeps nobody else from hearing. */
  tell(change: Change): void {
    for (const listener of this.#listeners) {
      try {
        listener(change);
      } catch (error) {
        queueMicrotask(() => {
          throw error;
        });
      }
    }
  }
}
