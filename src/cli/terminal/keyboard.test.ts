import { once } from "node:events";
import { PassThrough } from "node:stream";
import { describe, expect, test } from "vitest";
import { typedKeys } from "../../../test/typed-keys.ts";
import { type Key, listenForKeys, readKey } from "./keyboard.ts";

const sayKey = (key: Key): string => ("text" in key ? `${key.name}:${key.text}` : key.name);

describe("keys", () => {
  test.each([
    ["a", ["character:a"]],
    ["A .9", ["character:A", "character: ", "character:.", "character:9"]],
    ["ü界👍", ["character:ü", "character:界", "character:👍"]],
    ["\r\n\t", ["enter", "newline", "tab"]],
    ["\x7f\b", ["backspace", "backspace"]],
    ["\x03\x04\x1a", ["interrupt", "end-of-input", "suspend"]],
    ["\x0c\x17\x15\x0b", ["redraw", "kill-word", "kill-start", "kill-end"]],
    ["\x01\x05\x02\x06\x0e\x10", ["home", "end", "left", "right", "down", "up"]],
    ["\x1b[A\x1bOB\x1b[C\x1b[D", ["up", "down", "right", "left"]],
    ["\x1b[1;5C\x1bb\x1b[1;3D\x1bf", ["word-right", "word-left", "word-left", "word-right"]],
    ["\x1b[H\x1b[4~\x1b[3~\x1b[5~\x1b[6~\x1b[Z", ["home", "end", "delete", "page-up", "page-down", "back-tab"]],
    ["\x1b\r\x1b[13;2u\x1b\x7f", ["newline", "newline", "kill-word"]],
    ["\x1b[27;2;13~\x1b[27;5;9~x", ["newline", "character:x"]],
    ["\x1b[99;7~x", ["character:x"]],
    ["\x1bxy", ["character:y"]],
    ["\x1b\x1b[A", ["escape", "up"]],
    ["\x00\x1c", []],
  ])("are read from %j", (input, keys) => {
    expect(typedKeys(input).map(sayKey)).toEqual(keys);
  });

  test("come as one paste where the terminal marks it, with line ends as they are written", () => {
    expect(typedKeys("\x1b[200~one\r\ntwo\rthree\x1b[201~x")).toEqual([
      { name: "paste", text: "one\ntwo\nthree" },
      { name: "character", text: "x" },
    ]);
  });

  test("of a paste are no keys, whatever is in it", () => {
    expect(typedKeys("\x1b[200~\x03ü\x1b[A\t👍\x1b[201~")).toEqual([{ name: "paste", text: "\x03ü\x1b[A\t👍" }]);
  });

  test.each([
    [["\x1b[1;", "5C"], ["word-right"]],
    [
      ["a\x1b", "[A"],
      ["character:a", "up"],
    ],
    [["\x1b[200~half", " of it\x1b[20", "1~"], ["paste:half of it"]],
    [["\x1b[200~never ended"], []],
  ])("may arrive in parts: %j", (reads, keys) => {
    expect(typedKeys(...reads).map(sayKey)).toEqual(keys);
  });

  test("may arrive with the bytes of one character in two parts", () => {
    const bytes = Buffer.from("界");
    expect(typedKeys(bytes.subarray(0, 1), bytes.subarray(1)).map(sayKey)).toEqual(["character:界"]);
  });

  test.each([
    ["\x1b", ["escape"]],
    ["\x1b\x1b", ["escape", "escape"]],
  ])("are an escape if nothing follows %j", async (input, expected) => {
    const keys: Key[] = [];
    const stream = new PassThrough();
    listenForKeys(stream, (key) => keys.push(key));
    stream.emit("data", Buffer.from(input));
    expect(keys).toEqual([]);
    await once(stream, "keypress");
    expect(keys.map(sayKey)).toEqual(expected);
  });

  test("can be read one by one, until the input ends", async () => {
    const input = new PassThrough();
    const first = readKey(input, new AbortController().signal);
    input.write("1");
    expect(await first).toEqual({ name: "character", text: "1" });
    const second = readKey(input, new AbortController().signal);
    input.write("\x03");
    expect(await second).toEqual({ name: "interrupt" });
    const last = readKey(input, new AbortController().signal);
    input.end();
    expect(await last).toBeUndefined();
  });
});
