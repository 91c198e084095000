import { describe, expect, test } from "vitest";
import { flushKeys, parseKeys } from "../next/key.ts";

const named = (input: string): string[] =>
  parseKeys(input).keys.map((key) => ("text" in key ? `${key.name}:${key.text}` : key.name));

describe("keys", () => {
  test.each([
    ["a", ["character:a"]],
    ["ü界👍", ["character:ü", "character:界", "character:👍"]],
    ["\r\n\t", ["enter", "newline", "tab"]],
    ["\x7f\b", ["backspace", "backspace"]],
    ["\x03\x04\x1a", ["interrupt", "end-of-input", "suspend"]],
    ["\x1b[A\x1bOB\x1b[C\x1b[D", ["up", "down", "right", "left"]],
    ["\x1b[1;5C\x1bb", ["word-right", "word-left"]],
    ["\x1b[H\x1b[4~\x1b[3~\x1b[5~\x1b[6~\x1b[Z", ["home", "end", "delete", "page-up", "page-down", "back-tab"]],
    ["\x1b\r\x1b[13;2u", ["newline", "newline"]],
    ["\x1b[99;7~x", ["character:x"]],
    ["\x1b\x1b[A", ["escape", "up"]],
    ["\x00\x1c", []],
  ])("are read from %j", (input, keys) => {
    expect(named(input)).toEqual(keys);
  });

  test("come as one paste where the terminal marks it, with line ends as they are written", () => {
    expect(parseKeys("\x1b[200~one\r\ntwo\rthree\x1b[201~x").keys).toEqual([
      { name: "paste", text: "one\ntwo\nthree" },
      { name: "character", text: "x" },
    ]);
  });

  test.each(["\x1b", "\x1b[", "\x1b[1;", "\x1b[200~half of a paste", "\x1b[200~x\x1b[20"])(
    "that are not whole are left for the next bytes: %j",
    (input) => {
      expect(parseKeys(`a${input}`)).toEqual({ keys: [{ name: "character", text: "a" }], rest: input });
    },
  );

  test("are an escape if nothing follows", () => {
    expect(flushKeys("\x1b")).toEqual([{ name: "escape" }]);
    expect(flushKeys("\x1b[200~half")).toEqual([]);
    expect(flushKeys("")).toEqual([]);
  });
});
