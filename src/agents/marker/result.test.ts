import { describe, expect, test } from "vitest";
import { parseAsk } from "../../core/question/ask-input.ts";
import { Instant } from "../../core/instant.ts";
import { DEFAULT_RULES } from "../../core/rules.ts";
import { findLastObject, readResult } from "./result.ts";

const DONE = { status: "completed", summary: "Done." };
const json = JSON.stringify;

describe("a result is read", () => {
  test.each([
    ["bare", json(DONE)],
    ["indented", json(DONE, undefined, 2)],
    ["in colours", `\x1b[32m${json(DONE)}\x1b[0m`],
    ["with a trailing comma", `{"status":"completed","summary":"Done.",}`],
    ["after words", `It works.\n\n${json(DONE)}`],
    ["before words", `${json(DONE)}\nThat is all.`],
    ["fenced", `Here:\n\`\`\`json\n${json(DONE)}\n\`\`\`\n`],
    ["fenced without a name", `\`\`\`\n${json(DONE)}\n\`\`\``],
    ["after another object", `{"status":"failed"} was before. ${json(DONE)}`],
    ["after an open brace", `if (a) { then ${json(DONE)}`],
    ["after a quotation mark", `a 5" disk ${json(DONE)}`],
    ["before braces that hold no JSON", `${json(DONE)} as in {this} and {that: 1}`],
    ["before a brace that closes nothing", `${json(DONE)} }`],
  ])("%s", (_, text) => {
    expect(readResult({ text })).toEqual({ result: DONE });
  });

  test("with what it tells", () => {
    const text = json({ status: "blocked", summary: "s", details: 'with "quotes", \\ and }', issues: ["a", "b"] });
    expect(readResult({ text })).toEqual({ result: JSON.parse(text) });
  });

  test("from the structured output rather than from the words", () => {
    expect(readResult({ text: '{"status":"failed"}', structured: DONE })).toEqual({ result: DONE });
  });

  test("although some of it has another shape", () => {
    expect(readResult({ text: '{"status":"failed","summary":7,"issues":"many"}' })).toEqual({
      result: { status: "failed" },
    });
  });
});

test.each([
  ["words", "It is done."],
  ["nothing", ""],
  ["an object of another kind", '{"ok":true}'],
  ["a status of another kind", '{"status":"200"}'],
  ["a result that is not the last object", '{"status":"failed"} {"ok":true}'],
  ["a result inside of another object", '{"result":{"status":"failed"}}'],
  ["half a result", '{"status":"failed","summary":"it'],
  ["a list", '["status"]'],
])("no result is read from %s", (_, text) => {
  expect(readResult({ text })).toBeUndefined();
});

describe("a result that needs input", () => {
  const now = Instant.parse("2026-01-01T00:00:00.000Z");
  const parse = (text: string) => {
    const read = readResult({ text });
    return { ...read, ask: read?.ask && parseAsk(read.ask, { via: "result" }, DEFAULT_RULES, now) };
  };

  test("asks its question with its context and keeps the rest", () => {
    const { ask, result } = parse(
      json({
        status: "needs_input",
        summary: "s",
        question: "JWT or cookies?",
        questionContext: "Nothing is said.",
        details: "The model is there.",
        options: ["JWT", "Cookies"],
        issues: ["none"],
      }),
    );
    expect(ask).toMatchObject({ context: "Nothing is said.", items: [{ text: "JWT or cookies?" }] });
    expect(ask?.items[0]?.options.map((option) => option.label)).toEqual(["JWT", "Cookies"]);
    expect(result).toEqual({ status: "completed", summary: "s", details: "The model is there.", issues: ["none"] });
  });

  test("asks its summary when it has no question", () => {
    const { ask } = parse('{"status":"needs_input","summary":"Which cache?","question":" ","details":"d"}');
    expect(ask).toMatchObject({ context: "d", items: [{ text: "Which cache?" }] });
  });

  test("asks nothing, and warns, when it has neither", () => {
    expect(readResult({ text: '{"status":"needs_input"}' })).toEqual({
      result: { status: "completed" },
      warning: expect.stringContaining('no "question"'),
    });
  });
});

/** Quadratic search would take hours for these. */
test.each([
  ["closing braces", "}"],
  ["opening braces", "{"],
  ["pairs of braces", "{} x"],
  ["braces the wrong way round", "}{"],
  ["quotation marks and braces", '"}'],
  ["backslashes and quotation marks", '\\"}'],
  ["backslashes", "\\\\"],
  ["nested pairs", "{{}"],
])("words full of %s are looked through in linear time", (_, piece) => {
  const text = `${piece.repeat((4 * 1024 * 1024) / piece.length)}}`;
  const startedAt = process.cpuUsage();
  findLastObject(text);
  expect(process.cpuUsage(startedAt).user / 1e6).toBeLessThan(20);
});
