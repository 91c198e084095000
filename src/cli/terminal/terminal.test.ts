import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { cellsOf, cutCells, mayUseColour, padCells, styleFor, textWidth, wrap } from "./terminal.ts";

describe("colour", () => {
  test.each([
    ["on a terminal", true, {}, true],
    ["in a pipe", false, {}, false],
    ["with NO_COLOR", true, { NO_COLOR: "1" }, false],
    ["with an empty NO_COLOR", true, { NO_COLOR: "" }, true],
    ["with CLICOLOR=0", true, { CLICOLOR: "0" }, false],
    ["on a dumb terminal", true, { TERM: "dumb" }, false],
    ["in a pipe with FORCE_COLOR", false, { FORCE_COLOR: "1" }, true],
    ["with FORCE_COLOR=0", true, { FORCE_COLOR: "0" }, false],
    ["with FORCE_COLOR and NO_COLOR", false, { FORCE_COLOR: "1", NO_COLOR: "1" }, true],
  ])("%s (terminal: %s, %o) is %s", (_, isTty, env, used) => expect(mayUseColour(isTty, env)).toBe(used));

  test("off leaves text as it is", () => {
    expect(styleFor("off").red("x")).toBe("x");
    expect(styleFor("on").red("x")).toBe("\x1b[31mx\x1b[39m");
    expect(styleFor("on").red("")).toBe("");
  });
});

describe("width", () => {
  test("counts wide characters twice and marks not at all", () => {
    expect(cellsOf("abc")).toBe(3);
    expect(cellsOf("日本")).toBe(4);
    expect(cellsOf("e\u0301")).toBe(1);
    expect(padCells("日", 4)).toBe("日  ");
    expect(cutCells("abcdef", 4)).toBe("abc…");
    expect(cutCells("abcd", 4)).toBe("abcd");
  });

  test("stays within reason", () => {
    expect([textWidth(undefined), textWidth(10), textWidth(80), textWidth(400)]).toEqual([100, 40, 80, 100]);
  });
});

describe("wrap", () => {
  test("breaks between words and keeps line ends", () => {
    expect(wrap("one two three\nfour", 8)).toEqual(["one two", "three", "four"]);
    expect(wrap("", 8)).toEqual([""]);
    expect(wrap("abcdefghij", 4)).toEqual(["abcd", "efgh", "ij"]);
  });

  test("makes no line wider than asked for and loses no word", () => {
    const words = fc.array(fc.stringMatching(/^[a-z日é]{1,20}$/), { maxLength: 30 });
    fc.assert(
      fc.property(words, fc.integer({ min: 4, max: 30 }), (list, cells) => {
        const lines = wrap(list.join(" "), cells);
        for (const line of lines) expect(cellsOf(line)).toBeLessThanOrEqual(cells);
        expect(lines.join("").replaceAll(" ", "")).toBe(list.join(""));
      }),
    );
  });

  test("takes time in proportion to the length", () => {
    const startedAt = performance.now();
    wrap("x".repeat(1_000_000), 80);
    wrap("日 ".repeat(500_000), 80);
    expect(performance.now() - startedAt).toBeLessThan(5_000);
  });
});
