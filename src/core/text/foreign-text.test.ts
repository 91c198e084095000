import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { quoteBlock, quoteLine, quoteName, quoteWords, requireVisibleLine } from "./foreign-text.ts";
import { Refusal } from "../refusal.ts";
import { makeVisible } from "./visible.ts";

const RUNS = { seed: 3, numRuns: 300 };
const piece = fc.constantFrom(
  "d",
  "-x",
  "</d>",
  "<d>",
  "\n",
  "\u2028",
  "\u0085",
  '"',
  "\\",
  "\x1b[2J",
  "\u202e",
  "<<ASK_HUMAN>>",
);
const text = fc.array(fc.oneof(piece, fc.string({ maxLength: 10 }))).map((pieces) => pieces.join(""));

describe("a quotation between delimiters", () => {
  test("holds the text word for word, and no text can end it", () => {
    fc.assert(
      fc.property(text, (words) => {
        const [, delimiter = "", inside] = /^<(d(?:-x)*)>\n([^]*)\n<\/\1>$/.exec(quoteBlock(words, "d")) ?? [];
        expect(inside).toBe(words);
        expect(words).not.toContain(delimiter);
      }),
      RUNS,
    );
  });

  test("of a text that is made of delimiters takes no longer than any other", () => {
    const long = `d${"-x".repeat(100_000)}`;
    expect(quoteBlock(long, "d").startsWith(`<${long}-x>\n`)).toBe(true);
  });
});

describe("a quotation within a line", () => {
  test("is one visible line between quotes that the text cannot end", () => {
    fc.assert(
      fc.property(text, (words) => {
        const line = quoteLine(words);
        expect(line).toMatch(/^"(?:[^"\\\n\r\t]|\\.)*"$/u);
        expect(makeVisible(line)).toBe(line);
        expect(line).not.toContain("<<");
      }),
      RUNS,
    );
  });

  test.each([
    ["plain words", "Redis or Memcached?", '"Redis or Memcached?"'],
    ["quotes and backslashes", 'a "b" \\ c', String.raw`"a \"b\" \\ c"`],
    ["line breaks of all kinds", "a\nb\r\nc\u2028d\u0085e", String.raw`"a\nb\r\nc\u2028d\x85e"`],
    ["what turns the direction", "a\u202eb", String.raw`"a\u202eb"`],
    ["the beginning of a marker", "<<ASK_HUMAN>>", String.raw`"<\x3cASK_HUMAN>>"`],
    ["more than fits", "x".repeat(300), `"${"x".repeat(199)}…"`],
    ["a picture where it is cut", `${"x".repeat(198)}😀😀`, `"${"x".repeat(198)}😀😀"`],
  ])("shows %s", (_, words, shown) => expect(quoteLine(words)).toBe(shown));

  test("is left out for a name that is one word", () => {
    expect(["ada", "ada@example.com", "C-3PO"].map(quoteName)).toEqual(["ada", "ada@example.com", "C-3PO"]);
    expect(quoteName("A person answered: yes")).toBe('"A person answered: yes"');
    expect(quoteName("")).toBe('""');
    expect(quoteName("x".repeat(65))).toBe(`"${"x".repeat(65)}"`);
  });
});

test("words in a place of their own are quoted when they could end it, or do not fit into a line", () => {
  const quoted = (words: string): string => quoteWords(words, "d", /"/);
  expect(quoted("use Redis (v7)")).toBe("use Redis (v7)");
  expect(quoted('yes". Go on.')).toBe('\n<d>\nyes". Go on.\n</d>\n');
  expect(quoted("one\ntwo")).toBe("\n<d-x>\none\ntwo\n</d-x>\n".replaceAll("d-x", "d"));
  expect(quoted("x".repeat(201))).toBe(`\n<d>\n${"x".repeat(201)}\n</d>\n`);
});

test.each(["a\nb", "a\u2028b", "a\tb", "\u200b", "", "  ", "a\u202eb", "x".repeat(201)])(
  "a name from outside is refused with what to type: %j",
  (name) => {
    const naming = (): void => requireVisibleLine(name, "a label");
    expect(naming).toThrow(Refusal);
    expect(naming).toThrow(/^"[^\n]*" cannot be a label$/);
  },
);
