import { describe, expect, test } from "vitest";
import { said } from "../../../test/scene.ts";
import { AnswerInput } from "./answer-input.ts";
import { parseAsk } from "../question/ask-input.ts";
import type { Content } from "../question/content.ts";
import { instant } from "../instant.ts";
import { answerText, matchAnswer } from "./match.ts";
import { DEFAULT_LIMITS, DEFAULT_RULES } from "../rules.ts";

function content(raw: Record<string, unknown>): Content {
  const { items } = parseAsk(raw, { via: "mcp" }, DEFAULT_RULES, instant(0));
  return { items };
}

function match(raw: Record<string, unknown>, answer: string) {
  return matchAnswer(content(raw), said(answer), DEFAULT_LIMITS);
}

const CACHE = {
  question: "Which cache?",
  options: [
    { value: "redis", label: "Redis" },
    { value: "mc", label: "Memcached" },
  ],
};
const POLICY = { question: "Which policies?", options: ["TTL", "LRU", "Both, in order"], multiple: true };

describe("one item", () => {
  test.each([
    ["1", "redis"],
    ["A", "redis"],
    ["b", "mc"],
    ["mc", "mc"],
    ["MEMCACHED", "mc"],
    ["  Redis  ", "redis"],
  ])("takes %j by key, value or label", (answer, value) => {
    expect(match(CACHE, answer)).toEqual({ "1": { values: [value] } });
  });

  test.each([
    { answer: "99" },
    { items: { 1: { values: [], text: "99" } } },
    { items: { 1: { values: [], text: "3" } } },
  ])("refuses a number that no option has, said as %j, unless it is meant as it stands", (given) => {
    const input = AnswerInput.parse(given);
    expect(() => matchAnswer(content(CACHE), input, DEFAULT_LIMITS)).toThrow(/no option 99|needs an answer/);
    const meant = matchAnswer(content(CACHE), { ...input, verbatim: true }, DEFAULT_LIMITS);
    expect(meant["1"]?.values).toEqual([]);
  });

  test("takes a number where the options are numbers themselves, or where there are none", () => {
    expect(match({ question: "How many?", options: ["2 workers", "4 workers"] }, "16")["1"]).toMatchObject({
      text: "16",
    });
    expect(match({ question: "How many?" }, "16")["1"]).toMatchObject({ text: "16" });
  });

  test("refuses what is probably a mistyped option, also said of one item", () => {
    const input = AnswerInput.parse({ items: { 1: { values: [], text: "Memcahed" } } });
    expect(() => matchAnswer(content(CACHE), input, DEFAULT_LIMITS)).toThrow("did you mean");
  });

  test("takes anything else as free text", () => {
    expect(match(CACHE, "Use Redis, we need pub/sub")).toEqual({
      "1": { values: [], text: "Use Redis, we need pub/sub" },
    });
  });

  test("refuses free text where only the options count, and names them", () => {
    expect(() => match({ ...CACHE, allow_text: false }, "Valkey")).toThrow(/"Valkey" is not one of the options/);
  });

  test.each(["allow", "approve"])(
    "takes plain words of consent and denial for an approval that offers %s",
    (consent) => {
      const approval = { kind: "approval", question: "Deploy?", options: [consent, "deny"], allow_text: false };
      for (const word of ["yes", "Yes", "allow", "approve", "ja"])
        expect(match(approval, word)).toEqual({ "1": { values: [consent] } });
      for (const word of ["no", "deny", "nein"]) expect(match(approval, word)).toEqual({ "1": { values: ["deny"] } });
      const both = { ...approval, options: ["allow", "approve", "deny"] };
      expect(match(both, "approve")).toEqual({ "1": { values: ["approve"] } });
      expect(() => match({ ...approval, options: ["allow", "reject"] }, "approve")).toThrow("not one of the options");
    },
  );

  test("does not guess when a word names two options", () => {
    expect(() => match({ question: "How many?", options: ["3", "1", "2"] }, "1")).toThrow(
      /"1" could mean A\) 3 and B\) 1/,
    );
  });

  test.each(["", "   ", "\n"])("refuses an empty answer %j", (answer) => {
    expect(() => match(CACHE, answer)).toThrow("Response cannot be empty");
  });

  test.each(["a\u0000b", "\u001b[31mred", "bell\u0007", "\u009bA", "\ud800"])(
    "refuses control characters %j",
    (answer) => {
      expect(() => match(CACHE, answer)).toThrow(/control character/);
    },
  );

  test("refuses an answer over the limit with both numbers", () => {
    expect(() => match(CACHE, "x".repeat(65_537))).toThrow(/65537 bytes; at most 65536/);
  });
});

