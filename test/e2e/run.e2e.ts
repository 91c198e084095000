import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { execFileSync } from "node:child_process";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { AGENTS, TYPED, claudeEnv } from "./agent.ts";
import { type ProgramName, programFile } from "./install.ts";
import { Stage, promptOf } from "./stage.ts";

const CACHE = {
  question: "Which cache should I use?",
  header: "Cache",
  multiSelect: false,
  options: [
    { label: "Redis", description: "pub/sub" },
    { label: "Memcached", description: "simple" },
  ],
};
const FINAL = { say: "Final: {{history}}" };
const native = (...questions: object[]) => ({ call: "AskUserQuestion", input: { questions } });
const ours = (question: string) => ({ call: "ask_human", input: { question, options: ["Redis", "Memcached"] } });
/** An agent that was told to stop says so and ends. */
const STOP = { say: "I stop here." };

let stage: Stage;
beforeEach(() => {
  stage = new Stage();
});
afterEach(() => stage.close());

/** Has askd run an agent in the background, with a question held for a second only. */
async function run(program: ProgramName, steps: readonly object[], window = "1s"): Promise<number> {
  const { box, env } = await stage.box((at) => AGENTS[program](at, { kind: "none" }, "").env);
  execFileSync("git", ["init", "-q", box.dir]);
  writeFileSync(join(box.dir, "dirty.txt"), "half done");
  await stage.work();
  const args = ["run", "--live-window", window, "--", programFile(program), ...TYPED[program], promptOf(steps)];
  return Number(await stage.typeIn(box.dir, env, ...args));
}

async function until(number: number, status: string) {
  const engine = await stage.engine();
  return stage.until(`#${number} is ${status}`, async () => {
    const { runs } = await engine.lookUp({ by: "number", number }, 1);
    const [found] = runs;
    if (found?.status === "failed" && status !== "failed")
      throw new Error(`#${number} failed: ${JSON.stringify([found.reason, found.result])}`);
    return found?.status === status ? found : undefined;
  });
}

describe.each(["claude", "codex", "gemini", "opencode"] as const)("%s", (program) => {
  test("asks, is parked, answered from the command line, resumed, and finishes with the answer", async () => {
    const number = await run(program, [ours("Redis or Memcached?"), STOP, FINAL]);
    const parked = await until(number, "awaiting_input");
    expect(parked.session).toBeTruthy();
    expect(await stage.processesOf(parked.id)).toEqual([]);
    expect(readFileSync(join(parked.dir ?? "", "dirty.txt"), "utf8")).toBe("half done");
    await stage.type("answer", String(number), "Memcached", "-m", "keep it small");
    const done = await until(number, "completed");
    expect(done.mayHaveAsked).toBeUndefined();
    expect(stage.told()).toMatch(/Memcached/);
    expect(stage.told()).toMatch(/keep it small/);
    const { question } = await (await stage.engine()).read(done.lastQuestionId!);
    expect(question).toMatchObject({ status: "answered", handover: { state: "given", witness: "transcript" } });
    expect(stage.timesTold("answer" in question ? question.answer?.id : undefined)).toBe(1);
  });

  test("that is answered while it waits goes on in the same process", async () => {
    const number = await run(program, [ours("Redis or Memcached?"), FINAL], "40s");
    await stage.waiting();
    await stage.type("answer", String(number), "Redis");
    const done = await until(number, "completed");
    expect(done.epoch).toBe(1);
    const { question } = await (await stage.engine()).read(done.lastQuestionId!);
    expect(question).toMatchObject({
      status: "answered",
      handover: { state: "given", witness: expect.stringMatching(/^(stream|transcript)$/) },
    });
    expect(stage.results()).toEqual([expect.stringContaining("Redis")]);
  });
});

