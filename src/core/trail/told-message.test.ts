import { expect, test } from "vitest";
import { NOON } from "../../../test/builders.ts";
import { MINUTE_MS, later } from "../instant.ts";
import { type ToldMessage, isAsFarAsTold, readToldMessage } from "./told-message.ts";

const LATER = later(NOON, 5 * MINUTE_MS);
const LAST = later(NOON, 9 * MINUTE_MS);

function told(...all: Array<ToldMessage["is"]>): ToldMessage[] {
  return all.map((is, index) => ({ channel: "board", is, at: index === 0 ? NOON : LATER }));
}

const ARRIVED = { sentAt: NOON, outside: "m1" };
const BROKEN = { failure: { why: "status 500" } };

test.each<[what: string, row: object, events: ToldMessage[], isTold: boolean]>([
  ["waits", { state: "due" }, told(), true],
  ["waits, but was sent", { state: "due" }, told("sent"), false],
  ["was sent", { state: "sent", ...ARRIVED }, told("sent"), true],
  ["is said to be sent", { state: "sent", ...ARRIVED }, told(), false],
  ["is said to be sent in a digest", { state: "sent", ...ARRIVED }, told("collected"), false],
  ["is said to be sent at another time", { state: "sent", ...ARRIVED, sentAt: LAST }, told("sent"), false],
  ["is said to be sent at no time", { state: "sent", outside: "m1" }, told("sent"), false],
  ["was sent, and a change of it failed", { state: "sent", ...ARRIVED }, told("sent", "failed"), true],
  ["was sent and changed", { state: "closed", ...ARRIVED }, told("sent", "sent"), true],
  ["is said to be closed", { state: "closed" }, told(), false],
  ["closed with its digest", { state: "closed", digest: "d1" }, told("collected"), true],
  ["closed because its place is gone", { state: "closed", ...BROKEN }, told(), true],
  ["was deleted there and is sent again", { state: "due", sentAt: NOON }, told("sent"), true],
  ["is said to wait, and is there", { state: "due", ...ARRIVED }, told("sent"), false],
  ["failed for good", { state: "failed", ...BROKEN }, told("over"), true],
  ["failed after it was reported", { state: "failed", ...BROKEN }, told("failed"), true],
  ["is said to have failed", { state: "failed", ...BROKEN }, told(), false],
  ["came back", { state: "failed", ...ARRIVED }, told("sent", "over"), true],
  ["came back, and is said to be there", { state: "sent", ...ARRIVED }, told("sent", "over"), false],
  ["has a state that there is not", { state: "read" }, told(), false],
])("a message that %s", (_, row, events, isTold) => {
  expect(isAsFarAsTold(row, events, true)).toBe(isTold);
});

test("of several messages in one channel it is enough that one arrived", () => {
  expect(isAsFarAsTold({ state: "due" }, told("sent"), false)).toBe(true);
  expect(isAsFarAsTold({ state: "sent", ...ARRIVED }, told("sent", "over"), false)).toBe(true);
  expect(isAsFarAsTold({ state: "sent", ...ARRIVED }, told("over"), false)).toBe(false);
});

test("an event says of a message that it was sent, collected, failed, or failed for good", () => {
  const read = (type: "question.notified" | "run.delivery_failed" | "question.asked", detail: object) =>
    readToldMessage({ type, at: NOON, detail: { ...detail } })?.is;
  expect(read("question.notified", { channel: "board", what: "edit" })).toBe("sent");
  expect(read("question.notified", { channel: "board", digest: true })).toBe("collected");
  expect(read("run.delivery_failed", { channel: "board", why: "no" })).toBe("failed");
  expect(read("run.delivery_failed", { channel: "board", why: "no", final: true })).toBe("over");
  expect(read("run.delivery_failed", { reason: "run_cancelled" })).toBeUndefined();
  expect(read("question.asked", { channel: "board" })).toBeUndefined();
});
