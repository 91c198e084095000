import { expect, test } from "vitest";
import { Presence } from "./presence.ts";

test("who looked lately is there, and who left is forgotten", () => {
  const presence = new Presence();
  presence.note("q", "mika", 0);
  presence.note("q", "lena", 20_000);
  expect(presence.viewers("q", 25_000)).toEqual(["lena", "mika"]);
  expect(presence.viewers("q", 31_000)).toEqual(["lena"]);
  expect(presence.viewers("other", 0)).toEqual([]);
});

test("no number of questions that were looked at fills the memory", () => {
  const presence = new Presence();
  for (let count = 0; count < 5_000; count += 1) presence.note(`q${count}`, "mika", 0);
  expect(presence.viewers("q0", 0)).toEqual([]);
  expect(presence.viewers("q4999", 0)).toEqual(["mika"]);
});
