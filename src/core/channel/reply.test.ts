import { expect, test } from "vitest";
import { aContent } from "../../../test/builders.ts";
import { HOUR_MS, MINUTE_MS } from "../instant.ts";
import { readPress, readReply } from "./reply.ts";

test.each([
  ["1", { do: "answer", input: { answer: "1" } }],
  [" redis ", { do: "answer", input: { answer: "redis" } }],
  ["B\nbecause it is there", { do: "answer", input: { answer: "B", note: "because it is there" } }],
  ["two lines\nof my own", { do: "answer", input: { answer: "two lines\nof my own" } }],
  ["claim", { do: "claim" }],
  ["I’m on it!", { do: "claim" }],
  ["/claim", { do: "claim" }],
  ["snooze", { do: "snooze", ms: HOUR_MS }],
  ["snooze 30m", { do: "snooze", ms: 30 * MINUTE_MS }],
  ["you decide", { do: "answer", input: { outcome: "decide" } }],
  ["? Which region?", { do: "answer", input: { outcome: "clarify", note: "Which region?" } }],
  ["I claim that Redis is better", { do: "answer", input: { answer: "I claim that Redis is better" } }],
])("%j is read as it is meant", (text, act) => {
  expect(readReply(aContent(), text)).toMatchObject(act);
});

test("the name of an option always means that option", () => {
  const options = [
    { key: "a", value: "claim", label: "Claim" },
    { key: "b", value: "you decide", label: "You decide" },
  ];
  const content = { items: [{ id: "1", text: "?", options, multiple: false, allowText: true }] };
  expect(readReply(content, "claim")).toMatchObject({ do: "answer", input: { answer: "claim", outcome: "answer" } });
  expect(readReply(content, "You decide")).toMatchObject({ do: "answer", input: { outcome: "answer" } });
});

test.each([
  ["A", { do: "answer", input: { answer: "A" } }],
  ["/claim", { do: "claim" }],
  ["/snooze 2h", { do: "snooze", ms: 2 * HOUR_MS }],
  ["/decide", { do: "answer", input: { outcome: "decide" } }],
])("a button that says %j is read", (text, act) => {
  expect(readPress(aContent(), text)).toMatchObject(act);
});

test.each(["", "AA", "A ", "a", "C", "1", "Redis", "claim", "you decide", "/ask why?", "/nothing"])(
  "a button that says %j was altered",
  (text) => {
    expect(() => readPress(aContent(), text)).toThrow(/none of the question's buttons/);
  },
);
