import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { cellsOf } from "../../terminal/terminal.ts";
import type { Key } from "../../terminal/keyboard.ts";
import { EMPTY_LINE, type EditedLine, editLine, layLine, editedLine } from "./line-editor.ts";

function typed(line: EditedLine, ...keys: Array<Key | string>): EditedLine {
  return keys.reduce<EditedLine>((now, key) => {
    const pressed: Key = typeof key === "string" ? { name: "character", text: key } : key;
    return editLine(now, pressed) ?? now;
  }, line);
}

const press = (name: Exclude<Key["name"], "character" | "paste">): Key => ({ name });

describe("a line", () => {
  test("takes characters where the cursor stands", () => {
    const line = typed(editedLine("Rdis"), press("home"), press("right"), "e");
    expect(line).toEqual({ text: "Redis", at: 2 });
  });

  test("loses whole characters, however they are put together", () => {
    expect(typed(editedLine("aé👨‍👩‍👧"), press("backspace")).text).toBe("aé");
    expect(typed(editedLine("ae\u0301"), press("backspace")).text).toBe("a");
    expect(typed(editedLine("界x"), press("home"), press("delete")).text).toBe("x");
  });

  test("moves and deletes by words", () => {
    const line = typed(editedLine("keep the client"), press("word-left"));
    expect(line.at).toBe(9);
    expect(typed(line, press("kill-word")).text).toBe("keep client");
    expect(typed(line, press("kill-start")).text).toBe("client");
    expect(typed(line, press("kill-end")).text).toBe("keep the ");
    expect(typed(line, press("home"), press("word-right")).at).toBe(4);
  });

  test("takes a paste with its line ends and tabs, and nothing that controls a terminal", () => {
    const line = typed(EMPTY_LINE, { name: "paste", text: "one\n\ttwo\x1b[31m\x07" });
    expect(line.text).toBe("one\n\ttwo[31m");
    expect(layLine(line, 20).rows).toEqual(["one", "    two[31m"]);
  });

  test("moves between its rows", () => {
    const line = typed(editedLine("first\nsecond\nx"), press("up"));
    expect(line.at).toBe("first\ns".length);
    expect(typed(line, press("up")).at).toBe(1);
    expect(typed(line, press("down"), press("down")).at).toBe("first\nsecond\nx".length);
    expect(typed(editedLine("\nx"), press("home"), press("up"), press("home")).at).toBe(0);
  });

  test("is laid out in cells, wide characters included, with the cursor behind the last one", () => {
    expect(layLine(editedLine("界界界"), 4)).toEqual({ rows: ["界界", "界"], row: 1, column: 2 });
    expect(layLine(editedLine("abcd"), 4)).toEqual({ rows: ["abcd", ""], row: 1, column: 0 });
    expect(layLine({ text: "abcdef", at: 4 }, 4)).toEqual({ rows: ["abcd", "ef"], row: 1, column: 0 });
    expect(layLine(EMPTY_LINE, 4)).toEqual({ rows: [""], row: 0, column: 0 });
  });

  test("never stands inside a character, and its rows never get too wide", () => {
    const names = [
      "left",
      "right",
      "up",
      "down",
      "home",
      "end",
      "backspace",
      "delete",
      "kill-word",
      "word-left",
    ] as const;
    const keys = fc.array(
      fc.oneof(
        fc.constantFrom("ü", "界", "👍", "e\u0301", "\n", "a ").map((text): Key => ({ name: "paste", text })),
        fc.constantFrom(...names).map((name): Key => ({ name })),
      ),
      { maxLength: 40 },
    );
    fc.assert(
      fc.property(keys, fc.integer({ min: 2, max: 9 }), (pressed, cells) => {
        const line = typed(EMPTY_LINE, ...pressed);
        const view = layLine(line, cells);
        const starts = [...new Intl.Segmenter().segment(line.text)].map(({ index }) => index);
        expect([...starts, line.text.length]).toContain(line.at);
        for (const row of view.rows) expect(cellsOf(row)).toBeLessThanOrEqual(cells);
        expect(view.row).toBeLessThan(view.rows.length);
      }),
    );
  });
});
