import { describe, expect, test } from "vitest";
import { ADA, AGENT } from "../../../test/builders.ts";
import { confirmationWord, isRiskUnverified, settleRisk } from "./risk.ts";

describe("the risk of a question", () => {
  test.each([
    // what the asker says, what askd measures by the kind, what counts, and by whose word
    [undefined, "question", "medium", "measured"],
    ["low", "question", "low", "asker"],
    ["medium", "question", "medium", "asker"],
    ["high", "question", "high", "asker"],
    [undefined, "approval", "medium", "measured"],
    ["low", "approval", "medium", "measured"],
    ["medium", "approval", "medium", "measured"],
    ["high", "approval", "high", "asker"],
  ] as const)("said %s of a kind %s is %s, %s", (risk, kind, counts, riskSource) => {
    expect(settleRisk({ kind, risk }, undefined, AGENT)).toEqual({ risk: counts, riskSource });
  });

  test("is never less than that of the question it continues", () => {
    const followed = { risk: "high", riskSource: "measured" } as const;
    expect(settleRisk({ kind: "question", risk: "low" }, followed, AGENT)).toEqual(followed);
    expect(settleRisk({ kind: "question" }, followed, AGENT)).toEqual(followed);
    expect(settleRisk({ kind: "question", risk: "high" }, { risk: "low" }, AGENT).risk).toBe("high");
  });

  test("that a person sets is a person's word", () => {
    expect(settleRisk({ kind: "question", risk: "low" }, undefined, ADA)).toEqual({
      risk: "low",
      riskSource: "person",
    });
  });

  test("is marked where only the asker plays it down", () => {
    expect(isRiskUnverified({ risk: "low", riskSource: "asker" })).toBe(true);
    expect(isRiskUnverified({ risk: "low" })).toBe(true);
    expect(isRiskUnverified({ risk: "low", riskSource: "person" })).toBe(false);
    expect(isRiskUnverified({ risk: "high", riskSource: "asker" })).toBe(false);
  });
});

test.each([
  ["Drop the legacy users_v1 table?", "users_v1"],
  ["Delete `prod` now?", "prod"],
  ["Push to main/release?", "main/release"],
  ["Delete everything?", "cleanup"],
  ["Delete `pr\u200bod` now?", "cleanup"],
])("%s is confirmed by %s", (title, word) => {
  expect(confirmationWord(title, " cleanup ")).toBe(word);
});