describe("several choices", () => {
  test.each([
    ["1,2", ["TTL", "LRU"]],
    ["A, b", ["TTL", "LRU"]],
    ["LRU", ["LRU"]],
    ["TTL, Both, in order", ["TTL", "Both, in order"]],
    ['["LRU","TTL"]', ["LRU", "TTL"]],
    ["1,1", ["TTL"]],
  ])("are read from %j", (answer, values) => {
    expect(match(POLICY, answer)).toEqual({ "1": { values } });
  });

  test("with an unknown one are free text, or refused where only options count", () => {
    expect(match(POLICY, "TTL, LFU")["1"]).toEqual({ values: [], text: "TTL, LFU" });
    expect(() => match({ ...POLICY, allow_text: false }, "TTL, LFU")).toThrow(/not one of the options/);
  });
});

describe("several items", () => {
  const both = {
    questions: [
      { ...CACHE, id: "cache", header: "Cache" },
      { ...POLICY, id: "policy", header: "Policy" },
    ],
  };

  test.each(["1A 2A,B", "Cache: Redis\nPolicy: TTL, LRU", "1: redis\n2: 1,2", "cache: 1\npolicy: A,B"])(
    "are answered together by %j",
    (answer) => {
      expect(match(both, answer)).toEqual({ cache: { values: ["redis"] }, policy: { values: ["TTL", "LRU"] } });
    },
  );

  test("are answered by id, place or header", () => {
    const input = AnswerInput.parse({ items: { CACHE: { values: ["1"] }, "2": { values: ["TTL", "LRU"] } } });
    expect(matchAnswer(content(both), input, DEFAULT_LIMITS)).toEqual({
      cache: { values: ["redis"] },
      policy: { values: ["TTL", "LRU"] },
    });
  });

  test("take chosen values only if they are options", () => {
    const one = content(CACHE);
    const choose = (...values: string[]) =>
      matchAnswer(one, AnswerInput.parse({ items: { "1": { values } } }), DEFAULT_LIMITS);
    expect(choose("B")).toEqual({ "1": { values: ["mc"] } });
    expect(() => choose("7")).toThrow(/"7" is not one of the options/);
    expect(() => choose("A", "B")).toThrow(/Only one choice/);
  });

  test("name what is missing", () => {
    expect(() => match(both, "1A")).toThrow("Not answered yet: Policy");
    expect(() => match(both, "Redis")).toThrow(/does not say which part/);
    expect(() => match(both, "Colour: red\nPolicy: TTL")).toThrow(/no item "Colour"/);
  });

  test("are said in one line", () => {
    expect(answerText(content(both), match(both, "1A 2A,B"))).toBe("Cache: Redis; Policy: TTL, LRU");
  });
});

describe("a typed answer", () => {
  const typed = (schema: unknown) => ({ question: "How?", schema });

  test.each([
    [{ type: "integer", minimum: 1, maximum: 9 }, "7"],
    [{ type: "boolean" }, "yes"],
    [{ type: "string", format: "email" }, "ada@example.org"],
    [{ type: "object", properties: { port: { type: "integer" } }, required: ["port"] }, '{"port": 80}'],
  ])("fits %j", (schema, answer) => {
    expect(match(typed(schema), answer)["1"]).toEqual({ values: [], text: answer });
  });

  test.each([
    [{ type: "integer", maximum: 9 }, "10", /at most 9/],
    [{ type: "integer" }, "1.5", /whole number/],
    [{ type: "boolean" }, "perhaps", /true or false/],
    [{ type: "string", enum: ["a", "b"] }, "c", /one of a, b/],
    [{ type: "object", properties: { port: { type: "integer" } }, required: ["port"] }, "{}", /missing: port/],
    [{ type: "object", properties: { port: { type: "integer" } } }, '{"__proto__": 1}', /not one of port/],
  ])("of %j refuses %j", (schema, answer, message) => {
    expect(() => match(typed(schema), answer)).toThrow(message);
  });
});

describe("words that are near an option", () => {
  const options = ["Redis", "Memcached", "No", "10 s", "Redis cluster"];
  const near = (answer: string, more: object = {}): unknown => {
    return matchAnswer(content({ question: "Which?", options }), { answer, ...more }, DEFAULT_LIMITS)["1"];
  };

  test.each([
    ["memc", "Memcached"],
    ["memcachd", "Memcached"],
    ["Memcache", "Memcached"],
    ["redsi", "Redis"],
    ["redis clu", "Redis cluster"],
  ])("%s is not taken for an answer of its own", (typed, meant) => {
    expect(() => near(typed)).toThrow(`did you mean "${meant}"?`);
    expect(near(typed, { verbatim: true })).toEqual({ values: [], text: typed });
  });

  test.each(["neither of them", "Valkey", "on", "12 s", "redis, but only for sessions"])("%s is", (typed) => {
    expect(near(typed)).toEqual({ values: [], text: typed });
  });
});
