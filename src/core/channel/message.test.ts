import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { aQuestion, aRun } from "../../../test/builders.ts";
import { Strength } from "../people/actor.ts";
import { DEFAULT_RULES } from "../rules.ts";
import type { Content } from "../question/content.ts";
import { sayAnswerElsewhere } from "./answer-elsewhere.ts";
import { testMessage } from "./test-message.ts";
import { choicesOf, countBytes, countCharacters, cutText, fitText, questionMessage } from "./message.ts";

const OPTIONS = [
  { key: "a", value: "allow", label: "Allow" },
  { key: "b", value: "deny", label: "Deny" },
];

function approval(text: string, context: string, shared?: Content["shared"]) {
  const item = { id: "1", text, options: OPTIONS, multiple: false, allowText: false };
  const content: Content = { items: [item], context, ...(shared && { shared }) };
  return questionMessage(
    { run: aRun(), question: aQuestion({ kind: "approval", risk: "low" }), content },
    "d_token",
    DEFAULT_RULES,
  );
}

const LIMITS = fc.record({
  limit: fc.integer({ min: 300, max: 5_000 }),
  count: fc.constantFrom(countBytes, countCharacters),
  hasContext: fc.boolean(),
  hasTitle: fc.boolean(),
});
const TEXT = fc.string({ unit: "grapheme", minLength: 1, maxLength: 2_000, size: "max" });

describe("the message of an approval", () => {
  test("offers to approve only if all of its command is in the text, whatever the limit", () => {
    fc.assert(
      fc.property(TEXT, TEXT, LIMITS, fc.constantFrom(...Strength.options), (text, command, limits, strength) => {
        const message = approval(text, command);
        const fitted = fitText(message, { ...limits, foreign: (part) => part, how: "Reply." });
        const keys = choicesOf(message, { isWhole: fitted.isWhole, strength }).map(({ value }) => value);
        expect(limits.count(fitted.text)).toBeLessThanOrEqual(limits.limit);
        if (keys.includes("allow")) expect(fitted.text).toContain(command.trimEnd());
      }),
      { numRuns: 100, endOnFailure: true },
    );
  });

  test("never offers to approve if something was redacted", () => {
    const { items } = approval("Run it?", "");
    const message = approval("Run it?", "curl -H secret", { items: [...items], context: "curl -H [redacted]" });
    const { isWhole } = fitText(message, {
      limit: 4_000,
      count: countBytes,
      foreign: (part) => part,
      hasContext: true,
      hasTitle: true,
      how: undefined,
    });
    expect(choicesOf(message, { isWhole, strength: "person" })).toMatchObject([{ value: "deny" }]);
  });
});

test("a text is cut at a whole character, never longer than allowed, and says so", () => {
  fc.assert(
    fc.property(
      TEXT,
      fc.integer({ min: 0, max: 200 }),
      fc.constantFrom(countBytes, countCharacters),
      (text, limit, count) => {
        const cut = cutText(text, limit, count);
        expect(count(cut.text)).toBeLessThanOrEqual(limit);
        expect(cut.isCut).toBe(count(text) > limit);
        if (!cut.isCut) expect(cut.text).toBe(text);
      },
    ),
  );
});

test("a message about no one question names none to answer", () => {
  expect(sayAnswerElsewhere(testMessage(), "how.also")).toBeUndefined();
  expect(sayAnswerElsewhere(approval("Deploy?", ""), "how.also")).toMatch(/askd answer q-\w{4}/);
});