describe("Claude Code", () => {
  test("gets the answer to its own question as the genuine result of the original call", async () => {
    const number = await run("claude", [native(CACHE), FINAL]);
    const parked = await until(number, "awaiting_input");
    expect(await stage.processesOf(parked.id)).toEqual([]);
    expect(existsSync(join(parked.dir ?? "", "dirty.txt"))).toBe(true);
    await stage.type("answer", String(number), "1");
    await until(number, "completed");
    expect(stage.results()).toEqual([expect.stringMatching(/"Which cache should I use\?"="Redis"/)]);
  });

  test("is told once that its own question was withdrawn, with the words of the person", async () => {
    const number = await run("claude", [native(CACHE), FINAL]);
    await until(number, "awaiting_input");
    await stage.type("cancel", (await stage.waiting()).id, "--resume", "take-the-cheaper-one");
    const { epoch } = await until(number, "completed");
    expect({ starts: epoch, told: stage.timesTold("take-the-cheaper-one") }).toEqual({ starts: 2, told: 1 });
  });

  test("asks twice in one run, by its own tool and by ours", async () => {
    const number = await run("claude", [native(CACHE), ours("TTL or LRU?"), STOP, FINAL]);
    await until(number, "awaiting_input");
    await stage.type("answer", String(number), "1");
    await stage.until("the second question", async () => {
      const question = await stage.waiting();
      return question.title.includes("TTL") ? question : undefined;
    });
    await until(number, "awaiting_input");
    await stage.type("answer", String(number), "Redis");
    await until(number, "completed");
    expect(stage.told()).toMatch(/TTL or LRU/);
  });

  test("takes several choices, a text of the person's own and a note, as the result of its own call", async () => {
    const eviction = { ...CACHE, question: "Which eviction?", header: "Eviction", multiSelect: true };
    const number = await run("claude", [native(CACHE, eviction), FINAL]);
    await until(number, "awaiting_input");
    await stage.type("answer", String(number), "-c", "cache=Use etcd", "-c", "eviction=1,2", "-m", "see the wiki");
    await until(number, "completed");
    const [result] = stage.results();
    expect(result).toMatch(/"Which cache should I use\?"="Use etcd"/);
    expect(result).toMatch(/"Which eviction\?"="Redis, Memcached"/);
    expect(stage.told()).toMatch(/see the wiki/);
  });

  test("is asked back, explains, asks again in the same thread, and goes on", async () => {
    const number = await run("claude", [
      ours("Redis or Memcached?"),
      STOP,
      ours("Redis, because of pub/sub?"),
      STOP,
      FINAL,
    ]);
    const first = await until(number, "awaiting_input");
    await stage.type("answer", String(number), "--clarify", "What is the difference?");
    const second = await stage.until("the second question", async () => {
      const question = await stage.waiting();
      return question.id === first.lastQuestionId ? undefined : question;
    });
    expect(second.thread).toBe(first.lastQuestionId);
    expect(stage.told()).toMatch(/What is the difference\?/);
    await until(number, "awaiting_input");
    await stage.type("answer", String(number), "1");
    await until(number, "completed");
  });
});

test("a session that a person started is parked by our hook and resumed by a worker", async () => {
  const { ended } = await stage.launch(
    (box, askd) => {
      const command = [...askd, "hook", "claude", "--hold", "1s"].map((word) => `'${word}'`).join(" ");
      const hooks = {
        PreToolUse: [{ matcher: "AskUserQuestion", hooks: [{ type: "command", command, timeout: 60 }] }],
      };
      const argv = [
        programFile("claude"),
        "-p",
        promptOf([native(CACHE), FINAL]),
        "--settings",
        JSON.stringify({ hooks }),
      ];
      return { argv: [...argv, "--permission-prompt-tool", "stdio"], env: claudeEnv(box) };
    },
    { ASKD_HOME: stage.askdHome },
  );
  expect((await ended).exitCode).toBe(0);
  const { env } = await stage.box(claudeEnv);
  await stage.work({ ...env, PATH: `${dirname(programFile("claude"))}:${env.PATH}` });
  const adopted = await until(1, "awaiting_input");
  expect(adopted).toMatchObject({ agent: "claude", giveBack: "worker", dir: join(stage.root, "repo") });
  await stage.type("answer", "1", "Memcached");
  await until(1, "completed");
  expect(stage.results()).toEqual([expect.stringMatching(/"Which cache should I use\?"="Memcached"/)]);
});

