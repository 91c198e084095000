import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { Scene } from "../../test/scene.ts";
import { type } from "../../test/typed.ts";
import { LOOKS } from "../../test/looking.ts";
import { COMMANDS, shownCommands } from "./command.ts";
import { parseFlags } from "./flags.ts";
import { GLOBAL_FLAGS } from "./global-flags.ts";

/** Forms of these commands that change something. */
const CHANGES: Readonly<Record<string, ReadonlyArray<readonly string[]>>> = {
  runs: [["runs", "cancel", "1"]],
  workflow: [["workflow", "run", "autofix"]],
  doctor: [
    ["doctor", "--fix"],
    ["doctor", "--send"],
  ],
  service: [["service", "start"]],
  user: [["user", "add", "lena"]],
  takeover: [["takeover", "1", "--exec"]],
  config: [
    ["config", "set", "questions.timeout", "12h"],
    ["config", "unset", "questions.timeout"],
    ["config", "edit"],
  ],
  token: [["token", "create"]],
  template: [["template", "remove", "tests"]],
  audit: [["audit", "--seal-to", "seals"]],
  migrate: [["migrate"]],
};

describe("the command line", () => {
  test("shows the status when nothing else is asked for", async () => {
    expect(await type(new Scene(), [])).toEqual({
      exit: 0,
      stdout: 'No runs yet. Try: askd run -- claude -p "…"\n',
      stderr: "",
    });
  });

  test("lists every command in its help, and each explains itself", async () => {
    const { stdout } = await type(new Scene(), ["--help"]);
    expect((await type(new Scene(), ["help", "help"])).stdout).toBe(stdout);
    const shown = shownCommands().map(([name]) => name);
    for (const name of Object.keys(COMMANDS)) {
      expect(stdout.includes(`\n  ${name} `)).toBe(shown.includes(name));
      const help = await type(new Scene(), ["help", name]);
      expect(help).toMatchObject({ exit: 0, stderr: "" });
      expect(help.stdout).toContain(`Usage: askd ${name}`);
      expect(await type(new Scene(), [name, "--help"])).toEqual(help);
    }
  });

  test("tells who mistypes what was probably meant", async () => {
    expect(await type(new Scene(), ["anwser", "1"])).toEqual({
      exit: 2,
      stdout: "",
      stderr: 'error: There is no command "anwser"\n  Did you mean: askd answer\n',
    });
    expect(await type(new Scene(), ["list", "--awating"])).toEqual({
      exit: 2,
      stdout: "",
      stderr: "error: There is no flag --awating\n  Did you mean --awaiting?\n",
    });
  });

  test("says in one line what went wrong unexpectedly, and where only when asked to", async () => {
    const over = { openEngine: () => Promise.reject(new Error("disk\x1b[2J on fire")) };
    const short = await type(new Scene(), ["status"], over);
    expect(short.exit).toBe(1);
    expect(short.stderr).toBe("error: disk\\x1b[2J on fire\n  For details set ASKD_DEBUG=1 and try again\n");
    const long = await type(new Scene(), ["status"], { ...over, env: { ASKD_DEBUG: "1" } });
    expect(long.stderr).toContain("main.test.ts");
  });

  test("refuses a store that it does not know", async () => {
    const { exit, stderr } = await type(new Scene(), ["status", "--store", "mysql://db"]);
    expect(exit).toBe(2);
    expect(stderr).toContain("error: The value of --store is not a store that askd knows\n  Write sqlite:<path>");
  });

  test("refuses with --read-only what does more than look, before anything is opened", async () => {
    const over = { openEngine: () => Promise.reject(new Error("opened")) };
    for (const [name, { load }] of Object.entries(COMMANDS)) {
      const { command } = await load();
      for (const argv of LOOKS[name] ?? []) {
        const args = parseFlags(argv.slice(1), { ...command.flags, ...GLOBAL_FLAGS });
        expect({ argv, isLooking: command.isLooking?.(args) }).toEqual({ argv, isLooking: true });
      }
      for (const argv of [...(LOOKS[name] ? [] : [[name]]), ...(CHANGES[name] ?? [])]) {
        expect({ argv, ...(await type(new Scene(), ["--read-only", ...argv], over)) }).toMatchObject({
          argv,
          exit: 1,
          stderr: expect.stringContaining("error: The store was opened to be read only; nothing was changed."),
        });
      }
    }
  });

  test("lists the fields of JSON output without opening anything", async () => {
    const over = { openEngine: () => Promise.reject(new Error("opened")) };
    expect(await type(new Scene(), ["check", "--json=?"], over)).toMatchObject({ exit: 0, stderr: "" });
  });
});

test("every command that people type is in the docs, with an example", () => {
  const page = readFileSync(new URL("../../docs/commands.md", import.meta.url), "utf8");
  const missing = shownCommands().filter(
    ([name]) => !new RegExp(`^\\| \`${name}\` +\\| \`askd ${name}`, "m").test(page),
  );
  expect(missing.map(([name]) => name)).toEqual([]);
});
