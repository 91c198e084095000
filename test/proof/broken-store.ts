import type { Changes } from "../../src/core/changes.ts";
import type { Instant } from "../../src/core/instant.ts";
import type { CommitResult, Store } from "../../src/store/store.ts";
import { MemoryStore } from "../memory-store/memory.ts";
import { overriding } from "./overriding.ts";

/** A planted bug: rows are written over whatever is there, as if no version were checked. */
export function withoutGuard(store: Store): Store {
  let last: Promise<unknown> = Promise.resolve();
  const write = async (changes: Changes): Promise<CommitResult> => {
    const runs = (changes.runs ?? []).map(async (run) => ({
      ...run,
      version: (await store.findRun(run.id))?.version ?? 0,
    }));
    const questions = (changes.questions ?? []).map(async (question) => ({
      ...question,
      version: (await store.findQuestion(question.id))?.version ?? 0,
    }));
    return store.commit({ ...changes, runs: await Promise.all(runs), questions: await Promise.all(questions) });
  };
  return overriding(store, {
    commit: (changes) => {
      const mine = last.then(() => write(changes));
      last = mine.catch(() => undefined);
      return mine;
    },
  });
}

/** A store whose machine can lose power at any moment; then the disk is what the next process finds. */
export interface Mortal {
  store: Store;
  disk: Store;
}

/**
 * A store in two parts, memory and disk. With the planted bug a commit is acknowledged when it is in memory
 * and reaches the disk with the next one; without it, it is on disk first.
 */
export function mortalStore(now: () => Instant, acknowledges: "before disk" | "after disk"): Mortal {
  const memory = new MemoryStore(now);
  const disk = new MemoryStore(now);
  let onTheWay: Changes | undefined;
  let last: Promise<unknown> = Promise.resolve();
  const write = async (changes: Changes): Promise<CommitResult> => {
    if (onTheWay) await disk.commit(onTheWay);
    onTheWay = undefined;
    const committed = await memory.commit(changes);
    if (committed.ok && acknowledges === "after disk") await disk.commit(changes);
    if (committed.ok && acknowledges === "before disk") onTheWay = changes;
    return committed;
  };
  const store = overriding(memory, {
    commit: (changes) => {
      const mine = last.then(() => write(changes));
      last = mine.catch(() => undefined);
      return mine;
    },
  });
  return { store, disk };
}
