import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { appendFile, readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { readOwnIdentity } from "../agents/process/process-identity.ts";
import { QuestionId } from "../core/id.ts";
import { HOUR_MS, SECOND_MS, later } from "../core/instant.ts";
import type { Question } from "../core/question/question.ts";
import type { Engine } from "../engine/engine.ts";
import { ADA, AGENT } from "../../test/builders.ts";
import { answeredAsHoldEnds } from "../../test/late-reply.ts";
import { SCRIPT, Scene, said } from "../../test/scene.ts";
import { type } from "../../test/typed.ts";

const ASK = ["ask", "Redis or Memcached?", "-o", "redis:Redis", "-o", "memcached:Memcached", "--recommend", "redis"];

async function asked(scene: Scene, ...more: string[]): Promise<string> {
  return (await type(scene, [...ASK, ...more])).stdout.trim();
}

async function lastQuestion(scene: Scene): Promise<Question> {
  const [question] = await scene.engine.listQuestions({ order: "newest", limit: 1 });
  if (!question) throw new Error("nothing was asked");
  return question;
}

/** Types `ask --wait` and lets the caller act while it holds. */
async function holding(scene: Scene, argv: readonly string[], act: () => Promise<unknown>) {
  const result = type(scene, argv);
  for (let turn = 0; (await scene.store.countQuestions("pending")) === 0; turn += 1) {
    if (turn > 10_000) throw new Error("nothing was asked");
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  await act();
  return result;
}

/** Stands for a person who writes below the last line of the file that the editor opens. */
async function writeInEditor({ argv }: { argv: readonly string[] }) {
  const file = argv.at(-1) ?? "";
  expect(await readFile(file, "utf8")).toContain("## Question\nRedis or Memcached?");
  await appendFile(file, "Both\n");
  return { exitCode: 0, stdout: "" };
}

describe("ask", () => {
  test("prints the id alone and comes back at once", async () => {
    const { exit, stdout, stderr } = await type(new Scene(), ASK);
    expect(exit).toBe(0);
    expect(stdout).toMatch(/^q_[0-9a-z]{26}\n$/);
    expect(stderr).toMatch(/^asked q-\w{4} {2}#1 redis-or-memcached\nAnswer with: askd answer q-\w{4} "…"\n$/);
  });

  test("with --wait prints the value that was chosen, and the run is complete", async () => {
    const scene = new Scene();
    const { exit, stdout } = await holding(scene, [...ASK, "--wait", "10m"], async () => {
      expect((await type(scene, ["status"])).stdout).toContain("running (waiting for input, held 0s)");
      const { stdout: said } = await type(scene, ["answer", "1", "Redis"]);
      expect(said).toContain("It is delivered to the waiting agent");
    });
    expect({ exit, stdout }).toEqual({ exit: 0, stdout: "redis\n" });
    expect((await type(scene, ["show", "1"])).stdout).toContain("Status: completed");
  });

  test.each([
    ["redis:Redis 7", "redis", "Redis 7"],
    ["eu-west_1:Ireland: the old one", "eu-west_1", "Ireland: the old one"],
    ["https://eu.example.com", "https://eu.example.com", "https://eu.example.com"],
    ["10:30 today", "10:30 today", "10:30 today"],
    ["feat: add x", "feat: add x", "feat: add x"],
    ["two words:Label", "two words:Label", "two words:Label"],
    ["value=redis", "value=redis", "value=redis"],
  ])("with -o %j offers the value %j with the label %j", async (given, value, label) => {
    const scene = new Scene();
    await type(scene, ["ask", "Which?", "-o", given]);
    const { content } = await scene.engine.read((await lastQuestion(scene)).id);
    expect(content.items[0]?.options[0]).toMatchObject({ value, label });
  });

  test("with --escalate goes to the next people at the deadline, and then does what --on-timeout says", async () => {
    const scene = new Scene();
    const chain = ["--timeout", "1h", "--escalate", "lena:30m", "--escalate", "@ops,ada", "--on-timeout", "skip"];
    const id = QuestionId.parse(await asked(scene, ...chain));
    await scene.pass(HOUR_MS);
    expect((await scene.engine.read(id)).question).toMatchObject({ status: "pending", to: ["lena"] });
    await scene.pass(HOUR_MS / 2);
    expect((await scene.engine.read(id)).question).toMatchObject({ status: "pending", to: ["ops", "ada"] });
    await scene.pass(HOUR_MS);
    expect((await scene.engine.read(id)).question).toMatchObject({ status: "timeout", policy: "skip" });
  });

  test.each([
    [["--on-timeout", "escalate"], "names nobody to escalate to"],
    [["--escalate", ":30m"], "--escalate takes people"],
    [["--escalate", "lena:soon"], "not a duration"],
  ])("with %j is refused", async (more, why) => {
    const { exit, stderr } = await type(new Scene(), [...ASK, ...more]);
    expect({ exit, stderr }).toEqual({ exit: 2, stderr: expect.stringContaining(why) });
  });

  test("prints one line for each of several choices", async () => {
    const scene = new Scene();
    const { stdout } = await holding(scene, [...ASK, "--multiple", "--wait"], () =>
      type(scene, ["answer", "1", "1,2"]),
    );
    expect(stdout).toBe("redis\nmemcached\n");
  });

  test("prints nothing when the window ends, and the question still waits", async () => {
    const scene = new Scene();
    const { exit, stdout } = await holding(scene, [...ASK, "--wait", "0s"], () => Promise.resolve());
    expect({ exit, stdout }).toEqual({ exit: 8, stdout: "" });
    expect((await type(scene, ["show", "1"])).stdout).toContain("Status: awaiting_input");
  });

  test("prints an answer that was in its undo window when the wait ended", async () => {
    const scene = new Scene();
    const engine = answeredAsHoldEnds(scene, { undoMs: 5 * SECOND_MS, thenMs: 5 * SECOND_MS });
    const over = { openEngine: () => Promise.resolve(engine) };
    const { exit, stdout } = await type(scene, [...ASK, "--wait", "0s"], over);
    expect({ exit, stdout }).toEqual({ exit: 0, stdout: "redis\n" });
    const { question, run } = await scene.engine.read((await lastQuestion(scene)).id);
    expect(question).toMatchObject({ status: "answered", handover: { state: "given", witness: "stdout" } });
    expect(run.status).toBe("completed");
  });

  test.each([[], ["--quiet"], ["--json=answer"]])(
    "says a correction that came before the answer was handed over (%j)",
    async (...flags) => {
      const scene = new Scene();
      const engine = answeredAsHoldEnds(scene, { undoMs: 0, thenMs: 0 });
      const handOver = engine.handOver.bind(engine);
      const corrected = Object.assign(engine, {
        handOver: async (...args: Parameters<Engine["handOver"]>) => {
          await scene.engine.amend(args[0], "rather the cluster", ADA);
          return handOver(...args);
        },
      });
      const over = { openEngine: () => Promise.resolve(corrected) };
      const { stderr } = await type(scene, [...ASK, "--wait", "0s", ...flags], over);
      expect(stderr).toContain("correction by ada (cli): rather the cluster");
      const { amendments } = await lastQuestion(scene);
      expect(amendments).toMatchObject([{ handover: { state: "given" } }]);
    },
  );

  test.each([[], ["--quiet"], ["--json=answer"]])("says the note beside an answer (%j)", async (...flags) => {
    const scene = new Scene();
    const answer = () => type(scene, ["answer", "1", "redis", "-m", "until spring"]);
    const { exit, stdout, stderr } = await holding(scene, [...ASK, "--wait", ...flags], answer);
    expect({ exit, stdout }).toEqual({
      exit: 0,
      stdout: flags[0]?.startsWith("--json") ? expect.anything() : "redis\n",
    });
    expect(stderr).toMatch(/^note by \w+ \(cli\): until spring$/m);
  });

  test("says with --quiet too what a person asks back", async () => {
    const scene = new Scene();
    const answer = () => type(scene, ["answer", "1", "--clarify", "Which region?"]);
    const asked = [...ASK, "--accept", "answer,clarify", "--wait", "--quiet"];
    const { exit, stdout, stderr } = await holding(scene, asked, answer);
    expect({ exit, stdout }).toEqual({ exit: 10, stdout: "" });
    expect(stderr).toContain("Asked back (Which region?)");
  });

  test("waits no longer for an answer that is taken back after the wait has ended", async () => {
    const scene = new Scene();
    const engine = answeredAsHoldEnds(scene, { undoMs: 5 * SECOND_MS, thenMs: 0 });
    const wait = engine.wait.bind(engine);
    const over = {
      openEngine: () =>
        Promise.resolve(
          Object.assign(engine, {
            wait: async (...args: Parameters<Engine["wait"]>) => {
              await scene.engine.undo(args[0], ADA);
              scene.skip(10 * SECOND_MS);
              return wait(...args);
            },
          }),
        ),
    };
    expect((await type(scene, [...ASK, "--wait", "0s"], over)).exit).toBe(8);
    expect((await lastQuestion(scene)).status).toBe("pending");
  });

  test("that is interrupted leaves the question to be answered later", async () => {
    const scene = new Scene();
    const interrupted = new AbortController();
    const over = { interrupt: () => interrupted.signal };
    const result = type(scene, [...ASK, "--wait"], over);
    interrupted.abort();
    expect((await result).exit).toBe(130);
    expect((await type(scene, ["answer", "1", "2"])).exit).toBe(0);
  });

  test("with the same key is the same question", async () => {
    const scene = new Scene();
    expect(await asked(scene, "--key", "k")).toBe(await asked(scene, "--key", "k"));
    expect((await type(scene, ["ask", "Something else?", "--key", "k"])).exit).toBe(6);
  });

  test("takes the question as JSON from stdin", async () => {
    const scene = new Scene();
    const raw = JSON.stringify({ questions: [{ question: "Which?", options: ["a", "b"] }] });
    const stdin = { isTty: false, readAll: () => Promise.resolve(raw), readLine: () => Promise.resolve(undefined) };
    expect((await type(scene, ["ask", "--input", "-"], { stdin })).exit).toBe(0);
    expect((await type(scene, ["list"])).stdout).toContain("Which?");
  });

  test.each([
    [["ask"], "There is no question"],
    [["ask", "x", "y"], 'Unexpected argument "y"'],
    [["ask", "x", "--recommend", "z", "-o", "a"], '--recommend "z" is not one of the options'],
    [["ask", "x", "--timeout", "soon"], '"soon" is not a duration'],
    [["ask", "--input", "-"], "The question is not valid JSON"],
  ])("%j is refused", async (argv, problem) => {
    const { exit, stderr } = await type(new Scene(), argv);
    expect(exit).toBe(2);
    expect(stderr).toContain(problem);
  });

  test("splits value and label at the first colon only after a plain word", async () => {
    const scene = new Scene();
    await type(scene, ["ask", "When?", "-o", "soon:at 10:30", "-o", "not now: later"]);
    expect((await type(scene, ["show", "1"])).stdout).toContain("1. at 10:30\n    2. not now: later\n");
  });
});

describe("show", () => {
  test("tells what was answered to a question like it", async () => {
    const scene = new Scene();
    await asked(scene);
    await type(scene, ["answer", "1", "Redis"], { user: "mika" });
    await scene.pass(21 * 24 * HOUR_MS);
    await asked(scene);
    const { stdout } = await type(scene, ["show", "2"]);
    expect(stdout).toMatch(/\n {2}Similar: "Redis" for "Redis or Memcached\?", mika, 3 weeks ago \(q-\w{4}\)\n/);
    const { similar } = JSON.parse((await type(scene, ["show", "2", "--json=similar"])).stdout);
    expect(similar).toMatchObject([{ answer: "Redis", answered_by: "mika", same_repo: false, score: 1 }]);
  });
});

describe("answer", () => {
  test("is recorded once, and the second person is told who was first", async () => {
    const scene = new Scene();
    await asked(scene);
    const first = await type(scene, ["answer", "1", "redis"]);
    expect(first.stdout).toMatch(/^✓ Answer recorded for #1 redis-or-memcached \(q-\w{4}\): Redis\n$/);
    const second = await type(scene, ["respond", "1", "memcached"], { user: "lena" });
    expect(second).toMatchObject({ exit: 6, stdout: "" });
    expect(second.stderr).toContain('error: already answered by ada 0s ago (cli): "Redis"');
  });

  test("can be a choice with a note, a file, or the editor's text", async () => {
    const scene = new Scene();
    for (const name of ["a", "b", "c"]) await asked(scene, "--name", name);
    await type(scene, ["answer", "a", "-c", "B", "-m", "keep it small"]);
    await type(scene, ["answer", "b", "-F", "notes.md"], { readFile: () => Promise.resolve("Use neither\n") });
    const home = mkdtempSync(join(tmpdir(), "askd-edit-"));
    onTestFinished(() => rmSync(home, { recursive: true }));
    const env = { EDITOR: "ed", ASKD_HOME: home };
    await type(scene, ["answer", "c", "--edit"], { env, runChild: writeInEditor });
    const { stdout } = await type(scene, ["list", "--json=run_name,answer,note"]);
    expect(JSON.parse(stdout)).toHaveLength(3);
    expect(JSON.parse(stdout)).toEqual(
      expect.arrayContaining([
        { run_name: "a", answer: "memcached", note: "keep it small" },
        { run_name: "b", answer: "Use neither", note: null },
        { run_name: "c", answer: "Both", note: null },
      ]),
    );
  });

  test("without words is refused where nobody can be asked", async () => {
    const scene = new Scene();
    await asked(scene);
    expect(await type(scene, ["answer", "1"])).toEqual({
      exit: 2,
      stdout: "",
      stderr: "error: Response cannot be empty\n  Choose 1-2, or write text\n",
    });
  });

  test("of an agent is refused", async () => {
    const scene = new Scene();
    await asked(scene);
    const { runs } = await scene.store.lookUp({ by: "number", number: 1 }, 1);
    const { exit } = await type(scene, ["answer", "1", "Redis"], { env: { ASKD_RUN: runs[0]!.id } });
    expect(exit).toBe(7);
    const { event } = (await scene.engine.readChain(runs[0]!.id)).at(-1)!;
    expect(event).toMatchObject({ type: "question.refused", by: { scope: "agent", runId: runs[0]!.id } });
  });

  test.each<[string, string[], Record<string, unknown>]>([
    ["an approval with other options", ["whatever"], { kind: "approval", options: ["Proceed", "Wait"] }],
    ["an approval", ["nothing of it"], { kind: "approval", options: ["allow", "deny"] }],
    ["a part that is not there", ["-c", "no such=1"], {}],
    ["a command for what runs none", ["--command", "ls"], {}],
    ["a template that is not there", ["-t", "none"], {}],
    ["nothing", [], {}],
  ])("of an agent is refused before it is looked at, and the try is in the trail: %s", async (_, words, raw) => {
    const scene = new Scene();
    const { run, question } = await scene.ask({ question: "Deploy?", ...raw });
    const typed = await type(scene, ["answer", question.id, ...words], { env: { ASKD_RUN: run.id } });
    expect([typed.exit, typed.stderr]).toEqual([7, expect.stringContaining("An agent cannot answer a question")]);
    const { event } = (await scene.engine.readChain(run.id)).at(-1)!;
    expect(event).toMatchObject({ type: "question.refused", by: { scope: "agent", runId: run.id } });
  });

  test("of somebody who may not give it is refused before its words are looked at", async () => {
    const scene = new Scene();
    const { run, question } = await scene.ask({
      kind: "approval",
      risk: "high",
      options: ["allow", "deny"],
      approvals: { need: 1, from: ["lena"] },
    });
    const typed = await type(scene, ["answer", question.id, "perhaps"]);
    expect([typed.exit, typed.stderr]).toEqual([7, expect.stringContaining("This question is for lena")]);
    const { event } = (await scene.engine.readChain(run.id)).at(-1)!;
    expect(event).toMatchObject({ type: "question.refused", by: { id: "ada" } });
  });

  test("to the only question that waits needs no id; to one of two it does", async () => {
    const scene = new Scene();
    expect((await type(scene, ["answer", "-", "1"])).exit).toBe(5);
    await asked(scene);
    await asked(scene);
    const two = await type(scene, ["answer", "-", "1"]);
    expect(two.exit).toBe(2);
    expect(two.stderr).toContain("More than one question is waiting");
    await type(scene, ["cancel", "1"]);
    expect((await type(scene, ["answer", "-", "1"])).exit).toBe(0);
  });

  test("of a task of another system speaks its words", async () => {
    const scene = new Scene();
    const run = await scene.startedRun({ externalId: "tm-abc", name: "Implement user authentication" });
    await scene.engine.ask(
      scene.input(),
      { scope: "agent", id: "x", channel: "mcp", strength: "none" },
      { runId: run.id },
    );
    await scene.engine.endRun(
      run.id,
      { status: "completed" },
      { scope: "system", id: "askd", channel: "worker", strength: "none" },
    );
    expect((await type(scene, ["tree"])).stdout).toContain(
      "tm-abc [awaiting_input] ❓ Implement user authentication\n└── Question:",
    );
    expect((await type(scene, ["respond", "tm-abc", "Redis"])).stdout).toBe(
      "✓ Response recorded for task tm-abc\n  Task returned to 'open' state and will be picked up by worker\n",
    );
  });

  test("of a run that is over says so", async () => {
    const scene = new Scene();
    const run = await scene.startedRun({ name: "update-deps" });
    await scene.engine.endRun(
      run.id,
      { status: "completed" },
      { scope: "system", id: "askd", channel: "worker", strength: "none" },
    );
    const { exit, stderr } = await type(scene, ["answer", String(run.number), "Redis"]);
    expect(exit).toBe(6);
    expect(stderr).toContain(`error: Task ${run.number} is not waiting for input (completed just now)`);
  });

  test("shows on demand what the agent would get, and changes nothing", async () => {
    const scene = new Scene();
    await asked(scene);
    const { stdout } = await type(scene, ["answer", "1", "Redis", "--dry-run"]);
    expect(stdout).toContain("A person answered your question.");
    expect((await type(scene, ["check", "1"])).exit).toBe(8);
  });
});

describe("a deadline", () => {
  test("that has passed is noticed by the next command, with no server running", async () => {
    const scene = new Scene();
    const id = await asked(scene, "--timeout", "2s");
    expect((await type(scene, ["check", id, "--json"])).stdout).toBe('{"status":"pending"}\n');
    await scene.pass(3 * SECOND_MS);
    const { exit, stdout } = await type(scene, ["check", id]);
    expect({ exit, stdout }).toEqual({ exit: 9, stdout: "timeout\n  just now, policy: fail\n" });
  });

  test("can be answered after on purpose", async () => {
    const scene = new Scene();
    const run = await scene.startedRun();
    const by = { scope: "agent", id: "x", channel: "mcp", strength: "none" } as const;
    await scene.engine.ask(scene.input({ timeout: "1h" }), by, { runId: run.id });
    await scene.engine.endRun(run.id, { status: "completed" }, { ...by, scope: "system" });
    await scene.pass(2 * HOUR_MS);
    const { stdout } = await type(scene, ["status"]);
    expect(stdout).toContain("FAILED TODAY:\n  #1 add-caching ✗ failed (input_timeout)");
    expect(stdout).toContain('Answer anyway and resume: askd answer --force 1 "Redis"');
    expect((await type(scene, ["answer", "1", "Redis"])).exit).toBe(6);
    expect((await type(scene, ["answer", "--force", "1", "Redis"])).exit).toBe(0);
    const check = await type(scene, ["check", "1", "--json"]);
    expect(JSON.parse(check.stdout)).toMatchObject({ status: "timeout", answer: "Redis", forced: true });
  });
});

describe("a correction of an earlier answer", () => {
  const NEXT = ["ask", "Where?", "-o", "here"];
  const SAID = /^correction by ada \(cli\) of q-\w+ "Redis or Memcached\?": rather the cluster$/m;

  async function corrected() {
    const scene = new Scene();
    const run = await scene.startedRun();
    const own = { env: { ASKD_RUN: run.id, ASKD_EPOCH: String(run.epoch) } };
    const first = QuestionId.parse((await type(scene, ASK, own)).stdout.trim());
    await scene.engine.answer(first, said("1"), ADA);
    await type(scene, ["check", first], own);
    await scene.engine.amend(first, "rather the cluster", ADA);
    const correction = async () => (await scene.engine.read(first)).question.amendments[0]?.handover.state;
    return { scene, run, own, first, correction };
  }

  test.each([[], ["--quiet"], ["--json"]])(
    "comes with the outcome that a waiting ask prints (%j)",
    async (...flags) => {
      const { scene, own, first, correction } = await corrected();
      const answered = type(scene, [...NEXT, "--wait", ...flags], own);
      const pending = () => scene.engine.listQuestions({ status: "pending", order: "newest", limit: 1 });
      while ((await pending()).length === 0) await new Promise((resolve) => setTimeout(resolve, 1));
      await scene.engine.answer((await pending())[0]!.id, said("1"), ADA);
      const { exit, stdout, stderr } = await answered;
      expect({ exit, stderr }).toEqual({ exit: 0, stderr: expect.stringMatching(SAID) });
      const corrections = [{ question_id: first, text: "rather the cluster", by: "ada" }];
      if (flags[0] === "--json") expect(JSON.parse(stdout)).toMatchObject({ corrections });
      expect(await correction()).toBe("given");
    },
  );

  test("comes with the outcome that the agent reads with check, once", async () => {
    const { scene, own, first, correction } = await corrected();
    const next = QuestionId.parse((await type(scene, NEXT, own)).stdout.trim());
    await scene.engine.answer(next, said("1"), ADA);
    const { stdout, stderr } = await type(scene, ["check", next, "--json"], own);
    expect(JSON.parse(stdout)).toMatchObject({ corrections: [{ question_id: first }] });
    expect(stderr).toMatch(SAID);
    expect(await correction()).toBe("given");
    expect((await type(scene, ["check", next, "--json"], own)).stdout).not.toContain("corrections");
  });

  test("is not taken by somebody else who asks in the name of the run", async () => {
    const { scene, run, correction } = await corrected();
    const { question } = await scene.engine.ask(scene.input({ question: "Where?" }, SCRIPT), AGENT, { runId: run.id });
    await scene.engine.answer(question.id, said("1"), ADA);
    const { stderr } = await type(scene, ["check", question.id]);
    expect({ stderr, correction: await correction() }).toEqual({ stderr: "", correction: "owed" });
  });
});

describe("check", () => {
  test("gives the answer to the script that asked, and to nobody else", async () => {
    const scene = new Scene();
    const run = await scene.startedRun();
    const own = { env: { ASKD_RUN: run.id, ASKD_EPOCH: "1" } };
    const id = (await type(scene, ASK, own)).stdout.trim();
    expect((await type(scene, ["check", id], own)).exit).toBe(8);
    await type(scene, ["answer", id, "1"]);
    const handover = async () => (await scene.engine.read(QuestionId.parse(id))).question;
    await type(scene, ["check", id]);
    await type(scene, ["check", id], { env: { ...own.env, ASKD_EPOCH: "0" } });
    expect(await handover()).toMatchObject({ handover: { state: "owed" } });
    const { exit, stdout } = await type(scene, ["check", id], own);
    expect({ exit, stdout }).toMatchObject({ exit: 0, stdout: expect.stringContaining("answer: Redis") });
    expect(await handover()).toMatchObject({ handover: { state: "given", witness: "read" } });
    // It has its answer: that its process ends is the end of the run, not a reason to start it again.
    expect(await scene.engine.endRun(run.id, { status: "completed" }, AGENT)).toMatchObject({ status: "completed" });
  });
});

describe("looking", () => {
  test("at what waits, with its times and consequences", async () => {
    const scene = new Scene();
    await asked(scene, "--timeout", "24h", "--on-timeout", "skip", "--context", "Both would do.");
    await scene.pass(2 * HOUR_MS);
    expect((await type(scene, ["list", "--awaiting"])).stdout).toBe(`Awaiting Human Input:

#1   P2  redis-or-memcached
     ❓ Redis or Memcached?
     Context: Both would do.
     Asked: 2 hours ago · due in 22h, then skips
`);
    expect((await type(scene, ["status", "--short"])).stdout).toBe("?1 ▶0\n");
    expect((await type(scene, ["status", "--exit-code"])).exit).toBe(8);
  });

  test("at a run as JSON carries the words of task managers and no secrets", async () => {
    const scene = new Scene();
    await asked(scene);
    await type(scene, ["answer", "1", "Redis"]);
    const shown: unknown = JSON.parse((await type(scene, ["show", "1", "--json"])).stdout);
    expect(shown).toMatchObject({
      number: 1,
      status: "completed",
      question: "Redis or Memcached?",
      questionContext: null,
      humanResponse: "Redis",
      humanRespondedAt: later(scene.now, 0),
      questions: [{ status: "answered", answer: "redis", answered_by: "ada" }],
    });
  });

  test("at the trail shows who did what, and that nothing was changed", async () => {
    const scene = new Scene();
    await asked(scene);
    await type(scene, ["answer", "1", "Redis"]);
    const { stdout } = await type(scene, ["audit", "1"]);
    expect(stdout).toMatch(/question\.answered +ada \(cli\) {2}pending → answered/);
    expect(await type(scene, ["audit", "--verify"])).toMatchObject({ exit: 0 });
  });

  test("for what is not there says where to look", async () => {
    expect(await type(new Scene(), ["show", "nothing"])).toEqual({
      exit: 5,
      stdout: "",
      stderr: 'error: There is no question or run "nothing"\n  List questions: askd list\n',
    });
  });
});

describe("an answer that chooses nothing", () => {
  const OPEN = ["ask", "Redis or Memcached?", "-o", "redis:Redis", "-o", "memcached:Memcached"];

  test("is refused where the asker recommends nothing", async () => {
    const scene = new Scene();
    await type(scene, OPEN);
    const { exit, stderr } = await type(scene, ["answer", "1", "--decide"]);
    expect([exit, await scene.store.countQuestions("pending")]).toEqual([2, 1]);
    expect(stderr).toContain('does not accept "decide"; it accepts answer');
  });

  test.each([
    ["decide", ["--decide"], "You decide"],
    ["clarify", ["--clarify", "Which of them is there already?"], "Asked back"],
  ])("ends a waiting ask that takes %s with 10, and says so", async (_, how, said) => {
    const scene = new Scene();
    const argv = [...OPEN, "--accept", "answer,decide,clarify", "--wait"];
    const waited = await holding(scene, argv, () => type(scene, ["answer", "1", ...how]));
    expect(waited).toMatchObject({ exit: 10, stdout: "" });
    expect(waited.stderr).toContain(`nothing was chosen: ${said}`);
  });

  test("ends a waiting ask that is too unsure with 10, asks nobody, and says why", async () => {
    const scene = new Scene({ rules: { confidence: { act: 0.9, ask: 0.5, below: "skip" } } });
    const { exit, stdout, stderr } = await type(scene, [...ASK, "--confidence", "30", "--wait"]);
    expect([exit, stdout, await scene.store.countQuestions("pending")]).toEqual([10, "", 0]);
    expect(stderr).toContain('you are only 30 % sure. Policy "confidence" applies: this task is skipped');
  });

  test("is what was recommended, with 0, where something was", async () => {
    const scene = new Scene();
    const waited = await holding(scene, [...ASK, "--wait"], () => type(scene, ["answer", "1", "--decide"]));
    expect(waited).toMatchObject({ exit: 0, stdout: "redis\n" });
  });
});

describe("a question that is withdrawn with words", () => {
  const WORDS = "do not deploy\u202e now\nnor later";

  test("ends a waiting ask with 10 and nothing on stdout, and says the words", async () => {
    const scene = new Scene();
    const waited = await holding(scene, [...ASK, "--wait", "--quiet"], () =>
      type(scene, ["cancel", "1", "--resume", WORDS]),
    );
    expect(waited).toMatchObject({ exit: 10, stdout: "" });
    expect(waited.stderr).toMatch(
      /^withdrawn by \S+ \(cli\); no answer will come\. Note, which is not an answer: do not deploy\S+ now nor later\n$/,
    );
    expect(waited.stderr).not.toContain("\u202e");
  });

  test("is shown with them by check, and in JSON", async () => {
    const scene = new Scene();
    await asked(scene);
    const question = await lastQuestion(scene);
    await scene.engine.cancel(question.id, { reason: "not needed", resume: "do not deploy now" }, ADA);
    const page = await type(scene, ["check", question.id]);
    expect(page).toMatchObject({ exit: 10 });
    expect(page.stdout).toMatch(
      /^cancelled\n.+ \(cli\) just now: not needed\n {2}note, which is not an answer: do not deploy now\n$/,
    );
    const { stdout } = await type(scene, ["check", question.id, "--json"]);
    expect(JSON.parse(stdout)).toEqual({ status: "cancelled", reason: "not needed", note: "do not deploy now" });
  });

  test("without a reason has only its words", async () => {
    const scene = new Scene();
    const { question } = await scene.ask();
    await scene.engine.cancel(question.id, { resume: "do not deploy now" }, ADA);
    const { stdout } = await type(scene, ["check", question.id, "--json"]);
    expect(JSON.parse(stdout)).toEqual({ status: "cancelled", note: "do not deploy now" });
    expect((await type(scene, ["check", question.id])).stdout).not.toContain("no reason given");
  });
});

describe("status with more than it shows", () => {
  test("counts all that wait, and says how many are not listed", async () => {
    const scene = new Scene();
    for (let index = 0; index < 103; index += 1) await scene.ask({ question: `Question ${index}?` });
    const page = (await type(scene, ["status"])).stdout;
    expect(page).toContain(" more: askd list --awaiting\n");
    expect(page).toContain("103 waiting");
    expect((await type(scene, ["status", "--short"])).stdout).toMatch(/^\?103 /);
    const shown: { waiting: unknown[]; waiting_total: number } = JSON.parse(
      (await type(scene, ["status", "--json"])).stdout,
    );
    expect([shown.waiting.length, shown.waiting_total]).toEqual([100, 103]);
  });

  test("says of runs on its page that there are at least so many, and counts all in its short form", async () => {
    const scene = new Scene();
    for (let index = 0; index < 101; index += 1) await scene.startedRun({ session: `s${index}` });
    await scene.ask();
    expect((await type(scene, ["status"])).stdout).toContain("1 waiting, 100+ running");
    expect((await type(scene, ["status", "--short"])).stdout).toBe("?1 ▶101\n");
  });
});

test("answer does not promise that somebody waits whose process has ended", async () => {
  const scene = new Scene();
  const own = await readOwnIdentity();
  const child = spawn(process.execPath, ["-e", ""]);
  await once(child, "close");
  const ask = async (pid: number) => {
    const run = { session: `s${pid}`, agent: "claude", giveBack: "poll" as const };
    const holder = [pid, own.boot, own.born].join("/");
    const { question } = await scene.engine.ask(scene.input({ hold: "3m" }), AGENT, { run, holder });
    return (await type(scene, ["answer", question.id, "Redis"])).stdout;
  };
  expect(await ask(child.pid ?? 0)).toContain("The process that waited for it has ended. The answer is kept");
  expect(await ask(own.pid)).toContain("It is delivered to the waiting agent");
});

test("answering what a colleague claimed says so, and one's own claim is not mentioned", async () => {
  const scene = new Scene();
  const id = QuestionId.parse(await asked(scene));
  await scene.engine.claim(id, { ...ADA, id: "lena" });
  expect((await type(scene, ["answer", "1", "1"])).stdout).toContain("lena had claimed it; tell them");
  await asked(scene);
  await type(scene, ["claim", "2"]);
  expect((await type(scene, ["answer", "2", "1"])).stdout).not.toContain("claimed");
});

describe("a number that is no option", () => {
  const piped = (text: string) => ({
    stdin: { isTty: false, readAll: () => Promise.resolve(text), readLine: () => Promise.resolve(undefined) },
  });
  const edited = (change: (text: string) => string) => ({
    env: { EDITOR: "ed", ASKD_HOME: mkdtempSync(join(tmpdir(), "askd-")) },
    runChild: async ({ argv }: { argv: readonly string[] }) => {
      const file = argv.at(-1) ?? "";
      await writeFile(file, change(await readFile(file, "utf8")));
      return { exitCode: 0, stdout: "" };
    },
  });

  test.each([
    ["as an argument", ["answer", "1", "99"], {}],
    ["in a file", ["answer", "1", "-F", "-"], piped("99\n")],
    ["on stdin", ["answer", "1", "-"], piped("99\n")],
    ["by -c", ["answer", "1", "-c", "99"], {}],
    ["in the editor", ["answer", "1", "--edit"], edited((text) => `${text}99\n`)],
    [
      "in one file for all",
      ["answer", "--all", "--edit"],
      edited((text) => text.replace(/^answer:.*$/m, "answer: 99")),
    ],
  ])("is refused %s", async (_, argv, over) => {
    const scene = new Scene();
    await asked(scene);
    expect((await type(scene, argv, over)).exit).toBe(2);
    expect((await lastQuestion(scene)).status).toBe("pending");
  });

  test("is the answer with -m", async () => {
    const scene = new Scene();
    await asked(scene);
    await type(scene, ["answer", "1", "-m", "99"]);
    expect(await lastQuestion(scene)).toMatchObject({ status: "answered" });
  });

  test("on stdin an option's number chooses it", async () => {
    const scene = new Scene();
    await asked(scene);
    expect((await type(scene, ["answer", "1", "-"], piped("2\n"))).stdout).toContain(": Memcached");
  });
});

test("Ctrl-C at the prompt of an answer exits with 130 and answers nothing", async () => {
  const scene = new Scene();
  await asked(scene);
  const pressed = new AbortController();
  const readLine = () => {
    pressed.abort();
    return Promise.resolve(undefined);
  };
  const stdin = { isTty: true, readAll: () => Promise.resolve(""), readLine };
  const terminal = { write: () => undefined, isTty: true, columns: 80 };
  const over = { stdin, stdout: terminal, stderr: terminal, interrupt: () => pressed.signal };
  expect(await type(scene, ["answer", "1"], over)).toMatchObject({ exit: 130, stdout: "" });
  expect((await lastQuestion(scene)).status).toBe("pending");
});

test("asking back is not called an answer", async () => {
  const scene = new Scene();
  await asked(scene, "--accept", "answer,clarify");
  const { stdout } = await type(scene, ["answer", "1", "--clarify", "Which version?"]);
  expect(stdout).toMatch(/^✓ Asked back about #1 redis-or-memcached \(q-\w+\): Which version\?\n/);
  expect(stdout).not.toContain("Answer recorded");
});

describe("ask in a Git repository", () => {
  const config = '[core]\n[remote "origin"]\n\turl = https://token@example.org/acme/api.git\n';
  test.each([
    ["the checkout", { "/project/.git/HEAD": "ref: refs/heads/main\n", "/project/.git/config": config }],
    [
      "a linked working tree",
      {
        "/project/.git": "gitdir: /repo/.git/worktrees/project\n",
        "/repo/.git/worktrees/project/HEAD": "ref: refs/heads/main\n",
        "/repo/.git/worktrees/project/commondir": "../..\n",
        "/repo/.git/config": config,
      },
    ],
  ])("records repository and branch in %s", async (_, given) => {
    const files: Readonly<Record<string, string>> = given;
    const scene = new Scene();
    const readFile = (path: string): Promise<string> =>
      files[path] === undefined ? Promise.reject(new Error("no such file")) : Promise.resolve(files[path]);
    await type(scene, ASK, { readFile });
    const { run } = await scene.engine.read((await lastQuestion(scene)).id);
    expect(run).toMatchObject({ repo: "acme/api", branch: "main" });
  });
});

test.each([
  ["--to", ["ask", "Go?", "--to", "lenna"]],
  ["--escalate", ["ask", "Go?", "--escalate", "lenna:1h"]],
  ["link --for", ["link", "1", "--for", "lenna"]],
  ["the people of an approval in --input", ["ask", "--input", "-"]],
])("an unknown person in %s is refused with the nearest name", async (_, argv) => {
  const scene = new Scene();
  await asked(scene);
  await scene.engine.putPerson({ id: "lena", version: 0, groups: ["ops"] }, { ...ADA, scope: "admin" });
  const raw = JSON.stringify({ question: "Go?", approvals: { from: ["lenna"] } });
  const stdin = { isTty: false, readAll: () => Promise.resolve(raw), readLine: () => Promise.resolve(undefined) };
  const { exit, stderr } = await type(scene, argv, { stdin });
  expect({ exit, stderr }).toEqual({
    exit: 5,
    stderr: 'error: There is no person or group "lenna"\n  Did you mean lena?\n',
  });
});
