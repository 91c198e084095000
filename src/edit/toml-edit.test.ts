import { parse } from "smol-toml";
import { describe, expect, test } from "vitest";
import { type Table, isTable, leavesOf, writeKeyPath, valueAt } from "./table.ts";
import { setInToml, unsetInToml } from "./toml-edit.ts";

/** Texts as people write them; `set` and `unset` of every key in them must leave the rest alone. */
const CORPUS: Record<string, string> = {
  empty: "",
  "a mark only": "\ufeff",
  "comments only": "# mine\n\n# nothing yet\n",
  plain: '[questions]\nlive_window = "3m"            # then park\ntimeout     = "24h"\n',
  "no last newline": '[questions]\ntimeout = "24h"',
  windows: '\ufeff#:schema x\r\n[questions]\r\ntimeout = "24h" # a day\r\n\r\n[server]\r\nport = 1\r\n',
  inline: '[answers]\nundo_window = { web = "5s", slack = "5s",cli="0s" }   # by surface\n',
  "inline over lines": '[answers]\nundo_window = {\n  web = "5s", # five\n  cli = "0s",\n}\n',
  "empty inline": "[answers]\nundo_window = {}\n",
  dotted: 'questions.timeout = "1h"\nquestions.live_window = "1m"\nanswers.undo_window.cli = "1s"\n',
  "dotted below a header": '[answers]\nundo_window.cli = "1s"\nundo_window.web = "2s"\n\n[server]\nport = 1\n',
  quoted: '["questions"]\n"timeout" = "1h"\n\'live_window\' = "1m"\n[agents."my agent"]\nresume = ["x"]\n',
  lists:
    '[agents.x]\nargv = [\n  "x", # the program\n  "--a=]",\n  "#no comment",\n]\nresume = ["x", "{session}"]\n[redact]\npatterns = [\'\\d{4}\', "}"]\n',
  strings:
    '[channels.slack]\nchannel = """\n[not.a.table]\na = 1 # """\nmention = \'\'\'\n"x" = 2\'\'\'\nvisibility = "a \\" # b"\n',
  "other tables around": "[a]\nb = 1\n\n[questions.confidence]\nact = 0.8\nask = 0.5\n\n[z]\ny = 1979-05-27 07:32:00\n",
  "lists of tables": '[[fruit]]\nname = "a"\n[[fruit]]\nname = "b"\n\n[questions]\ntimeout = "1h"\n',
  "spaces and tabs": '\t[ questions ]\n\ttimeout\t=\t"1h"\t# x\n\n\n   [ server ]   # s\n port=0\n',
};

const cases = Object.entries(CORPUS).map(([name, text]) => ({ name, text }));

function read(text: string): Table {
  const table: unknown = parse(text);
  return isTable(table) ? table : {};
}

/** Everything but these bytes, which were taken out or put in at one place. */
function isOneChange(before: string, after: string): boolean {
  let start = 0;
  while (start < before.length && before[start] === after[start]) start += 1;
  let end = 0;
  while (end < Math.min(before.length, after.length) - start && before.at(-1 - end) === after.at(-1 - end)) end += 1;
  const taken = before.slice(start, before.length - end);
  const put = after.slice(start, after.length - end);
  return taken === "" || put === "" || (!taken.includes("\n") && !put.includes("\n"));
}

describe.each(cases)("a text with $name", ({ text }) => {
  test("keeps every other byte when a value in it is set", () => {
    for (const { path, value } of leavesOf(read(text))) {
      if (Array.isArray(value) && value.some(isTable)) continue;
      const edited = setInToml(text, path, '"new"');
      expect(valueAt(read(edited), path)).toBe("new");
      const wanted = text.length - edited.length;
      // The old value is gone, the new one is there, and both sides of it are as they were.
      const at = [...edited.matchAll(/"new"/g)].map(({ index }) => index);
      expect(
        at.some((index) => {
          const rest = edited.slice(index + 5);
          return (
            text.startsWith(edited.slice(0, index)) &&
            text.endsWith(rest) &&
            text.length - index - rest.length === wanted + 5
          );
        }),
      ).toBe(true);
    }
  });

  test("keeps every other byte when a value is taken out", () => {
    for (const { path, value } of leavesOf(read(text))) {
      if (Array.isArray(value) && value.some(isTable)) continue;
      const edited = unsetInToml(text, path);
      expect(valueAt(read(edited), path)).toBeUndefined();
      expect(edited.length).toBeLessThan(text.length);
      expect(subsequence(edited, text)).toBe(true);
      expect(leavesOf(read(edited)).map((leaf) => writeKeyPath(leaf.path))).toEqual(
        leavesOf(read(text))
          .map((leaf) => writeKeyPath(leaf.path))
          .filter((key) => key !== writeKeyPath(path)),
      );
    }
  });

  test.each([
    [["questions", "max_per_run"], "20"],
    [["answers", "undo_window", "api"], '"9s"'],
    [["server", "names"], '["a.example"]'],
    [["profile"], '"work"'],
    [["agents", "new one", "max_turns"], "3"],
    [["channels", "email", "smtp", "port"], "25"],
  ])("takes %j in by one insertion, which can be taken back", (path, written) => {
    const edited = setInToml(text, path, written);
    expect(JSON.stringify(valueAt(read(edited), path))).toBe(written);
    expect(subsequence(text, edited)).toBe(true);
    expect(isOneChange(text, edited)).toBe(true);
    if (text.includes("\r\n")) expect(edited.replaceAll("\r\n", "")).not.toContain("\n");
    const back = unsetInToml(edited, path);
    expect(leavesOf(read(back))).toEqual(leavesOf(read(text)));
  });
});

describe("the places of new keys", () => {
  test("are those that a person would choose", () => {
    const text = '#:schema x\n# mine\n\n[questions]\ntimeout = "1h" # x\n\n[server]\nport = 1\n';
    expect(setInToml(text, ["questions", "max_per_run"], "3")).toBe(
      '#:schema x\n# mine\n\n[questions]\ntimeout = "1h" # x\nmax_per_run = 3\n\n[server]\nport = 1\n',
    );
    expect(setInToml(text, ["profile"], '"w"')).toBe(
      '#:schema x\n# mine\nprofile = "w"\n\n[questions]\ntimeout = "1h" # x\n\n[server]\nport = 1\n',
    );
    expect(setInToml(text, ["alerts", "window"], '"1h"')).toBe(`${text}\n[alerts]\nwindow = "1h"\n`);
  });

  test("a key that is not there is taken out by changing nothing", () => {
    expect(unsetInToml(CORPUS["plain"] ?? "", ["server", "port"])).toBe(CORPUS["plain"]);
  });

  test("a list of tables, of which we write none, is left alone", () => {
    expect(() => setInToml("[[questions]]\na = 1\n", ["questions", "timeout"], '"1h"')).toThrow(
      /askd|questions.timeout/,
    );
  });
});

/** Says whether a text is left when some characters of another are taken out. */
function subsequence(short: string, long: string): boolean {
  let at = 0;
  for (const character of long) if (character === short[at]) at += 1;
  return at === short.length;
}