test("a session that is gone is begun anew with the task, all answers and what was said last", async () => {
  const number = await run("claude", [ours("Redis or Memcached?"), STOP, ours("TTL or LRU?"), STOP, FINAL]);
  const first = await until(number, "awaiting_input");
  await stage.type("answer", String(number), "Memcached");
  await stage.until("the second question", async () => {
    const question = await stage.waiting();
    return question.id === first.lastQuestionId ? undefined : question;
  });
  const { session } = await until(number, "awaiting_input");
  rmSync(join(stage.root, "home", ".claude", "projects"), { recursive: true });
  await stage.type("answer", String(number), "Redis");
  const again = await stage.until("another session", async () => {
    const { runs } = await (await stage.engine()).lookUp({ by: "number", number }, 1);
    return runs[0]?.session === session ? undefined : runs[0];
  });
  expect(again.session).toBeTruthy();
  const told = await stage.until("the new session is told", async () =>
    stage.told().includes("Your session is gone") ? stage.told() : undefined,
  );
  const asked = await (await stage.engine()).listQuestions({ runId: again.id, order: "oldest", limit: 10 });
  const answers = asked.flatMap((question) => (question.status === "answered" ? [question.answer.id] : []));
  expect(answers).toHaveLength(2);
  for (const known of [...answers, "Your task, as it was given to you:", "Do the job.", "What you said last:"])
    expect(told).toContain(known);
  await stage.type("runs", "cancel", String(number));
  await stage.until("all of it is gone", async () => {
    const run = await (await stage.engine()).findRun(again.id);
    return run?.worker === undefined && (await stage.processesOf(again.id)).length === 0 ? true : undefined;
  });
});

describe("a question that nobody answers in time", () => {
  const asking = (policy: string, more: object = {}) => ({
    call: "ask_human",
    input: {
      question: "Redis or Memcached?",
      options: ["Redis", "Memcached"],
      timeout: "4s",
      on_timeout: policy,
      ...more,
    },
  });

  test.each([
    ["proceed", {}, "completed", /No response received/],
    [
      "default",
      { default_answer: "Memcached" },
      "completed",
      /Policy \\?"default\\?" applies: it answers in place of a person[^]*Answer of the policy:[^]*Memcached/,
    ],
    ["skip", {}, "skipped", undefined],
    ["fail", {}, "failed", undefined],
    ["escalate", { timeout_params: { steps: [{ after: "1s", to: ["lena"] }], then: "skip" } }, "skipped", undefined],
    ["defer", {}, "deferred", undefined],
  ] as const)("ends by the policy %s", async (policy, more, status, told) => {
    const number = await run("claude", [asking(policy, more), STOP, FINAL]);
    const ended = await until(number, status);
    expect(ended.status).toBe(status);
    if (told) expect(stage.told()).toMatch(told);
    if (status === "failed") expect(ended.reason).toBe("input_timeout");
    if (status !== "deferred") return;
    await stage.type("answer", String(number), "1");
    await until(number, "completed");
  });

  test("waits for ever where that was asked for", async () => {
    const number = await run("claude", [asking("wait"), STOP, FINAL]);
    await until(number, "awaiting_input");
    const { dueAt } = await stage.waiting();
    expect(dueAt).toBeUndefined();
  });

  test("is answered late on purpose, and the run goes on", async () => {
    const number = await run("claude", [asking("fail"), STOP, FINAL]);
    await until(number, "failed");
    await stage.type("answer", "--force", String(number), "Memcached");
    await until(number, "completed");
    expect(stage.told()).toMatch(/Memcached/);
  });
});
