import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { BuiltScene } from "../../test/built.ts";
import { until } from "../../test/run-dir.ts";
import { Terminal } from "../../test/tmux.ts";

const BIN = join(import.meta.dirname, "../../bin/askd");
const CACHE = ["ask", "Redis or Memcached?", "-o", "redis:Redis", "-o", "memcached:Memcached", "--recommend", "redis"];
const RULES = ["ask", "Which rules?", "-o", "TTL", "-o", "LRU", "-o", "LFU", "--multiple"];
const NAME = ["ask", "What is it called?"];

/** A home with these questions, and a terminal in it. */
class NextStage {
  readonly built = new BuiltScene();
  readonly terminal: Terminal;

  constructor(size: { columns?: number; rows?: number; env?: Record<string, string> } = {}) {
    const env = { HOME: this.built.home, ASKD_HOME: this.built.home, ASKD_NO_SERVICE: "1", ...size.env };
    this.built.program("askd", `#!/bin/sh\nexec '${process.execPath}' '${BIN}' "$@"\n`);
    this.terminal = new Terminal({ ...size, cwd: this.built.project, env });
  }

  async ask(...asks: string[][]): Promise<this> {
    for (const ask of asks) {
      const { exit, stderr } = await this.built.typeWith({ ASKD_NO_SERVICE: "1" }, ...ask);
      if (exit !== 0) throw new Error(stderr);
    }
    return this;
  }

  async answers(): Promise<unknown> {
    const { stdout } = await this.built.typeWith({ ASKD_NO_SERVICE: "1" }, "list", "--json=title,status,answers,note");
    const listed: unknown[] = JSON.parse(stdout.toString("utf8"));
    return listed.toReversed();
  }
}

test.each([
  ["an answer", CACHE, "./askd answer 1", "Your answer:"],
  ["a confirmation", [...CACHE, "--risk", "high"], "./askd answer 1 1", "to confirm:"],
  ["an answer that is followed", CACHE, "./askd answer 1 --wait", "Your answer:"],
  ["the plain form of next", CACHE, "ASKD_ACCESSIBLE=1 ./askd next", "Your answer"],
  ["init", CACHE, "./askd init --client claude --scope project", "Go ahead?"],
] as const)("Ctrl-C at the prompt of %s exits with 130 and answers nothing", async (_, ask, command, prompt) => {
  const stage = await new NextStage().ask([...ask]);
  const { terminal } = stage;
  terminal.enter(`${command}; echo "exit was $?"`);
  await terminal.shows(prompt);
  terminal.press("C-c");
  await terminal.shows("exit was 130");
  expect(await stage.answers()).toMatchObject([{ status: "pending" }]);
});

