import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { escapeInvisible } from "../../core/text/foreign-text.ts";
import { oneLine, sanitise } from "./sanitise.ts";

// Written apart from the code under test: what must never reach a terminal.
// eslint-disable-next-line no-control-regex
const RAW_CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069\u200b\u200e\u200f\ufeff]/;
const LONE_SURROGATE = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/;

const hostile = fc.string({
  unit: fc.oneof(
    fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code)),
    fc.constantFrom("\x1b[31m", "\x1b]8;;http://x\x07", "\x1b]52;c;aGk=\x07", "\x1bP+q\x1b\\", "\x1b_x\x9c", "\x9b2J"),
    fc.constantFrom("\u202e", "\u2066", "\u200b", "\u200d", "👩‍💻", "\r", "\n", "\t", "a"),
  ),
});

describe("sanitise", () => {
  test("lets no control character through, whatever comes in", () => {
    fc.assert(
      fc.property(hostile, (text) => {
        const shown = sanitise(text);
        expect(shown).not.toMatch(RAW_CONTROL);
        expect(shown).not.toMatch(LONE_SURROGATE);
        expect(oneLine(text)).not.toMatch(/[\n\t]/);
      }),
    );
  });

  test("changes nothing that it has made safe before", () => {
    fc.assert(
      fc.property(hostile, (text) => {
        expect(sanitise(sanitise(text))).toBe(sanitise(text));
      }),
    );
  });

  test.each([
    ["a colour", "\x1b[31mred", "\\x1b[31mred"],
    ["a link", "\x1b]8;;http://evil\x07text\x1b]8;;\x07", "\\x1b]8;;http://evil\\x07text\\x1b]8;;\\x07"],
    ["the clipboard", "\x1b]52;c;aGk=\x1b\\", "\\x1b]52;c;aGk=\\x1b\\"],
    ["a one-byte control sequence", "\x9b2J", "\\x9b2J"],
    ["a bidi override", "abc\u202edef", "abc\\u202edef"],
    ["a zero-width space", "pay\u200bpal", "pay\\u200bpal"],
    ["hidden tags", "ok\u{e0041}", "ok\\u{e0041}"],
    ["a lone surrogate", "a\ud800b", "a\\ud800b"],
    ["a carriage return that would overwrite the line", "safe\rrm -rf", "safe\\x0drm -rf"],
  ])("makes %s visible", (_, text, shown) => expect(sanitise(text)).toBe(shown));

  test.each([
    ["plain text", "Use Redis, we'll need pub/sub later"],
    ["newlines and tabs", "a\n\tb"],
    ["other scripts", "שלום 日本語 عربى ελληνικά"],
    ["emoji of several pictures", "👩‍💻 👨‍👩‍👧 🏳️‍🌈 ❤️"],
    ["paths with backslashes", "C:\\x1b"],
  ])("leaves %s alone", (_, text) => expect(sanitise(text)).toBe(text));

  test("keeps lines that end the Windows way as lines", () => expect(sanitise("a\r\nb")).toBe("a\nb"));

  test("takes time in proportion to the length", () => {
    const line = "\x1b\u200d\u202e👩 x".repeat(150_000);
    const startedAt = performance.now();
    sanitise(line);
    expect(performance.now() - startedAt).toBeLessThan(5_000);
  });
});

describe("escapeUnseen", () => {
  test("gives text that is printable and means the same", () => {
    fc.assert(
      fc.property(hostile, (text) => {
        const json = escapeInvisible(JSON.stringify({ text }));
        expect(json).not.toMatch(RAW_CONTROL);
        expect(JSON.parse(json)).toEqual({ text });
      }),
    );
  });
});
