import { expect, test } from "vitest";
import { BackgroundWork } from "./background-work.ts";

const raise = (error: unknown): never => {
  throw error;
};

test("what nobody waits for is done a few at a time, in turn, and all of it before the owner leaves", async () => {
  const work = new BackgroundWork(raise);
  const done: number[] = [];
  let doing = 0;
  let most = 0;
  for (let n = 0; n < 100; n += 1) {
    work.afterwards(async () => {
      doing += 1;
      most = Math.max(most, doing);
      await Promise.resolve();
      doing -= 1;
      done.push(n);
    });
  }
  expect(doing).toBe(16);
  await work.done();
  expect(most).toBe(16);
  expect(done).toEqual(Array.from({ length: 100 }, (_, n) => n));
});

test("a failure is reported and keeps nothing else from being done", async () => {
  const bugs: unknown[] = [];
  const work = new BackgroundWork((error) => void bugs.push(error));
  const done: number[] = [];
  for (let n = 0; n < 40; n += 1) {
    work.afterwards(async () => {
      if (n % 2 === 0) throw new Error(`${n}`);
      done.push(n);
    });
  }
  work.track(Promise.reject(new Error("told to whoever asked")));
  await work.done();
  expect([bugs.length, done.length]).toEqual([20, 20]);
});
