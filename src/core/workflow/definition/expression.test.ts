import { describe, expect, test } from "vitest";
import { evaluate } from "./evaluate.ts";
import { formatPath, parseExpression, pathsIn } from "./expression.ts";
import { ExpressionProblem } from "./expression-token.ts";

const SCOPE = {
  analysis: { confidence: 62, kind: "Bug", files: ["a.ts", "b.ts"], none: null, "odd key": 1, ok: true, zero: 0 },
  answer: "B",
  empty: "",
};

describe("an expression", () => {
  test.each([
    ["analysis.confidence < 80", true],
    ["analysis.confidence >= 62", true],
    ["analysis.confidence > 62 || answer == 'B'", true],
    ["analysis.confidence > 62 && missing.deep.path", false],
    ["answer || analysis.defaultApproach", "B"],
    ["nothing || analysis.kind", "Bug"],
    ["empty || 'fallback'", "fallback"],
    ["default(empty, 'fallback')", ""],
    ["default(analysis.none, 3)", 3],
    ["!nothing", true],
    ["!!analysis.ok", true],
    ["analysis.files[1]", "b.ts"],
    ["analysis['odd key']", 1],
    ["analysis.files.length", 2],
    ["length(analysis.files)", 2],
    ["length(nothing)", 0],
    ["contains(analysis.files, 'b.ts')", true],
    ["contains(analysis.kind, 'ug')", true],
    ["contains(analysis, 'kind')", true],
    ["contains(nothing, 'x')", false],
    ["lower(analysis.kind) == 'bug'", true],
    ["json(analysis.files)", '["a.ts","b.ts"]'],
    ["json(nothing)", "null"],
    ["nothing == null", true],
    ["analysis.none == missing", true],
    ["analysis.zero == 0", true],
    ["'a' < \"b\"", true],
    ["-1.5e1", -15],
    [String.raw`'it\'s\n'`, "it's\n"],
    ["(1 == 2 || 3 == 3) && true", true],
    ["analysis.true", undefined],
    ["inputs.dry-run", undefined],
  ])("%s", (text, value) => {
    expect(evaluate(parseExpression(text), SCOPE)).toEqual(value);
  });

  test.each([
    ["", "expected a value, found the end", 0],
    ["a b", "expected an operator or the end, found b", 2],
    ["a = 1", "the character = means nothing here; did you mean ==?", 2],
    ["a &&", "expected a value, found the end", 4],
    ["a < b < c", "comparisons cannot be chained; join two with &&", 6],
    ["a.", "expected a name after the dot, found the end", 2],
    ["a[b]", "expected a number or a text in quotes between [ and ], found b", 2],
    ["a[1.5]", "expected a number or a text in quotes between [ and ], found 1.5", 2],
    ["(a", "expected ), found the end", 2],
    ["'open", "a text in quotes is not closed", 0],
    ["a.__proto__", "the name __proto__ is not allowed", 2],
    ["a['constructor']", "the name constructor is not allowed", 2],
    ["constructor", "the name constructor is not allowed", 0],
    ["eval('1')", "there is no function eval; there are length, contains, lower, default, json", 0],
    ["length(a, b)", "length takes one value, not 2", 0],
    ["a => 1", "the character = means nothing here; did you mean ==?", 2],
    ["`a`", "the character ` means nothing here", 0],
    ["1e999", "the number 1e999 is too large", 0],
  ])("%s is refused: %s", (text, message, at) => {
    expect(() => parseExpression(text)).toThrow(new ExpressionProblem(message, at));
    expect(placeOf(text)).toBe(at);
  });

  test("that compares a missing value or different types fails, instead of being false", () => {
    const compare = (text: string) => () => evaluate(parseExpression(text), SCOPE);
    expect(compare("analysis.confidenz < 80")).toThrow(
      "< compares two numbers or two texts, but analysis.confidenz is missing",
    );
    expect(compare("analysis.confidence > '8'")).toThrow("but the value is a text");
    expect(compare("80 > analysis.files")).toThrow("but analysis.files is a list");
  });

  test("sees own properties only", () => {
    for (const text of ["analysis.toString", "answer.includes", "analysis.files.map", "toString", "hasOwnProperty"]) {
      expect(evaluate(parseExpression(text), SCOPE)).toBeUndefined();
    }
    const inherited: unknown = Object.create({ secret: 1 });
    expect(evaluate(parseExpression("a.secret"), { a: inherited })).toBeUndefined();
    expect(evaluate(parseExpression("a.run"), { a: { run: () => 1 } })).toBeUndefined();
  });

  test("is limited in length and depth", () => {
    expect(() => parseExpression("a".repeat(2_001))).toThrow("at most 2000 characters");
    expect(() => parseExpression(`${"(".repeat(900)}a${")".repeat(900)}`)).toThrow("nested at most 32 deep");
    expect(() => parseExpression(`${"!".repeat(1_900)}a`)).toThrow("nested at most 32 deep");
    expect(evaluate(parseExpression(Array.from({ length: 499 }, () => "0").join("||")), {})).toBe(0);
  });

  test("lists the values that it names", () => {
    const paths = pathsIn(parseExpression("!a.b && length(c['d e']) > 1 || default(f[0], 'x') == true"));
    expect(paths.map(formatPath)).toEqual(["a.b", 'c["d e"]', "f[0]"]);
    expect(paths.map(({ at }) => at)).toEqual([1, 15, 40]);
  });
});

function placeOf(text: string) {
  try {
    parseExpression(text);
  } catch (error) {
    return error instanceof ExpressionProblem ? error.at : undefined;
  }
  return undefined;
}
