import { describe, expect, test } from "vitest";
import { instant } from "../../instant.ts";
import type { WorkflowDefinition } from "../definition/definition.ts";
import { readInputs } from "../definition/inputs.ts";
import { findTrigger, labelsOf, schedulesOf } from "./match-trigger.ts";
import { decideSchedule, findNextDue } from "./schedule.ts";

const at = (text: string) => instant(Date.parse(text));

const AUTOFIX: WorkflowDefinition = {
  name: "autofix",
  triggers: [
    { label_added: "auto-fix" },
    { schedule: "0 */6 * * *" },
    { webhook: "deploy", condition: "trigger.body.status == 'failed'" },
  ],
  steps: [{ id: "one", tool: "run_checks" }],
};

describe("an event", () => {
  const label = { is: "label_added", label: "Auto-Fix", issueNumber: 7, repo: "acme/shop", by: "ada" } as const;

  test("matches the trigger that it is for", () => {
    expect(findTrigger(AUTOFIX, { ...label, mayWrite: true })).toMatchObject({ starts: true, index: 0 });
    expect(findTrigger(AUTOFIX, { ...label, label: "bug", mayWrite: true })).toBeUndefined();
    const body = { status: "failed" };
    expect(findTrigger(AUTOFIX, { is: "webhook", name: "deploy", body })).toMatchObject({ starts: true, index: 2 });
    expect(findTrigger(AUTOFIX, { is: "webhook", name: "deploy", body: {} })).toBeUndefined();
    expect(findTrigger(AUTOFIX, { is: "webhook", name: "other", body })).toBeUndefined();
  });

  test("of somebody who may not write to the repository starts nothing", () => {
    expect(findTrigger(AUTOFIX, { ...label, mayWrite: false })).toEqual({ starts: false, reason: "not_permitted" });
  });

  test("of a schedule is for the issues with the labels beside it", () => {
    expect(schedulesOf(AUTOFIX)).toEqual([{ trigger: { schedule: "0 */6 * * *" }, index: 1 }]);
    expect(labelsOf(AUTOFIX)).toEqual(["auto-fix"]);
    expect(labelsOf({ ...AUTOFIX, triggers: undefined })).toEqual([]);
  });
});

describe("a schedule that was missed", () => {
  const schedule = "0 * * * *";
  const DUE = at("2026-01-01T03:00:00Z");

  test.each([
    ["just now", "2026-01-01T03:00:02Z", "run_once", true, "2026-01-01T04:00:00.000Z"],
    ["just now", "2026-01-01T03:04:00Z", "skip", true, "2026-01-01T04:00:00.000Z"],
    ["half an hour ago", "2026-01-01T03:30:00Z", "run_once", true, "2026-01-01T04:00:00.000Z"],
    ["half an hour ago", "2026-01-01T03:30:00Z", "skip", false, "2026-01-01T04:00:00.000Z"],
    ["many times", "2026-01-09T03:30:00Z", "run_once", true, "2026-01-09T04:00:00.000Z"],
    ["many times, and the last one just now", "2026-01-09T03:01:00Z", "skip", true, "2026-01-09T04:00:00.000Z"],
    ["not yet", "2026-01-01T02:00:00Z", "run_once", false, DUE],
  ] as const)("%s (%s) with %s", (_case, now, missed, isDue, nextAt) => {
    expect(decideSchedule({ schedule, missed }, DUE, at(now))).toEqual({ isDue, nextAt });
  });

  test("runs once unless the definition says otherwise, by UTC unless it names a zone", () => {
    expect(decideSchedule({ schedule }, DUE, at("2026-01-02T00:30:00Z")).isDue).toBe(true);
    expect(findNextDue({ schedule: "0 9 * * *" }, DUE)).toBe("2026-01-01T09:00:00.000Z");
    expect(findNextDue({ schedule: "0 9 * * *", timezone: "Asia/Tokyo" }, DUE)).toBe("2026-01-02T00:00:00.000Z");
  });
});

describe("inputs", () => {
  const definition: WorkflowDefinition = {
    ...AUTOFIX,
    inputs: {
      version: { required: true },
      count: { type: "number", default: 3 },
      dry: { type: "boolean" },
      files: { type: "list" },
      level: { options: ["minor", "major"] },
    },
  };

  test("are checked and converted, and get their defaults", () => {
    expect(readInputs(definition, { version: "1.0", dry: "true", files: '["a"]', level: "minor" })).toEqual({
      version: "1.0",
      count: 3,
      dry: true,
      files: ["a"],
      level: "minor",
    });
  });

  test.each([
    [{}, "The workflow autofix needs the input version"],
    [{ version: 1 }, "The input version must be a string"],
    [{ version: "1", count: "many" }, "The input count must be a number"],
    [{ version: "1", level: "huge" }, "The input level must be one of: minor, major"],
    [{ versoin: "1" }, 'The workflow autofix has no input "versoin"'],
    [{ constructor: "1" }, 'The workflow autofix has no input "constructor"'],
  ])("%j are refused: %s", (given, message) => {
    expect(() => readInputs(definition, given)).toThrow(message);
  });
});
