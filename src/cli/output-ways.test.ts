import { readFileSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { EXIT_CODE } from "../core/exit-code.ts";
import { Scene } from "../../test/scene.ts";
import { type } from "../../test/typed.ts";
import type { Child } from "./context.ts";
import { toPlainLines } from "./terminal/screen-reader.ts";
import { TOPICS } from "./help-topic.ts";
import { TOPIC_NAMES } from "./help.ts";
import { findPager } from "./terminal/pager.ts";
import type { ProcessWorld } from "./process.ts";

const SRC = dirname(dirname(fileURLToPath(import.meta.url)));
/** Names that are replaced when the program is built; no variables. */
const BUILT_IN: ReadonlySet<string> = new Set(["ASKD_VERSION", "ASKD_ASSETS"]);
const ASK = ["ask", "Redis or Memcached?", "-o", "redis:Redis", "-o", "memcached:Memcached"];

/** A terminal of that many rows with somebody before it. */
function terminal(rows: number, over: Partial<ProcessWorld> = {}) {
  const shown: string[] = [];
  const paged: Child[] = [];
  const line = { isTty: true, readAll: () => Promise.resolve(""), readLine: () => Promise.resolve(undefined) };
  const world: Partial<ProcessWorld> = {
    stdout: { write: (text) => void shown.push(text), isTty: true, columns: 80, rows },
    stderr: { write: (text) => void shown.push(text), isTty: true, columns: 80, rows },
    stdin: line,
    runChild: async (child) => {
      paged.push(child);
      return { exitCode: 0, stdout: "" };
    },
    env: { NO_COLOR: "1" },
    ...over,
  };
  return { world, paged, text: () => shown.join("") };
}

describe("--jq", () => {
  test("filters the JSON of a command, and wants no --json", async () => {
    const scene = new Scene();
    await type(scene, [...ASK, "--name", "one"]);
    await scene.pass(1);
    await type(scene, [...ASK, "--name", "two"]);
    const { stdout } = await type(scene, ["list", "--awaiting", "--jq", ".[] | .run_name"]);
    expect(stdout).toBe("one\ntwo\n");
    expect((await type(scene, ["show", "1", "--jq", "{name, status}"])).stdout).toBe(
      '{"name":"one","status":"awaiting_input"}\n',
    );
    expect((await type(scene, ["list", "--json=run_name", "--jq", "map(keys) | unique | .[0]"])).stdout).toBe(
      '["run_name"]\n',
    );
    expect((await type(scene, ["list", "--jq", "empty"])).stdout).toBe("");
  });

  test.each([".a[", 'error("no")', ".[].title.x"])("says that %s does not work", async (expression) => {
    const scene = new Scene();
    await type(scene, ASK);
    const { exit, stdout, stderr } = await type(scene, ["list", "--jq", expression]);
    expect({ exit, stdout }).toEqual({ exit: 2, stdout: "" });
    expect(stderr).toContain("error: The --jq expression failed: ");
  });

  test.each([["--json=nothing"], ["--jq", ".a["]])("asks nothing where %s cannot be shown", async (...wish) => {
    const scene = new Scene();
    expect(await type(scene, [...ASK, ...wish])).toMatchObject({ exit: 2, stdout: "" });
    expect((await type(scene, ["list", "--json"])).stdout).toBe("[]\n");
  });

  test("ends an expression that goes on for ever", async () => {
    const { exit, stderr } = await type(new Scene(), ["status", "--jq", "def f: f; f"]);
    expect(exit).toBe(2);
    expect(stderr).toContain("did not end within");
  }, 60_000);

  test("says so where a command has no JSON, and keeps other refusals", async () => {
    expect(await type(new Scene(), ["diff", "1", "--jq", "."])).toMatchObject({ exit: 2 });
    expect(await type(new Scene(), ["show", "99", "--jq", "."])).toMatchObject({ exit: 5, stdout: "" });
  });

  test("shows on a terminal nothing that it would obey", async () => {
    const scene = new Scene();
    await type(scene, ["ask", "Is \u202e this right?"]);
    const at = terminal(50);
    await type(scene, ["list", "--jq", ".[].title"], at.world);
    expect(at.text()).toBe("Is \\u202e this right?\n");
  });
});

describe("a pager", () => {
  test("shows what is longer than the screen, and is not used for less", async () => {
    const scene = new Scene();
    for (let n = 0; n < 8; n += 1) await type(scene, ASK);
    const small = terminal(5);
    expect((await type(scene, ["list"], small.world)).exit).toBe(0);
    expect(small.paged).toMatchObject([
      { argv: ["less", "-FRX"], input: expect.stringContaining("Redis or Memcached") },
    ]);
    expect(small.text()).toBe("");
    const large = terminal(500);
    await type(scene, ["list"], large.world);
    expect(large.paged).toEqual([]);
    expect(large.text()).toContain("Redis or Memcached");
  });

  test("that is not there leaves the page on the terminal", async () => {
    const scene = new Scene();
    for (let n = 0; n < 8; n += 1) await type(scene, ASK);
    const at = terminal(5, { runChild: () => Promise.reject(new Error("ENOENT")) });
    await type(scene, ["list"], at.world);
    expect(at.text()).toContain("Redis or Memcached");
  });

  test("is not used for JSON, for what follows, or where nobody may be asked", async () => {
    const scene = new Scene();
    for (let n = 0; n < 8; n += 1) await type(scene, ASK);
    for (const argv of [
      ["list", "--json"],
      ["list", "--no-input"],
    ]) {
      const at = terminal(2);
      await type(scene, argv, at.world);
      expect(at.paged).toEqual([]);
      expect(at.text()).toContain("Redis or Memcached");
    }
  });

  test("is used for help", async () => {
    const at = terminal(5);
    await type(new Scene(), ["--help"], at.world);
    expect(at.paged).toHaveLength(1);
  });

  test.each([
    [{}, ["less", "-FRX"]],
    [{ PAGER: "more" }, ["more"]],
    [{ PAGER: "more", ASKD_PAGER: "bat --plain" }, ["bat", "--plain"]],
    [{ ASKD_PAGER: "cat" }, undefined],
    [{ ASKD_PAGER: "" }, undefined],
    [{ PAGER: "less; rm -rf /" }, ["less;", "rm", "-rf", "/"]],
  ])("is chosen by %j", (env, argv) => {
    expect(findPager(env)).toEqual(argv);
  });
});

describe("flat text", () => {
  test("has words for icons and no lines", async () => {
    expect(toPlainLines("tm-1 [open] Design\n├── tm-2 [x] ❓ Auth\n│   └── Question: JWT?\n└── tm-3 ✓\n")).toBe(
      "tm-1 [open] Design\n  tm-2 [x] Question: Auth\n  Question: JWT?\n  tm-3 done\n",
    );
    const scene = new Scene();
    await type(scene, ASK);
    const { stdout } = await type(scene, ["answer", "1", "1", "--ax-screen-reader"]);
    expect(stdout).toMatch(/^Done: Answer recorded for #1/);
  });

  test("comes by a variable on a terminal, never into a pipe", async () => {
    const scene = new Scene();
    for (const name of ["a", "b"]) await type(scene, [...ASK, "--name", name]);
    const env = { ASKD_ACCESSIBLE: "1", FORCE_COLOR: "1" };
    const at = terminal(50, { env });
    await type(scene, ["answer", "a", "1"], at.world);
    expect(at.text()).toMatch(/^Done: Answer recorded/);
    expect((await type(scene, ["answer", "b", "1"], { env })).stdout).toMatch(/^✓ Answer recorded/);
  });
});

describe("help", () => {
  test("has a page for every topic, and tells who mistypes one", async () => {
    expect(Object.keys(TOPICS).sort()).toEqual([...TOPIC_NAMES].sort());
    for (const name of TOPIC_NAMES) {
      const { exit, stdout } = await type(new Scene(), ["help", name]);
      expect(exit).toBe(0);
      expect(stdout.length).toBeGreaterThan(100);
      expect(Math.max(...stdout.split("\n").map((line) => line.length))).toBeLessThanOrEqual(
        name === "agents" ? 400 : 120,
      );
    }
    expect(await type(new Scene(), ["help", "timeout"])).toMatchObject({
      exit: 2,
      stderr: expect.stringContaining("Did you mean: askd help timeouts"),
    });
  });

  test("explains every exit code, in the same words as the docs", () => {
    const explained = [...TOPICS["exit-codes"]!.text.matchAll(/^(\d+) +(.+)$/gm)].map(([, code, about]) => [
      code,
      about,
    ]);
    expect(explained.map(([code]) => Number(code))).toEqual(Object.values(EXIT_CODE));
    const docs = readFileSync(join(SRC, "..", "docs", "commands.md"), "utf8");
    const documented = [...docs.matchAll(/^\| (\d+) +\| (.+?) +\|$/gm)].map(([, code, about]) => [code, about]);
    expect(documented).toEqual(explained);
  });

  test("names every variable of askd that the program reads, and no other", () => {
    const files = readdirSync(SRC, { recursive: true, encoding: "utf8" }).filter(
      (name) => name.endsWith(".ts") && !/\.(test|child|suite)\.ts$|help-topic/.test(name),
    );
    const read = new Set(
      files.flatMap((name) =>
        [...readFileSync(join(SRC, name), "utf8").matchAll(/["[ ](ASKD_[A-Z_]+)["\]:,]/g)].map(
          ([, variable]) => variable,
        ),
      ),
    );
    const named = new Set(TOPICS["environment"]!.text.match(/ASKD_[A-Z_]+/g));
    expect([...named].filter((name) => !read.has(name))).toEqual([]);
    expect([...read].filter((name) => !named.has(name!) && !BUILT_IN.has(name!))).toEqual([]);
  });
});
