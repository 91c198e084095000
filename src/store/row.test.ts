import { expect, test } from "vitest";
import { parseQuestion, parseRun } from "./row.ts";

test("a row comes back as it was written, with what only a newer program knows", () => {
  const question = { id: "q_1", version: 3, status: "answered", later: { is: ["kept"] } };
  expect(parseQuestion(JSON.stringify(question))).toEqual(question);
  const run = { id: "r_1", version: 1, status: "running" };
  expect(parseRun(JSON.stringify(run), 7)).toEqual({ ...run, number: 7, starts: 0, isContinued: false });
});

test.each([
  ["a state that this program does not know", { id: "q_1", version: 1, status: "postponed" }],
  ["a state that is a word of the language", { id: "q_1", version: 1, status: "constructor" }],
  ["no version", { id: "q_1", status: "pending" }],
  ["no fields", 7],
  ["nothing", null],
])("a row with %s is refused", (_, row) => {
  const refused = expect.objectContaining({ code: "store_unusable", hint: expect.stringContaining("Update askd") });
  expect(() => parseQuestion(JSON.stringify(row))).toThrow(refused);
  expect(() => parseRun(JSON.stringify(row), 1)).toThrow(refused);
});
