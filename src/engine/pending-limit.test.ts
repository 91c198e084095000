import { expect, test } from "vitest";
import { Refusal } from "../core/refusal.ts";
import { PendingLimit } from "./keep-ask.ts";

/** A store with so many waiting questions, and how often they were counted. */
function waiting(count: number) {
  const store = {
    count,
    counted: 0,
    async countQuestions() {
      store.counted += 1;
      return store.count;
    },
  };
  return store;
}

test("many who ask at once are counted once, and only those get in for whom there is room", async () => {
  const store = waiting(7);
  const room = new PendingLimit(store, 10);
  const tried = await Promise.allSettled(Array.from({ length: 5 }, () => room.require()));
  expect(tried.map(({ status }) => status)).toEqual(["fulfilled", "fulfilled", "fulfilled", "rejected", "rejected"]);
  expect(store.counted).toBe(1);
});

test("whoever is refused was counted afresh", async () => {
  const store = waiting(9);
  const room = new PendingLimit(store, 10);
  await room.require();
  store.count = 5;
  await room.require();
  expect(store.counted).toBe(2);
  store.count = 10;
  for (let more = 6; more < 10; more += 1) await room.require();
  await expect(room.require()).rejects.toThrow(Refusal);
});

test("a count that failed is tried again by the next", async () => {
  const store = waiting(0);
  const room = new PendingLimit(store, 10);
  const count = store.countQuestions;
  store.countQuestions = () => Promise.reject(new Error("away"));
  await expect(room.require()).rejects.toThrow("away");
  store.countQuestions = count;
  await room.require();
});
