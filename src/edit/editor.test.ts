import { describe, expect, test } from "vitest";
import type { Format } from "./editor.ts";
import { editorFor } from "./editor.ts";
import { type Change, Unfit } from "./change.ts";

const apply = (format: Format, text: string, ...changes: Change[]): string =>
  changes.reduce((now, change) => editorFor(format).apply(now, change), text);
const set = (path: Change["path"], value: unknown): Change => ({ do: "set", path, value });

describe("what cannot be read is refused, with the reason:", () => {
  test.each<[string, Format, string, RegExp]>([
    ["an unclosed object", "json", '{"a": 1', /line 1: close brace expected/],
    ["a missing comma", "json", '{\n"a": 1\n"b": 2\n}', /line 3: comma expected/],
    ["a list", "json", "[1]", /no object/],
    ["a name twice", "json", '{"mcpServers": {"askd": {}, "askd": {}}}', /"askd" stands in it twice/],
    ["a name twice, by an escape", "json", String.raw`{"a": 1, "\u0061": 2}`, /"a" stands in it twice/],
    ["words after the end", "json", "{} x", /line 1/],
    ["TOML without a value", "toml", "a = \n", /./],
    ["a table twice", "toml", "[a]\n[a]\n", /./],
    ["YAML with a tab", "yaml", "a:\n\tb: 1\n", /./],
    ["a key twice in YAML", "yaml", "a: 1\na: 2\n", /unique/i],
    ["two documents in YAML", "yaml", "a: 1\n---\nb: 2\n", /./],
    ["a YAML list", "yaml", "- 1\n", /no mapping/],
  ])("%s", (_, format, text, why) => {
    expect(() => editorFor(format).parse(text)).toThrow(Unfit);
    expect(() => editorFor(format).parse(text)).toThrow(why);
  });
});

describe("in JSON", () => {
  test.each([
    ["an empty text", "", '{\n  "m": {\n    "k": 1\n  }\n}\n'],
    ["a minified one stays on its line", '{"a":1,"m":{}}', '{"a":1,"m":{"k":1}}'],
    ["one line with spaces stays so", '{ "m": { "x": [] } }', '{ "m": { "x": [], "k": 1 } }'],
    ["null makes room", '{\n  "m": null\n}', '{\n  "m": {\n    "k": 1\n  }\n}'],
    [
      "a comment at the end stays where it is",
      '{\n  "m": { // c\n    "x": 1 // d\n    // e\n  }\n}',
      '{\n  "m": { // c\n    "x": 1, // d\n    // e\n    "k": 1\n  }\n}',
    ],
    ["a trailing comma stays one", '{"m": {\n\t"x": 1,\n}}', '{"m": {\n\t"x": 1,\n\t"k": 1,\n}}'],
    [
      "a comma in a comment is none",
      '{\n  "m": {\n    "x": 1 /* a, b */\n  }\n}',
      '{\n  "m": {\n    "x": 1, /* a, b */\n    "k": 1\n  }\n}',
    ],
  ])("%s", (_, before, after) => {
    expect(apply("json", before, set(["m", "k"], 1))).toBe(after);
  });

  test("what was added can be taken out again", () => {
    for (const text of ['{\n  "a": 1, // c\n}', '{"a":1}', '{\n  "a": 1 // c\n}', "{\n  // c\n}", "{}"]) {
      expect(apply("json", text, set(["k"], { x: [1] }), { do: "remove", path: ["k"] })).toBe(text);
    }
  });

  test("one in the middle is taken out with its comma, and comments stay", () => {
    const text = '{\n  "a": 1, // a\n  "k": 2, // k\n  "b": 3\n}';
    expect(apply("json", text, { do: "remove", path: ["k"] })).toBe('{\n  "a": 1, // a // k\n  "b": 3\n}');
  });

  test("a value in the place of another is written as that one was", () => {
    const change = set(["l"], ["x", "y"]);
    expect(apply("json", '{"l":[1]}', change)).toBe('{"l":["x","y"]}');
    expect(apply("json", '{ "l": [1] }', change)).toBe('{ "l": ["x", "y"] }');
    expect(apply("json", '{\n  "l": [\n    1\n  ]\n}', change)).toBe('{\n  "l": [\n    "x",\n    "y"\n  ]\n}');
  });
});

describe("in TOML", () => {
  test("only tables of their own are changed", () => {
    for (const text of ["m = { k = { a = 1 } }\n", "[m]\nk.a = 1\n", "[m]\nk = { a = 1 }\n"]) {
      expect(() => apply("toml", text, set(["m", "k", "b"], 2))).toThrow(Unfit);
    }
  });

  test("a table in the middle grows at its end and shrinks by its lines", () => {
    const text = '[m.k] # ours\na = [\n  1, # one\n]\n# for z\n[z]\nb = "[m.k]"\n';
    const grown = '[m.k] # ours\na = [\n  1, # one\n]\nc = "d"\n# for z\n[z]\nb = "[m.k]"\n';
    expect(apply("toml", text, set(["m", "k", "c"], "d"))).toBe(grown);
    expect(apply("toml", grown, { do: "remove", path: ["m", "k", "c"] })).toBe(text);
    expect(apply("toml", text, { do: "remove", path: ["m", "k"] })).toBe('# for z\n[z]\nb = "[m.k]"\n');
  });
});

describe("in YAML", () => {
  test("a list below its key comes up to it", () => {
    const text = "e:\n  k:\n    args:\n      - a # old\n    b: 1\n";
    expect(apply("yaml", text, set(["e", "k", "args"], ["x y"]))).toContain('args: ["x y"]');
  });

  test("members in braces come and go", () => {
    const text = "e: {a: {x: 1}} # c\n";
    const more = apply("yaml", text, set(["e", "k"], { x: 1 }));
    expect(more).toBe('e: {a: {x: 1}, k: {"x":1}} # c\n');
    expect(apply("yaml", more, { do: "remove", path: ["e", "k"] })).toBe(text);
  });
});
