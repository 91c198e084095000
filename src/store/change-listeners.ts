import { earlier, type Instant } from "../core/instant.ts";
import type { PreparedCommit } from "./prepare.ts";
import type { StoreChange } from "./store.ts";

/** The joint change of these commits. */
export function changeOf(commits: readonly PreparedCommit[]): StoreChange {
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

/** The listeners to changes of a store. */
export class ChangeListeners {
  readonly #listeners = new Set<(change: StoreChange) => void>();

  get size(): number {
    return this.#listeners.size;
  }

  /** Adds a listener, even if the same function is registered already; the returned function removes it. */
  add(listener: (change: StoreChange) => void): () => void {
    const own = (change: StoreChange) => listener(change);
    this.#listeners.add(own);
    return () => {
      this.#listeners.delete(own);
    };
  }

  /** Calls all listeners. An error of one is its own bug and does not keep the others from being called. */
  notify(change: StoreChange): void {
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
