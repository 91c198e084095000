import { describe, expect, test } from "vitest";
import { ADA, NOON, aQuestion, answered } from "../../../../test/builders.ts";
import { HOUR_MS, MINUTE_MS, SECOND_MS, later } from "../../instant.ts";
import type { Question } from "../../question/question.ts";
import { questionSubject } from "./delivery-subject.ts";
import { type Delivery, type DeliveryTime, newDelivery, planDelivery } from "./delivery.ts";

const question = aQuestion();
const due = newDelivery("token", { questionId: question.id }, { channel: "board", person: "ada" });
const sent: Delivery = { ...due, state: "sent", face: "old", sentAt: NOON };
const morning = later(NOON, 7 * HOUR_MS);

function plan(delivery: Delivery, asked: Question, face: string, at: DeliveryTime) {
  return planDelivery(delivery, questionSubject(asked, delivery.id, at.now), face, at);
}

describe("in quiet hours", () => {
  const night = { now: NOON, quietUntil: morning };

  test("a message waits for their end, and says why; the job looks again every hour", () => {
    expect(plan(due, question, "new", night)).toEqual({
      do: "wait",
      until: later(NOON, HOUR_MS),
      waits: { why: "quiet", since: NOON, until: morning },
    });
    expect(plan(due, question, "new", { now: morning, quietUntil: undefined })).toMatchObject({ do: "send" });
  });

  test("the wait keeps its beginning", () => {
    const waiting: Delivery = { ...due, waits: { why: "quiet", since: NOON, until: morning } };
    const now = later(NOON, HOUR_MS);
    expect(plan(waiting, question, "new", { now, quietUntil: morning })).toMatchObject({
      waits: { since: NOON },
    });
  });

  test("high risk does not wait", () => {
    expect(plan(due, aQuestion({ risk: "high" }), "new", night)).toMatchObject({ do: "send" });
  });

  test("a change and the outcome are shown at once", () => {
    expect(plan(sent, question, "new", night)).toMatchObject({ do: "edit" });
    expect(plan(sent, answered(question), "new", night)).toMatchObject({ do: "edit" });
  });

  test("a question that closed meanwhile is never sent", () => {
    expect(plan(due, answered(question), "new", night)).toMatchObject({ do: "skip" });
  });

  test("a reminder waits too, and is dropped if somebody claims or snoozes the question meanwhile", () => {
    const nudged = aQuestion({ nudges: 1 });
    expect(plan(sent, nudged, "old", night)).toMatchObject({ do: "wait", waits: { why: "quiet" } });
    const now = morning;
    expect(plan(sent, nudged, "old", { now })).toEqual({ do: "remind" });
    const claimed = aQuestion({ nudges: 1, claim: { by: ADA, at: NOON } });
    expect(plan(sent, claimed, "old", { now })).toEqual({ do: "nothing" });
    const snoozed = aQuestion({ nudges: 1, snoozedUntil: later(now, HOUR_MS) });
    expect(plan(sent, snoozed, "old", { now })).toEqual({ do: "nothing" });
  });
});

describe("while its recipient has the inbox open", () => {
  test.each(["low", "high"] as const)("a message of %s risk waits a minute at most, and less if they leave", (risk) => {
    const asked = aQuestion({ risk });
    const present = (now = NOON) => ({ now, presentUntil: later(now, 30 * SECOND_MS) });
    const first = plan(due, asked, "new", present());
    const half = later(NOON, 30 * SECOND_MS);
    expect(first).toEqual({ do: "wait", until: half, waits: { why: "present", since: NOON, until: half } });
    const waiting: Delivery = { ...due, waits: { why: "present", since: NOON, until: half } };
    expect(plan(waiting, asked, "new", { now: half, presentUntil: half })).toMatchObject({ do: "send" });
    const late = later(NOON, 50 * SECOND_MS);
    expect(plan(waiting, asked, "new", present(late))).toMatchObject({ until: later(NOON, MINUTE_MS) });
    expect(plan(waiting, asked, "new", present(later(NOON, MINUTE_MS)))).toMatchObject({ do: "send" });
  });

  test("the outcome is shown at once, and a question that closed is not sent", () => {
    const present = { now: NOON, presentUntil: later(NOON, MINUTE_MS) };
    expect(plan(sent, answered(question), "new", present)).toMatchObject({ do: "edit" });
    expect(plan(due, answered(question), "new", present)).toMatchObject({ do: "skip" });
  });
});
