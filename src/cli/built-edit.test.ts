import { existsSync, readFileSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { BuiltScene } from "../../test/built.ts";
import { until } from "../../test/run-dir.ts";

const ASK = [
  "ask",
  "Redis or Memcached?",
  "-o",
  "redis:Redis",
  "-o",
  "memcached:Memcached",
  "--context",
  "Both are there.",
];
const OFF = { ASKD_NO_SERVICE: "1" };

async function scene(...asks: string[][]): Promise<BuiltScene> {
  const built = new BuiltScene();
  for (const ask of asks.length > 0 ? asks : [ASK]) {
    const { exit, stderr } = await built.type(...ask);
    if (exit !== 0) throw new Error(stderr);
  }
  return built;
}

/** A person's editor: a shell script that is given the file. */
function editor(built: BuiltScene, script: string): Record<string, string> {
  return { ...OFF, EDITOR: `${built.program("editor", `#!/bin/sh\nset -e\n${script}\n`)} --wait` };
}

function drafts(built: BuiltScene): string[] {
  const dir = join(built.home, "state", "drafts");
  return existsSync(dir) ? readdirSync(dir) : [];
}

async function answersOf(built: BuiltScene): Promise<unknown> {
  const { stdout } = await built.type("list", "--json=run_number,status,answer,note");
  const listed: Array<{ run_number: number }> = JSON.parse(stdout.toString("utf8"));
  return listed.toSorted((one, other) => one.run_number - other.run_number);
}

describe("respond --edit", () => {
  test("opens the question with its context, and what stands below the line is the answer, word for word", async () => {
    const built = await scene();
    const env = editor(
      built,
      `shift; cp "$1" seen; ls -l "$1" | cut -c1-10 >mode; printf '# Größe\\n\\n  beide\\n' >>"$1"`,
    );
    const { exit, stdout } = await built.typeWith(env, "respond", "1", "--edit");
    expect({ exit, stdout: stdout.toString("utf8") }).toMatchObject({ exit: 0 });
    expect(readFileSync(join(built.project, "seen"), "utf8")).toBe(
      `# Response to: redis-or-memcached

## Question
Redis or Memcached?
1 Redis  2 Memcached  3 Other

## Context
Both are there.

## Your Response (write below this line)

`,
    );
    expect(readFileSync(join(built.project, "mode"), "utf8")).toBe("-rw-------\n");
    expect(await answersOf(built)).toEqual([
      { run_number: 1, status: "answered", answer: "# Größe\n\n  beide", note: null },
    ]);
    expect(drafts(built)).toEqual([]);
  });

  test("chooses an option by its first line, and passes the rest on as a note", async () => {
    const built = await scene();
    await built.typeWith(
      editor(built, `shift; printf '2\\nit is simpler\\nand faster\\n' >>"$1"`),
      "respond",
      "1",
      "-e",
    );
    expect(await answersOf(built)).toMatchObject([{ answer: "memcached", note: "it is simpler\nand faster" }]);
  });

  test("records nothing when nothing was written", async () => {
    const built = await scene();
    const { exit, stderr } = await built.typeWith(editor(built, "true"), "respond", "1", "--edit");
    expect({ exit, stderr }).toEqual({
      exit: 2,
      stderr: "error: Response cannot be empty\n  You wrote nothing, so nothing was recorded\n",
    });
    expect(await answersOf(built)).toMatchObject([{ status: "pending" }]);
    expect(drafts(built)).toEqual([]);
  });

  test("records only what is new when the line was removed", async () => {
    const built = await scene();
    const env = editor(built, `shift; grep -v 'Your Response' "$1" >copy; cat copy >"$1"; echo 'Use both' >>"$1"`);
    await built.typeWith(env, "respond", "1", "--edit");
    expect(await answersOf(built)).toMatchObject([{ answer: "Use both" }]);
  });

  test("takes no part of the editor's name for a shell's", async () => {
    const built = await scene();
    const ran = join(built.project, "ran");
    const { exit, stderr } = await built.typeWith(
      { ...OFF, EDITOR: `/nowhere/ed; touch ${ran}` },
      "respond",
      "1",
      "-e",
    );
    expect({ exit, stderr }).toMatchObject({ exit: 2 });
    expect(existsSync(ran)).toBe(false);
  });

  test("keeps what was saved when the editor is killed, and opens with it the next time", async () => {
    const built = await scene();
    const first = await built.typeWith(
      editor(built, `shift; echo 'half a thought' >>"$1"; kill -9 $$`),
      "respond",
      "1",
      "-e",
    );
    expect(first.exit).toBe(2);
    expect(first.stderr).toContain("Your saved text is kept. Continue: askd answer 1 --edit");
    const second = await built.typeWith(editor(built, `shift; echo 'and the rest' >>"$1"`), "respond", "1", "-e");
    expect(second.stderr).toBe("Your earlier draft is still there.\n");
    expect(await answersOf(built)).toMatchObject([{ answer: "half a thought\nand the rest" }]);
    expect(drafts(built)).toEqual([]);
  });

  test("keeps what was saved when askd itself is killed while the editor is open", async () => {
    const built = await scene();
    const env = editor(
      built,
      `shift; echo 'before the fall' >>"$1"; echo $PPID >parent; until [ -e go ]; do sleep 0.02; done`,
    );
    const killed = built.typeWith(env, "respond", "1", "--edit");
    const parent = await until(
      "the editor is open",
      () => existsSync(join(built.project, "parent")) && readFileSync(join(built.project, "parent"), "utf8"),
    );
    process.kill(Number(parent), "SIGKILL");
    writeFileSync(join(built.project, "go"), "");
    expect((await killed).exit).toBe(null);
    expect(await answersOf(built)).toMatchObject([{ status: "pending" }]);
    const file = join(built.home, "state", "drafts", drafts(built)[0] ?? "");
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const unchanged = await built.typeWith(editor(built, "true"), "respond", "1", "--edit");
    expect(unchanged).toMatchObject({ exit: 2, stderr: expect.stringContaining("was not changed") });
    expect(await answersOf(built)).toMatchObject([{ status: "pending" }]);
    const changed = editor(built, `shift; sed -i 's/before the fall/before and after/' "$1"`);
    expect((await built.typeWith(changed, "respond", "1", "--edit")).exit).toBe(0);
    expect(await answersOf(built)).toMatchObject([{ answer: "before and after" }]);
  });

  test.each([
    ["of one question", ["answer", "1", "--edit"]],
    ["of all questions", ["answer", "--all", "--edit"]],
  ])("keeps no text of an agent as a person's draft %s", async (_, words) => {
    const built = await scene(["ask", "Drop it?", "--kind", "approval", "--risk", "high"]);
    const fill = `shift; sed -i 's/^answer:.*/answer: 1/; s/^confirm:.*/confirm: drop-it/' "$1"; echo 1 >>"$1"`;
    const [{ run_id: run }] = JSON.parse((await built.type("list", "--json=run_id")).stdout.toString("utf8"));
    const asAgent = await built.typeWith({ ...editor(built, fill), ASKD_RUN: String(run) }, ...words);
    expect(asAgent.exit).toBe(7);
    expect(drafts(built)).toEqual([]);
  });

  test("sends no answer of a draft that was left as it is, and no confirmation out of one", async () => {
    const built = await scene(["ask", "Drop it?", "--kind", "approval", "--risk", "high"]);
    const fill = `shift; sed -i 's/^answer:.*/answer: 1/; s/^confirm:.*/confirm: wrong/' "$1"`;
    expect((await built.typeWith(editor(built, fill), "answer", "--all", "--edit")).exit).not.toBe(0);
    expect(drafts(built)).toHaveLength(1);
    const seen = editor(built, `shift; cp "$1" seen`);
    const { stderr } = await built.typeWith(seen, "answer", "--all", "--edit");
    expect(stderr).toContain("are not sent");
    expect(readFileSync(join(built.project, "seen"), "utf8")).toMatch(/^confirm:\s*$/m);
    expect(await answersOf(built)).toMatchObject([{ status: "pending" }]);
  });

  test("tells who was first meanwhile, and where the lost words are", async () => {
    const built = await scene();
    const other = `${process.execPath} ${join(import.meta.dirname, "../../bin/askd")} answer 1 Redis >/dev/null`;
    const lost = await built.typeWith(
      editor(built, `shift; ${other}; echo 'too late' >>"$1"`),
      "respond",
      "1",
      "--edit",
    );
    expect(lost.exit).toBe(6);
    expect(lost.stderr).toContain("already answered by");
    const file = /Your text is kept in (.+)/.exec(lost.stderr)?.[1] ?? "";
    expect(readFileSync(file, "utf8")).toContain("too late");
    const again = await built.typeWith(editor(built, "touch opened"), "respond", "1", "--edit");
    expect(again.exit).toBe(6);
    expect(existsSync(join(built.project, "opened"))).toBe(false);
  });
});

describe("respond --all --edit", () => {
  const NAME = ["ask", "What is it called?"];
  const ONLY = ["ask", "Which region?", "-o", "eu", "-o", "us", "--only-options"];

  test("takes what fits, and opens again with what does not and why", async () => {
    const built = await scene(ASK, NAME, ONLY);
    const script = `shift
n=$(cat count 2>/dev/null || echo 0); echo $((n + 1)) >count; cp "$1" "seen$n"
if [ $n = 0 ]; then
  awk '/^answer:/ { k++; print "answer: " (k == 1 ? "Redis\\nnote: keep it small" : k == 2 ? "Häuschen\\nund Garten" : "moon"); next } { print }' "$1" >copy
else
  sed 's/^answer: moon/answer: 2/' "$1" >copy
fi
cat copy >"$1"`;
    const { exit, stdout, stderr } = await built.typeWith(editor(built, script), "respond", "--all", "--edit");
    expect({ exit, stderr }).toEqual({ exit: 0, stderr: "3 answered, 0 skipped\n" });
    expect(stdout.toString("utf8").match(/✓ Answer recorded/g)).toHaveLength(3);
    const seen = readFileSync(join(built.project, "seen1"), "utf8");
    expect(seen).toContain("# 1 question is waiting.");
    expect(seen).toContain('# error: "moon" is not one of the options. Choose one of: 1 eu, 2 us\nanswer: moon\n');
    expect(await answersOf(built)).toEqual([
      { run_number: 1, status: "answered", answer: "redis", note: "keep it small" },
      { run_number: 2, status: "answered", answer: "Häuschen\nund Garten", note: null },
      { run_number: 3, status: "answered", answer: "us", note: null },
    ]);
    expect(drafts(built)).toEqual([]);
  });

  test("is left by closing the file as it was opened, and what was written comes back the next time", async () => {
    const built = await scene(ONLY, NAME);
    const moon = editor(built, `shift; sed 's/^answer:$/answer: moon/' "$1" >copy; cat copy >"$1"`);
    const { exit, stderr } = await built.typeWith(moon, "respond", "--all", "--edit");
    expect(exit).toBe(2);
    expect(stderr).toMatch(/^1 answered, 0 skipped, 1 refused; your text is kept in .*all\.md\n$/);
    const again = await built.typeWith(
      editor(built, `shift; sed 's/moon/eu/' "$1" >copy; cat copy >"$1"`),
      "respond",
      "--all",
      "--edit",
    );
    expect(again.exit).toBe(0);
    expect(await answersOf(built)).toMatchObject([{ answer: "eu" }, { answer: "moon" }]);
  });

  test("asks once what three runs ask, and answers all of them", async () => {
    const same = ["ask", "redis or  memcached", ...ASK.slice(2)];
    const built = await scene(ASK, same, ASK);
    const script = `shift; cp "$1" seen; sed 's/^answer:$/answer: 2/' "$1" >copy; cat copy >"$1"`;
    const { stderr } = await built.typeWith(editor(built, script), "respond", "--all", "--edit");
    expect(stderr).toBe("3 answered, 0 skipped\n");
    const seen = readFileSync(join(built.project, "seen"), "utf8");
    expect(seen.match(/^answer:/gm)).toHaveLength(1);
    expect(seen).toMatch(/^\[q-\w+\] 3 runs ask this: #1 \S+, #2 \S+, #3 \S+, due in/m);
    expect(await answersOf(built)).toMatchObject([
      { answer: "memcached" },
      { answer: "memcached" },
      { answer: "memcached" },
    ]);
  });

  test("without an editor or a terminal says what to type", async () => {
    const built = await scene();
    expect(await built.typeWith(OFF, "respond", "--all")).toMatchObject({
      exit: 2,
      stderr: expect.stringContaining('answer one: askd answer <id> "…"'),
    });
    expect(await built.typeWith(OFF, "next")).toMatchObject({ exit: 2 });
    expect(await built.typeWith(OFF, "respond", "--all", "--edit")).toMatchObject({
      exit: 2,
      stderr: "error: No editor is set\n  Set EDITOR, for example: EDITOR=nano\n",
    });
    expect((await built.typeWith(OFF, "respond", "--all", "-t", "later")).stderr).toContain(
      "--use is for one question",
    );
    expect((await built.typeWith(OFF, "respond", "--all", "--decide")).stderr).toContain(
      "--decide is for one question",
    );
  });
});