describe("askd next on a terminal", () => {
  test("takes three answers by keys: a choice, several, and words with umlauts and a paste of two lines", async () => {
    const stage = await new NextStage().ask(CACHE, RULES, NAME);
    const { terminal } = stage;
    terminal.enter("./askd next --undo-window 0s");
    expect(await terminal.shows("› 1 Redis  recommended")).toMatch(
      /^1 of 3 {3}#1 redis-or-memcached\nRedis or Memcached\?\n/,
    );
    terminal.press("Down");
    await terminal.shows("› 2 Memcached");
    terminal.press("Enter");
    await terminal.shows(/2 of 3[\s\S]*Answered: Memcached/);
    terminal.press("Space", "3");
    await terminal.shows(/\[x\] 1 TTL\n {2}\[ \] 2 LRU\n› \[x\] 3 LFU/);
    terminal.press("Enter");
    await terminal.shows("3 of 3");
    terminal.press("Enter");
    await terminal.shows("Esc back");
    terminal.write("Größé 界");
    await terminal.shows("› Größé 界");
    terminal.press("C-u");
    terminal.paste("äußerst\nzweite Zeile");
    await terminal.shows("› äußerst\n  zweite Zeile");
    terminal.press("Enter");
    await terminal.shows(/✓ Answer recorded[\s\S]*Nothing is waiting for you\.\n\$/);
    expect(await stage.answers()).toMatchObject([
      { status: "answered", answers: { 1: { values: ["memcached"] } } },
      { status: "answered", answers: { 1: { values: ["TTL", "LFU"] } } },
      { status: "answered", answers: { 1: { text: "äußerst\nzweite Zeile" } } },
    ]);
  });

  test("draws itself anew when the terminal changes its size", async () => {
    const stage = await new NextStage({ columns: 100, rows: 30 }).ask([...CACHE, "--context", "word ".repeat(200)]);
    const { terminal } = stage;
    terminal.enter("./askd next");
    await terminal.shows("? keys");
    terminal.resize(30, 12);
    const small = await terminal.shows(/^(?!.*o browser)[\s\S]*› 1 Redis[\s\S]*\? keys$/);
    expect(small.split("\n").length).toBeLessThanOrEqual(12);
    for (const line of small.split("\n")) expect(line.length).toBeLessThanOrEqual(30);
    terminal.resize(120, 40);
    await terminal.shows("y you decide  h snooze  s skip  o browser  ? keys");
    terminal.press("q");
    await terminal.shows("1 question is waiting for you. Continue with: askd next\n$");
  });

  test("leaves at once with Ctrl-C and by a signal, and the terminal is as it was", async () => {
    const stage = await new NextStage().ask(CACHE);
    const { terminal } = stage;
    terminal.enter("stty -g >before; ./askd next; echo ended $?; stty -g | diff - before && echo same");
    await terminal.shows("› 1 Redis");
    expect(terminal.cursor().isShown).toBe(false);
    terminal.press("r");
    terminal.write("half");
    await terminal.shows("› half");
    terminal.press("C-c");
    await terminal.shows(/ended 130\nsame\n\$/);
    expect(terminal.cursor().isShown).toBe(true);
    terminal.enter("clear; echo $$ >shell; ./askd next; echo ended $?; stty -g | diff - before && echo same");
    await terminal.shows("› 1 Redis");
    const shell = execFileSync("cat", [join(stage.built.project, "shell")], { encoding: "utf8" }).trim();
    const child = execFileSync("ps", ["-o", "pid=", "--ppid", shell], { encoding: "utf8" }).trim();
    process.kill(Number(child), "SIGTERM");
    await terminal.shows(/ended 143\nsame\n\$/);
    expect(await stage.answers()).toMatchObject([{ status: "pending" }]);
  });

  test("can be put aside with Ctrl-Z and taken up again", async () => {
    const stage = await new NextStage().ask(CACHE);
    const { terminal } = stage;
    terminal.enter("set -m; ./askd next");
    await terminal.shows("› 1 Redis");
    terminal.press("2", "C-z");
    await terminal.shows(/Stopped[\s\S]*\$$/);
    terminal.enter("clear; fg");
    expect(await terminal.shows("› 2 Memcached")).toMatch(/^1 of 1/);
    terminal.press("q");
    await terminal.shows("1 question is waiting for you");
  });

  test("says who was first while somebody types, keeps the words and sends them as a comment", async () => {
    const stage = await new NextStage().ask(CACHE, NAME);
    const { terminal, built } = stage;
    terminal.enter("./askd next");
    await terminal.shows("› 1 Redis");
    terminal.press("r");
    terminal.write("I would rather wait");
    await terminal.shows("› I would rather wait");
    await built.typeWith({ ASKD_NO_SERVICE: "1" }, "answer", "1", "Memcached");
    await terminal.shows(/answered "Memcached" while you were looking\.\nYour text is kept:\nI would rather wait/);
    terminal.press("n");
    await terminal.shows("Sent as a comment");
    terminal.press("Enter");
    await terminal.shows("What is it called?");
    await built.typeWith({ ASKD_NO_SERVICE: "1" }, ...RULES);
    await terminal.shows("2 of 3");
    terminal.press("q");
    await terminal.shows("2 questions are waiting for you");
    const { stdout } = await built.typeWith({ ASKD_NO_SERVICE: "1" }, "list", "--json=title,comments");
    expect(stdout.toString("utf8")).toContain("I would rather wait");
  });

  test("answers what three runs ask once for all of them, and wants a word at high risk", async () => {
    const stage = await new NextStage().ask(CACHE, CACHE, CACHE, [
      ...NAME,
      "--risk",
      "high",
      "--name",
      "drop-it",
      "--timeout",
      "1h",
    ]);
    const { terminal } = stage;
    terminal.enter("./askd respond --all --undo-window 0s");
    await terminal.shows("⚠ What is it called?");
    terminal.press("Enter");
    terminal.write("users_v2");
    terminal.press("Enter");
    await terminal.shows("Type drop-it to confirm:");
    terminal.write("drop-it");
    terminal.press("Enter");
    await terminal.shows("3 runs ask this.");
    terminal.press("Enter");
    await terminal.shows("3 runs ask this. Answer all of them? [y/N]");
    terminal.press("y");
    await terminal.shows(/Nothing is waiting for you\.\n\$/);
    expect(await stage.answers()).toMatchObject([
      ...Array.from({ length: 3 }, () => ({ status: "answered", answers: { 1: { values: ["redis"] } } })),
      { status: "answered", answers: { 1: { text: "users_v2" } } },
    ]);
  });

  test("lets the editor and the pager have the terminal, and takes it back", async () => {
    const stage = new NextStage({ env: { EDITOR: "./editor", ASKD_PAGER: "./pager" } });
    stage.built.program(
      "editor",
      '#!/bin/sh\nstty -a | grep -q " icanon" && touch cooked\necho "from the editor" >>"$1"\n',
    );
    stage.built.program("pager", '#!/bin/sh\ncp "$1" paged; printf "the pager "; read line\n');
    const { terminal, built } = await stage.ask([...CACHE, "--context", "why it matters"]);
    terminal.enter("./askd next --undo-window 0s");
    await terminal.shows("› 1 Redis");
    terminal.press("v");
    await terminal.shows("the pager");
    terminal.press("Enter");
    await terminal.shows(/^1 of 1/);
    terminal.press("e");
    await terminal.shows("› from the editor");
    terminal.press("Enter");
    await terminal.shows(/Nothing is waiting for you\.\n\$/);
    expect(existsSync(join(built.project, "cooked"))).toBe(true);
    await until("the page was shown", () => existsSync(join(built.project, "paged")));
    expect(await stage.answers()).toMatchObject([{ answers: { 1: { text: "from the editor" } } }]);
  });

  test("is plain lines and prompts for a screen reader", async () => {
    const stage = await new NextStage({ env: { ASKD_ACCESSIBLE: "1" } }).ask(CACHE, RULES, NAME);
    const { terminal } = stage;
    terminal.enter("./askd next --undo-window 0s");
    await terminal.shows(
      /Option 1: Redis, recommended\nOption 2: Memcached\n[\s\S]*Your answer \(1 to 2; your own words; \? for more\):$/m,
    );
    terminal.enter(":n keep it small");
    await terminal.shows(/Note: keep it small[\s\S]*Your answer.*:$/);
    terminal.enter("2");
    await terminal.shows(/Answered: Memcached[\s\S]*Which rules\?[\s\S]*several with commas.*:$/);
    terminal.enter("1,3");
    await terminal.shows(/What is it called\?[\s\S]*Your answer.*:$/);
    terminal.enter(":s");
    await terminal.shows("1 question is waiting for you. Continue with: askd next\n$");
    expect(await stage.answers()).toMatchObject([
      { answers: { 1: { values: ["memcached"] } }, note: "keep it small" },
      { answers: { 1: { values: ["TTL", "LFU"] } } },
      { status: "pending" },
    ]);
  });

  test("takes the last answer back, and sends it when somebody leaves before", async () => {
    const stage = await new NextStage({ env: { ASKD_NO_SERVICE: "" } }).ask(CACHE);
    const { terminal, built } = stage;
    terminal.enter("./askd next --undo-window 1h");
    await terminal.shows("› 1 Redis");
    terminal.press("2", "Enter");
    await terminal.shows("Answered: Memcached. u undoes it");
    terminal.press("u");
    await terminal.shows(/› 2 Memcached[\s\S]*Undone/);
    terminal.press("1", "Enter");
    await terminal.shows("Answered: Redis. u undoes it");
    expect(built.workers()).toEqual([]);
    terminal.press("q");
    await terminal.shows(/Take it back before: askd undo[\s\S]*\$$/);
    await until("somebody sees to it", () => built.workers().length > 0);
  });

  test("stays and rings when it is told to, and shows what comes", async () => {
    const stage = new NextStage();
    const { terminal } = stage;
    terminal.enter("./askd next --follow");
    await terminal.shows("Waiting for questions.");
    await stage.ask(CACHE);
    expect(await terminal.shows("› 1 Redis")).toMatch(/^1 of 1/);
    terminal.press("C-c");
    await terminal.shows("1 question is waiting for you");
  });
});
