import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, readFileSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { BIN, BuiltScene } from "../../test/built.ts";
import { until } from "../../test/run-dir.ts";

const ASKS = `#!/bin/sh
if [ -n "$ASKD_ANSWER_FILE" ]; then
  grep -q Memcached "$ASKD_ANSWER_FILE" && echo "going on" >> work.txt
  echo "all done"
  exit 0
fi
echo $$ > agent.pid
echo "half" >> work.txt
echo "I have a question."
echo '<<ASK_HUMAN>> {"question": "Redis or Memcached?", "options": ["Redis", "Memcached"]} <</ASK_HUMAN>>'
`;

/** Asks three times, and each time goes on for a while after it was told to stop; keeps what it is told. */
const LINGERS = `#!/bin/sh
[ -n "$ASKD_ANSWER_FILE" ] && grep -ohE "^(one|two|three)$" "$ASKD_ANSWER_FILE" >> told.txt
nth=$(cat told.txt 2>/dev/null | wc -l)
[ "$nth" -ge 3 ] && exit 0
echo "<<ASK_HUMAN>> {\\"question\\": \\"Question $nth?\\"} <</ASK_HUMAN>>"
sleep 2
`;

/** A repository whose one file a run is about to change. */
function commitWork(dir: string): void {
  const git = (...args: string[]): void => {
    const who = ["-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "commit.gpgsign=false"];
    execFileSync("git", [...who, ...args], { cwd: dir, stdio: "ignore" });
  };
  writeFileSync(join(dir, "work.txt"), "");
  git("init", "-q");
  git("add", "work.txt");
  git("commit", "-qm", "first");
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

describe("a run that asks by a marker", () => {
  test("shows in a log that is followed which answer it goes on with", async () => {
    const at = new BuiltScene();
    at.program("agent.sh", ASKS);
    await at.type("run", "--", "./agent.sh");
    await at.state("1", "waiting_input");
    const following = at.type("logs", "1", "-f");
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    await at.type("answer", "1", "Memcached");
    const { stderr } = await following;
    expect(stderr).toMatch(/❓ Redis or Memcached\?[^]*\n✓ q-\w+: Memcached, by \S+ \(cli\)[^\n]*\n#1 is completed\n$/);
  });

  test("continues the trace of its caller, and does not show its marker as a summary", async () => {
    const at = new BuiltScene();
    at.program("agent.sh", ASKS);
    const trace = "0af7651916cd43dd8448eb211c80319c";
    await at.typeWith({ TRACEPARENT: `00-${trace}-b7ad6b7169203331-01` }, "run", "--", "./agent.sh");
    await at.state("1", "waiting_input");
    const audit = await at.type("audit", "1", "--json");
    expect(JSON.parse(audit.stdout.toString("utf8"))).toContainEqual(
      expect.objectContaining({
        type: "question.asked",
        detail: expect.objectContaining({ trace: expect.stringContaining(trace) }),
      }),
    );
    const shown = (await at.type("show", "1")).stdout.toString("utf8");
    expect(shown).toContain("Redis or Memcached?");
    expect(shown).not.toContain("<<ASK_HUMAN>>");
  });

  test("is parked with its work untouched, answered, and resumed in the background to its end", async () => {
    const at = new BuiltScene();
    at.program("agent.sh", ASKS);
    commitWork(at.project);
    const run = await at.type("run", "--name", "add-caching", "--", "./agent.sh");
    expect(run).toMatchObject({ exit: 0, stdout: Buffer.from("1\n") });
    expect(run.stderr).toContain("#1 add-caching is queued (started the askd worker in the background)");

    const parked = await at.state("1", "waiting_input");
    expect(parked).toMatchObject({
      session_id: null,
      pending_question: { question: "Redis or Memcached?", context: "", options: ["Redis", "Memcached"] },
    });
    expect(isAlive(Number(readFileSync(join(at.project, "agent.pid"), "utf8")))).toBe(false);
    expect(await at.show("1")).toMatchObject({ status: "awaiting_input" });
    expect(readFileSync(join(at.project, "work.txt"), "utf8")).toBe("half\n");
    expect(execFileSync("git", ["diff", "--stat"], { cwd: at.project, encoding: "utf8" })).toContain("work.txt | 1 +");
    expect((await at.type("diff", "1")).stdout.toString()).toContain("+half\n");
    expect((await at.type("runs", "list")).stdout.toString()).toContain("❓ Redis or Memcached?");

    const answered = await at.type("answer", "1", "memcached", "--wait");
    expect(answered.exit).toBe(0);
    expect(answered.stdout.toString()).toMatch(
      /^Resuming task #1 with your answer\.\.\.\n[\s\S]*\n {2}all done\n✓ #1 add-caching completed\n$/,
    );
    expect(await at.state("1", "completed")).toMatchObject({ pending_question: null });
    expect(readFileSync(join(at.project, "work.txt"), "utf8")).toBe("half\ngoing on\n");
    expect(at.workers()).toHaveLength(1);
    const log = (await at.type("logs", "1", "-f")).stdout.toString();
    expect(log).toMatch(
      /^I have a question\.\n[\s\S]*── stopped \(exit code 0\), then resumed: start 2 ──\nall done\n$/,
    );
    const shown = JSON.parse((await at.type("runs", "show", "1", "--json")).stdout.toString());
    expect(shown.starts).toEqual([
      { epoch: 1, exit_code: 0 },
      { epoch: 2, exit_code: 0 },
    ]);
    // A correction can still resume it; what it was started with may hold secrets, so nobody else can read it.
    expect(statSync(join(shown.files, "env.json")).mode & 0o777).toBe(0o600);
    expect((await at.type("amend", "1", "Memcached, with a TTL", "--resume")).exit).toBe(0);
    await until("it has gone on", () => readFileSync(join(at.project, "work.txt"), "utf8").endsWith("on\ngoing on\n"));
    await at.state("1", "completed");
  });

  test("and lingers after each of its questions gets every answer, whenever it comes", async () => {
    const at = new BuiltScene();
    at.program("agent.sh", LINGERS);
    await at.type("run", "--", "./agent.sh");
    for (const answer of ["one", "two", "three"]) {
      await until("it takes an answer", async () => (await at.type("answer", "1", answer)).exit === 0);
    }
    await at.state("1", "completed");
    expect(readFileSync(join(at.project, "told.txt"), "utf8")).toBe("one\ntwo\nthree\n");
  });

  test("and is answered after its deadline goes on as it was started", async () => {
    const at = new BuiltScene();
    at.program("agent.sh", ASKS);
    await at.typeWith({ ASKD_TIMEOUT: "1s" }, "run", "--", "./agent.sh");
    await at.state("1", "failed");
    expect((await at.type("answer", "1", "Memcached", "--force")).exit).toBe(0);
    await at.state("1", "completed");
    expect(readFileSync(join(at.project, "work.txt"), "utf8")).toBe("half\ngoing on\n");
  });

  test("and is cancelled while it is parked takes no answer any more", async () => {
    const at = new BuiltScene();
    at.program("agent.sh", ASKS);
    await at.type("run", "--", "./agent.sh");
    await at.state("1", "waiting_input");
    const cancelled = await at.type("runs", "cancel", "1", "-m", "not needed");
    expect(cancelled).toMatchObject({ exit: 0 });
    expect(await at.state("1", "cancelled")).toMatchObject({ pending_question: null });
    expect(await at.type("answer", "1", "Redis")).toMatchObject({ exit: 6, stdout: Buffer.alloc(0) });
    expect(existsSync(join(at.project, "work.txt"))).toBe(true);
  });

  test("is followed by who answers where nothing may run in the background", async () => {
    const at = new BuiltScene();
    at.program("agent.sh", ASKS);
    const off = { ASKD_NO_SERVICE: "1" };
    expect((await at.typeWith(off, "run", "--", "./agent.sh")).stderr).toContain("Start it with: askd worker");
    await at.typeWith(off, "worker", "--idle", "1s");
    await at.state("1", "waiting_input");
    expect((await at.typeWith(off, "answer", "1", "Redis", "--no-resume")).exit).toBe(0);
    expect((await at.typeWith(off, "runs", "resume", "1")).stderr).toBe("Resume it with: askd worker\n");
    await at.typeWith(off, "worker", "--idle", "1s");
    await at.state("1", "completed");
    expect(at.workers()).toEqual([]);
  });
});

describe("run --wait of a command that never asks", () => {
  const BYTES = 5 * 1024 * 1024;
  // Every byte, NUL too, in many short lines, with no end of line at the end.
  const FILL = `for (let at = 0; at < bytes.length; at += 1) bytes[at] = (at * 31 + (at >> 8)) & 0xff;`;
  const PRINTS = `
    const bytes = Buffer.alloc(${BYTES});
    ${FILL}
    process.stderr.write("to stderr\\n");
    process.stdout.write(bytes, () => process.exit(7));
  `;

  test.each<Record<string, string>>([{ ASKD_NO_SERVICE: "1" }, {}])(
    "has its output byte by byte and its exit code (%j)",
    async (env) => {
      const at = new BuiltScene();
      const expected = spawnSync(process.execPath, ["-e", PRINTS], { maxBuffer: 2 * BYTES });
      const { exit, stdout, stderr } = await at.typeWith(env, "run", "--wait", "--", process.execPath, "-e", PRINTS);
      expect(exit).toBe(expected.status);
      expect(stdout.length).toBe(BYTES);
      expect(stdout.includes(0)).toBe(true);
      expect(stdout.equals(expected.stdout)).toBe(true);
      expect(stderr).toContain("to stderr\n");
    },
  );
});

test("the input of run is the input of its command, and the prompt of its agent", async () => {
  const at = new BuiltScene();
  at.program("agent.sh", "#!/bin/sh\ncat\n");
  at.program("claude", '#!/bin/sh\n[ "$1" = --version ] && exit 0\ncat > prompt.txt\n');
  const env = { PATH: process.env["PATH"], HOME: at.home, ASKD_HOME: at.home };
  const typed = (input: string, ...words: string[]) =>
    spawnSync(process.execPath, [BIN, "run", "--wait", "--", ...words], {
      cwd: at.project,
      env,
      input,
      encoding: "utf8",
    });
  expect(typed("first\nsecond\n", "./agent.sh")).toMatchObject({ status: 0, stdout: "first\nsecond\n" });
  typed("Fix the login bug.\n", "./claude", "-p");
  expect(readFileSync(join(at.project, "prompt.txt"), "utf8")).toBe("Fix the login bug.\n");
});

test("a command that asks and does not end is stopped at once", async () => {
  const at = new BuiltScene();
  at.program("agent.sh", `${ASKS}sleep 60\n`);
  await at.type("run", "--", "./agent.sh");
  await until("it has asked", async () => (await at.type("list", "--json=id")).stdout.toString().includes("q_"));
  const askedAt = performance.now();
  await at.state("1", "waiting_input");
  expect(performance.now() - askedAt).toBeLessThan(10_000);
});

describe("run --wait of a command whose question cannot be read", () => {
  test.each([
    ["a marker without JSON", "<<ASK_HUMAN>> {question: Redis?} <</ASK_HUMAN>>", "holds no valid JSON"],
    ["a marker that is not closed", '<<ASK_HUMAN>> {"question": "Redis?"}', "is not closed"],
    ["a marker without a question", '<<ASK_HUMAN>> {"ask": "Redis?"} <</ASK_HUMAN>>', 'holds no "question"'],
    ["a broken result", '{"status": "needs_input", "question": Redis?}', "cannot be read"],
    [
      "a question that is too long",
      `<<ASK_HUMAN>>{"question":"${"x".repeat(20_000)}"}<</ASK_HUMAN>>`,
      "It wanted to ask",
    ],
  ])("exits with 11 for %s, and every view says so", async (_, printed, why) => {
    const at = new BuiltScene();
    at.program("agent.sh", `#!/bin/sh\ncat <<'END'\n${printed}\nEND\n`);
    const { exit, stdout, stderr } = await at.type("run", "--wait", "--name", "cache", "--", "./agent.sh");
    expect({ exit, stdout: stdout.toString() }).toEqual({ exit: 11, stdout: `${printed}\n` });
    expect(stderr).toContain("❓ It may have asked: ");
    expect(stderr).toContain(why);
    const status = (await at.type("status")).stdout.toString();
    expect(status).toContain("#1 cache ? completed (may have asked: see the log)\n      It may have asked: ");
    expect(status).not.toContain("✓");
    const shown = (await at.type("show", "1")).stdout.toString();
    expect(shown).toContain("Status: completed (may have asked: see the log)\nWarning: It may have asked: ");
    expect((await at.type("logs", "1")).stderr).toContain(why);
    expect((await at.type("logs", "1", "-f")).stderr).toContain(why);
    expect(JSON.parse((await at.type("show", "1", "--json=may_have_asked")).stdout.toString())).toEqual({
      may_have_asked: true,
    });
  });
});

describe("a run that is refused", () => {
  test.each([
    ["by what a flag says", ["--priority", "9"]],
    ["by a parent that is not there", ["--parent", "77"]],
    ["by the engine", ["--external-id", "x\u001b[31m"]],
    ["after its working tree was made", ["--worktree", "--external-id", "x\u001b[31m"]],
  ])("%s leaves nothing behind", async (_, flags) => {
    const at = new BuiltScene();
    at.program("agent.sh", ASKS);
    commitWork(at.project);
    const refused = await at.type("run", ...flags, "--", "./agent.sh");
    expect(refused.exit).not.toBe(0);
    const runs = join(at.home, "state", "runs");
    expect(existsSync(runs) ? readdirSync(runs) : []).toEqual([]);
    const git = (...args: string[]): string => execFileSync("git", args, { cwd: at.project, encoding: "utf8" });
    expect(git("branch", "--list", "askd/*")).toBe("");
    expect(git("worktree", "list").trim().split("\n")).toHaveLength(1);
  });
});

test("a patch is safe to read in a pipe too, and whole with --raw", async () => {
  const at = new BuiltScene();
  at.program("agent.sh", "#!/bin/sh\nprintf 'a\\033[31mred\\r\\n' >> work.txt\n");
  commitWork(at.project);
  expect((await at.type("run", "--wait", "--", "./agent.sh")).exit).toBe(0);
  const seen = (await at.type("diff", "1")).stdout.toString();
  expect(seen).toContain("+a\\x1b[31mred");
  expect(seen).not.toContain("\x1b");
  const raw = (await at.type("diff", "1", "--raw")).stdout;
  writeFileSync(join(at.project, "work.txt"), "");
  // The agent's program is a new file and still there.
  execFileSync("git", ["apply", "--include=work.txt", "-"], { cwd: at.project, input: raw });
  expect(readFileSync(join(at.project, "work.txt"), "utf8")).toBe("a\x1b[31mred\r\n");
});
