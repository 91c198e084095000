import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { ConfigHome } from "../../test/config-home.ts";
import { keysIn, formatKey } from "./key.ts";
import { leavesOf } from "../edit/table.ts";
import { loadConfig } from "./load.ts";
import { refuseInProject } from "./check-file.ts";
import { DEFAULTS, Values } from "./schema.ts";

const page = readFileSync(new URL("../../docs/config.md", import.meta.url), "utf8");

/** The rows of the table of keys. */
const rows = [...page.matchAll(/^\| `([\w.<>]+)`( ●)? +\| (?:`(.*?)`)? +\|/gm)].map(([, key = "", mark, shown]) => ({
  key,
  isForProjects: mark !== undefined,
  shown,
}));

describe("the page about settings", () => {
  test("has every key of the schema, in its order, and no other", () => {
    expect(rows.map(({ key }) => key)).toEqual(keysIn(Values));
  });

  test("has the defaults", () => {
    const defaults = leavesOf(DEFAULTS).map(({ path, value }) => [formatKey(path), JSON.stringify(value)]);
    const shown = rows.filter((row) => row.shown !== undefined);
    expect(shown.map(({ key, shown: value }) => [key, value?.replaceAll(", ", ",")])).toEqual(defaults);
  });

  test("marks what a project may set", () => {
    for (const { key, isForProjects } of rows) {
      expect([key, refuseInProject(key.split("."), "") === undefined]).toEqual([key, isForProjects]);
    }
  });

  test("has a sample that is right", async () => {
    const home = new ConfigHome();
    home.write(home.userFile, /```toml\n([\s\S]*?)```/.exec(page)?.[1] ?? "");
    const { errors, warnings, values } = await loadConfig(home.around());
    expect([...errors, ...warnings]).toEqual([]);
    expect(Object.keys(values)).toContain("questions");
  });
});
