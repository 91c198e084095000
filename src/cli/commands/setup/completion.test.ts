import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ensureProgram } from "../../../../test/debian.ts";
import { Scene } from "../../../../test/scene.ts";
import { type } from "../../../../test/typed.ts";

const ASK = ["ask", "Redis or Memcached?", "-o", "redis:Redis", "-o", "memcached:Memcached", "--name", "cache"];
const BOUND_MS = 60_000;

async function complete(scene: Scene, ...words: string[]): Promise<string[]> {
  const place = { env: { ASKD_STORE: "postgres://nowhere/x" }, pause: () => new Promise<void>(() => undefined) };
  const { exit, stdout, stderr } = await type(scene, ["complete", "--", ...words], place);
  expect({ exit, stderr }).toEqual({ exit: 0, stderr: "" });
  return stdout.split("\n").filter(Boolean);
}

const values = (lines: readonly string[]): string[] => lines.map((line) => line.split("\t")[0] ?? "");

describe("what can be typed next", () => {
  test("is a command, a flag, a topic or a word that the usage names", async () => {
    const scene = new Scene();
    expect(values(await complete(scene, ""))).toEqual(expect.arrayContaining(["status", "answer", "stats", "help"]));
    expect(values(await complete(scene, ""))).not.toContain("complete");
    expect(await complete(scene, "ans")).toEqual(["answer\tAnswer a question"]);
    expect(values(await complete(scene, "answer", "--un"))).toEqual(["--undo-window"]);
    expect(values(await complete(scene, "-C", "/x", "help", "exit"))).toEqual(["exit-codes"]);
    expect(values(await complete(scene, "runs", ""))).toEqual([
      "list",
      "show",
      "resume",
      "cancel",
      "follow",
      "unfollow",
    ]);
    expect(values(await complete(scene, "completion", "z"))).toEqual(["zsh"]);
    expect(await complete(scene, "nothing", "")).toEqual([]);
  });

  test("is the value of a flag, also after an equals sign and as bash takes it apart", async () => {
    const scene = new Scene();
    expect(values(await complete(scene, "list", "--state", "p"))).toEqual(["pending"]);
    expect(values(await complete(scene, "list", "--state=p"))).toEqual(["--state=pending"]);
    expect(values(await complete(scene, "list", "--state", "=", "p"))).toEqual(["pending"]);
    expect(values(await complete(scene, "list", "--json=id,sho"))).toEqual(["--json=id,short_id"]);
    expect(values(await complete(scene, "answer", "1", "-F", ""))).toEqual([":files"]);
    expect(values(await complete(scene, "run", "--", ""))).toEqual([":files"]);
    await type(scene, ["template", "add", "tests", "Yes"]);
    expect(await complete(scene, "answer", "1", "-t", "t")).toEqual(["tests\tYes"]);
  });

  test("is a question that waits, with its text, and then its choices", async () => {
    const scene = new Scene();
    await type(scene, ASK);
    const [first] = await complete(scene, "answer", "q-");
    expect(first).toMatch(/^q-\w{4}\tRedis or Memcached\?$/);
    expect(await complete(scene, "answer", "1", "")).toEqual(["1\tRedis", "2\tMemcached"]);
    expect(await complete(scene, "logs", "")).toEqual(["1\tcache (awaiting_input)"]);
    expect(await complete(scene, "answer", "99", "")).toEqual([]);
  });

  test("writes nothing and says nothing when the store cannot be had", async () => {
    const scene = new Scene();
    await type(scene, [...ASK, "--timeout", "1s"]);
    await scene.pass(0);
    const before = await scene.engine.readFeed("", 100);
    await complete(scene, "answer", "");
    expect(await scene.engine.readFeed("", 100)).toEqual(before);
    const over = { openEngine: () => Promise.reject(new Error("no disk")), env: { ASKD_STORE: "postgres://x/y" } };
    expect(await type(scene, ["complete", "--", "answer", ""], over)).toEqual({ exit: 0, stdout: "", stderr: "" });
    const opened = { openEngine: () => Promise.reject(new Error("opened")), env: { ASKD_HOME: "/nowhere/at/all" } };
    expect(await type(scene, ["complete", "--", "answer", ""], opened)).toMatchObject({ exit: 0, stdout: "" });
  });

  test("shows hostile text as one harmless line", async () => {
    const scene = new Scene();
    await type(scene, ["ask", "a\tb\nc $(touch /tmp/x) `id` \u202e ; rm"]);
    const [line, ...more] = await complete(scene, "answer", "");
    expect(more).toEqual([]);
    expect(line).toMatch(/^q-\w{4}\ta b c \$\(touch \/tmp\/x\) `id` \\u202e ; rm$/);
  });
});

