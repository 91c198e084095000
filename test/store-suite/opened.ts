import { afterEach, beforeEach, expect } from "vitest";
import type { Changes } from "../../src/core/changes.ts";
import type { Run } from "../../src/core/run/run.ts";
import { aRun } from "../builders.ts";
import type { CommitResult, Store } from "../../src/store/store.ts";

/** An empty store and its test environment. */
export interface Opened {
  store: Store;
  /** The same rows as another process sees them; the memory store returns itself. */
  another(): Promise<Store>;
  /** Advances the store's clock by at least that much. */
  pass(ms: number): Promise<void>;
  /** Closes the stores and deletes the rows. */
  close(): Promise<void>;
}

export type Open = () => Promise<Opened>;

/** An empty store for each test; `store` is valid while a test runs. */
export function eachWithStore(open: Open): Opened {
  let opened: Opened | undefined;
  const get = (): Opened => {
    if (!opened) throw new Error("There is a store only while a test runs.");
    return opened;
  };
  beforeEach(async () => {
    opened = await open();
  });
  afterEach(async () => {
    await opened?.close();
    opened = undefined;
  });
  return {
    get store() {
      return get().store;
    },
    another: () => get().another(),
    pass: (ms) => get().pass(ms),
    close: () => get().close(),
  };
}

/** Commits and requires success. */
export async function keep(store: Store, changes: Changes): Promise<Extract<CommitResult, { ok: true }>> {
  const committed = await store.commit(changes);
  expect(committed).toMatchObject({ ok: true });
  if (!committed.ok) throw new Error(committed.why);
  return committed;
}

/** Stores a run and reads it back. */
export async function keepRun(store: Store, over: Partial<Run> = {}): Promise<Run> {
  const run = aRun(over);
  const { numbers } = await keep(store, { runs: [run] });
  return { ...run, version: 1, number: numbers.get(run.id) ?? 0 };
}
