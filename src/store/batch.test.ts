import { expect, test } from "vitest";
import { aRun } from "../../test/builders.ts";
import { BATCH_COMMITS, Batcher } from "./batch.ts";
import type { PreparedCommit } from "./prepare.ts";

/** Adds so many commits in one turn, and says how they were written: the sizes of batches, and how many at once. */
async function writeMany(count: number, atOnce: number): Promise<{ sizes: number[]; most: number }> {
  const sizes: number[] = [];
  let now = 0;
  let most = 0;
  const apply = async (batch: readonly PreparedCommit[]) => {
    sizes.push(batch.length);
    most = Math.max(most, (now += 1));
    await new Promise((resolve) => setTimeout(resolve, 5));
    now -= 1;
    return batch.map(() => ({ ok: true as const, numbers: new Map(), attempts: new Map() }));
  };
  const batcher = new Batcher({ atOnce, apply, tell: () => undefined });
  await Promise.all(Array.from({ length: count }, () => batcher.add({ runs: [aRun()] })));
  await batcher.idle();
  return { sizes, most };
}

test("commits of one turn share a batch where one is written at a time", async () => {
  expect(await writeMany(32, 1)).toEqual({ sizes: [32], most: 1 });
});

test("many commits are shared by two batches where two may be on their way", async () => {
  expect(await writeMany(32, 2)).toEqual({ sizes: [16, 16], most: 2 });
});

test("a few commits are not shared", async () => {
  expect(await writeMany(8, 2)).toEqual({ sizes: [8], most: 1 });
});

test.each([1, 2])("no batch is larger than it may be, with %i on their way", async (atOnce) => {
  const { sizes } = await writeMany(1_000, atOnce);
  expect(Math.max(...sizes)).toBe(BATCH_COMMITS);
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(1_000);
});