describe("in a real shell", () => {
  const home = mkdtempSync(join(tmpdir(), "askd-complete-"));
  const hostile = "$(touch pwned) `touch pwned`; touch pwned: %B 'x' \"y\"";
  beforeAll(() => {
    ensureProgram("zsh");
    ensureProgram("fish");
    mkdirSync(join(home, "bin"));
    // Stands for the program: what it prints is what the tests above have checked.
    const lines = [`q-7k3f\t${hostile}`, "q-9m2x\tJWT or cookies?"].map(
      (line) => `printf '%s\\n' '${line.replaceAll("'", "'\\''")}'`,
    );
    const script = `#!/bin/sh\n[ "$1 $2 $3" = "complete -- answer" ] || { printf 'answer\\tAnswer a question\\n'; exit; }\n${lines.join("\n")}\n`;
    writeFileSync(join(home, "bin", "askd"), script);
    chmodSync(join(home, "bin", "askd"), 0o755);
  }, 3 * BOUND_MS);
  afterAll(() => rmSync(home, { recursive: true, force: true }));

  async function script(shell: string): Promise<string> {
    const file = join(home, `askd.${shell}`);
    writeFileSync(file, (await type(new Scene(), ["completion", shell])).stdout);
    return file;
  }

  function run(argv: [string, ...string[]]) {
    const env = { PATH: `${join(home, "bin")}:${process.env["PATH"]}`, HOME: home, TERM: "dumb" };
    return spawnSync(argv[0], argv.slice(1), { cwd: home, env, encoding: "utf8", timeout: BOUND_MS });
  }

  test(
    "bash completes commands and ids, and runs nothing",
    async () => {
      const file = await script("bash");
      const body = (words: string) =>
        `source ${file}; COMP_WORDS=(${words}); COMP_CWORD=$((\${#COMP_WORDS[@]} - 1)); _askd 2>/dev/null; printf '%s\\n' "\${COMPREPLY[@]}"`;
      expect(run(["bash", "-c", body("askd ans")]).stdout).toBe("answer\n");
      expect(run(["bash", "-c", body("askd answer ''")]).stdout).toBe(
        `q-7k3f  (${hostile})\nq-9m2x  (JWT or cookies?)\n`,
      );
      expect(run(["sh", "-c", "ls"]).stdout).not.toContain("pwned");
    },
    BOUND_MS,
  );

  test(
    "zsh completes ids with their questions, and runs nothing",
    async () => {
      const file = await script("zsh");
      // The candidates of zsh go through these two; the rest of the script is the real one.
      const stubs = `compdef() { : }; _files() { print files }; _describe() { shift 2; print -rl -- "\${(@P)1}" }`;
      const body = (words: string) => `${stubs}; source ${file}; words=(${words}); CURRENT=$#words; _askd`;
      expect(run(["zsh", "-f", "-c", body("askd ans")]).stdout).toBe("answer:Answer a question\n");
      expect(run(["zsh", "-f", "-c", body("askd answer ''")]).stdout).toBe(
        `q-7k3f:${hostile}\nq-9m2x:JWT or cookies?\n`,
      );
      expect(
        run(["zsh", "-f", "-c", `autoload -Uz compinit && compinit -u && source ${file} && print $_comps[askd]`])
          .stdout,
      ).toBe("_askd\n");
      expect(run(["sh", "-c", "ls"]).stdout).not.toContain("pwned");
    },
    BOUND_MS,
  );

  test(
    "fish completes commands and ids, and runs nothing",
    async () => {
      const file = await script("fish");
      const body = (line: string) => `source ${file}; complete -C '${line}'`;
      expect(run(["fish", "--no-config", "-c", body("askd ans")]).stdout).toBe("answer\tAnswer a question\n");
      const ids = run(["fish", "--no-config", "-c", body("askd answer ")]).stdout;
      expect(ids.split("\n").map((line) => line.split("\t")[0])).toEqual(["q-7k3f", "q-9m2x", ""]);
      expect(run(["sh", "-c", "ls"]).stdout).not.toContain("pwned");
    },
    BOUND_MS,
  );
});
