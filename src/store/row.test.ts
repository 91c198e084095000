import { expect, test } from "vitest";
import { parseEvent, parseQuestion, parseRun } from "./row.ts";

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

const EVENT = {
  type: "question.asked",
  at: "2026-11-02T09:00:00.000Z",
  runId: `r_${"0".repeat(26)}`,
  to: "pending",
  version: 1,
  by: { scope: "agent", id: "claude", channel: "cli", strength: "none" },
};

test("an event comes back as it was written, with what only a newer program knows", () => {
  const event = { ...EVENT, later: { is: ["kept"] } };
  const row = { body: JSON.stringify(event), n: 1, hash: "h", cursor: "1" };
  expect(parseEvent(row)).toEqual({ event, ...row });
});

test.each([
  ["a type that this program does not know", { ...EVENT, type: "question.sung" }],
  ["nobody who did it", { ...EVENT, by: undefined }],
  ["no version", { ...EVENT, version: undefined }],
  ["no fields", 7],
  ["nothing", null],
])("an event with %s is refused", (_, event) => {
  const row = { body: JSON.stringify(event), n: 1, hash: "h", cursor: "1" };
  expect(() => parseEvent(row)).toThrow(expect.objectContaining({ code: "store_unusable" }));
});
