import { randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { QuestionId, idsFrom, shortId } from "./id.ts";

test("ids say what they name, sort by time, and differ", () => {
  let now = Date.UTC(2026, 0, 1);
  const ids = idsFrom(() => (now += 1), randomBytes);
  const made = Array.from({ length: 1000 }, () => ids.question());
  expect(made.every((id) => QuestionId.safeParse(id).success)).toBe(true);
  expect([...made].sort()).toEqual(made);
  expect(new Set(made.map((id) => id.slice(12))).size).toBe(1000);
  expect(ids.run()).toMatch(/^r_/);
});

test("every bit of the random source reaches the id", () => {
  const base = idsFrom(
    () => 0,
    (count) => new Uint8Array(count),
  ).question();
  for (let bit = 0; bit < 80; bit += 1) {
    const flipped = idsFrom(
      () => 0,
      (count) => Uint8Array.from({ length: count }, (_, index) => (index === bit >> 3 ? 1 << (bit & 7) : 0)),
    ).question();
    expect(flipped).not.toBe(base);
  }
});

test("a short id is the shortest that no other id starts with, at least four characters", () => {
  const one = "q_0123456789abcdefghjkmnpqrs";
  const near = "q_0123456789abcdexxxxxxxxxxx";
  expect(shortId(one)).toBe("q-abcd");
  expect(shortId(one, [one, near])).toBe("q-abcdef");
});
