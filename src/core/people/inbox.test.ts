import { describe, expect, test } from "vitest";
import { ADA, NOON, aQuestion } from "../../../test/builders.ts";
import { compareUrgency, mayAnswer, inboxSectionOf } from "./inbox.ts";
import { HOUR_MS, later } from "../instant.ts";

const LENA = { ...ADA, id: "lena" };
const me = { id: "ada", groups: ["platform"] };

describe("the order of an inbox", () => {
  test("is soonest consequence, then risk, then age", () => {
    const soon = aQuestion({ dueAt: later(NOON, HOUR_MS), title: "soon" });
    const goesOn = aQuestion({
      hold: { until: later(NOON, 1000), after: "proceed", windowMs: 1000 },
      title: "goes on",
    });
    const held = aQuestion({ hold: { until: later(NOON, 1000), after: "park", windowMs: 1000 }, title: "held" });
    const risky = aQuestion({ dueAt: later(NOON, HOUR_MS), risk: "high", title: "risky" });
    const old = aQuestion({ dueAt: later(NOON, HOUR_MS), askedAt: later(NOON, -1), title: "old" });
    const sorted = [held, soon, old, risky, goesOn].sort(compareUrgency).map(({ title }) => title);
    expect(sorted).toEqual(["goes on", "risky", "old", "soon", "held"]);
  });
});

describe("a question is", () => {
  test.each([
    ["waiting", {}],
    ["waiting", { to: ["@platform"] }],
    ["waiting", { claim: { by: ADA, at: NOON } }],
    ["claimed", { claim: { by: LENA, at: NOON } }],
    ["others", { to: ["lena"] }],
    ["snoozed", { snoozedUntil: later(NOON, 1) }],
    ["waiting", { snoozedUntil: NOON }],
  ] as const)("%s with %j", (place, over) => {
    expect(inboxSectionOf(aQuestion({ ...over, to: over && "to" in over ? [...over.to] : [] }), me, NOON)).toBe(place);
  });

  test("answered by those alone whom it names", () => {
    const question = aQuestion({ approvals: { need: 1, from: ["lena"], veto: false } });
    const may = (id: string, groups: string[] = []): boolean => mayAnswer(question, { id, groups });
    expect([may("ada"), may("lena"), may("ada", ["lena"])]).toEqual([false, true, true]);
  });
});
