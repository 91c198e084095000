import { describe, expect, test } from "vitest";
import { fillTemplate, isMet, parseCondition, parseTemplate } from "./template.ts";

const SCOPE = { count: 3, list: ["a", "b"], text: "hello", nested: { flag: false }, none: null };

describe("a template", () => {
  test.each([
    ["{{ count }}", 3],
    ["{{count}}", 3],
    ["{{ list }}", ["a", "b"]],
    ["{{ nested.flag }}", false],
    ["{{ nothing }}", undefined],
    ["{{ none }}", null],
    ["{{ count }}\n", 3],
    ["{{ count }} files", "3 files"],
    ["{{ text }}, {{ nothing }}!", "hello, !"],
    ["{{ list }} and {{ nested }}", '["a","b"] and {"flag":false}'],
    ["{{ count }}{{ count }}", "33"],
    ["{{ '}}' }} and {{ \"{{\" }}", "}} and {{"],
    ["no template }} here", "no template }} here"],
    [
      { a: "{{ count }}", b: ["{{ text }}", 1, null], c: "{{ nothing }}" },
      { a: 3, b: ["hello", 1, null] },
    ],
    [["{{ nothing }}"], [null]],
    [true, true],
  ])("%j becomes %j", (template, filled) => {
    expect(fillTemplate(template, SCOPE)).toEqual(filled);
  });

  test.each([
    ["{{ a", "{{ is not closed by }}"],
    ["{{ 'a }}", "a text in quotes is not closed"],
    ["{{ }}", "expected a value, found the end"],
    ["{{ a.__proto__ }}", "the name __proto__ is not allowed"],
  ])("%s is refused: %s", (text, message) => {
    expect(() => fillTemplate(text, SCOPE)).toThrow(message);
  });

  test("names the place of a mistake in the whole text", () => {
    expect(() => parseTemplate("Hi {{ a b }}")).toThrow(expect.objectContaining({ at: 8 }));
  });

  test("keeps a key called __proto__ from changing the prototype", () => {
    const filled = fillTemplate(JSON.parse('{"__proto__": {"polluted": "{{ count }}"}}'), SCOPE);
    expect(Object.getPrototypeOf(filled)).toBe(Object.prototype);
    expect(filled).not.toHaveProperty("polluted");
  });

  test("is limited in result size, also when it names one large value many times", () => {
    const scope = { big: "x".repeat(600_000), list: Array.from({ length: 200_000 }, () => 1) };
    expect(() => fillTemplate(["{{ big }}", "{{ big }}"], scope)).toThrow("at most 1000000 characters");
    expect(() => fillTemplate("{{ big }} {{ big }}", scope)).toThrow("at most 1000000 characters");
    expect(() => fillTemplate("{{ json(list) }}", scope)).toThrow("at most 1000000 characters");
    const doubling = Array.from({ length: 40 }).reduce((inner: unknown) => [inner, inner], "x");
    expect(() => fillTemplate("{{ value }}", { value: doubling })).toThrow("at most 1000000 characters");
  });

  test("is limited in depth and in the number of expressions", () => {
    const deep = Array.from({ length: 100 }).reduce((inner: unknown) => [inner], "x");
    expect(() => fillTemplate(deep, {})).toThrow("nested at most 64 deep");
    expect(() => fillTemplate("{{ value }}", { value: deep })).toThrow("nested at most 64 deep");
    expect(() => fillTemplate("{{a}} ".repeat(1_000), {})).toThrow("at most 500 expressions");
  });
});

describe("a condition", () => {
  test.each([
    [undefined, true],
    [true, true],
    [false, false],
    ["count > 2", true],
    ["{{ count > 2 }}", true],
    ["nested.flag", false],
    ["'{{' == text", false],
  ])("%j is %j", (condition, met) => {
    expect(isMet(condition, SCOPE)).toBe(met);
  });

  test("is one expression", () => {
    expect(() => parseCondition("{{ a }} && {{ b }}")).toThrow("write it without {{ }}");
  });
});
