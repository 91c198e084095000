import { type ChildProcess, spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { afterEach, describe, expect, test, vi } from "vitest";
import { ADA, AGENT } from "../../../../test/builders.ts";
import {
  ATTENDED,
  HEADLESS,
  OTHER,
  QUESTION,
  decision,
  hook,
  hookHome,
  unanswered,
  waiting,
} from "../../../../test/hooked.ts";
import { hookInput } from "../../../../test/hooks.ts";
import { answeredAsHoldEnds } from "../../../../test/late-reply.ts";
import { ROOMY, Scene, said } from "../../../../test/scene.ts";
import { type } from "../../../../test/typed.ts";
import { makeRunDir } from "../../../agents/runner/run-files.ts";
import { openEngine } from "../../../app.ts";

const SESSION = "5529c150-6b05-4e4a-a38f-bbb353c07d4f";

test("an answered call of a run says what changed in its working tree since it stopped", async () => {
  const scene = new Scene();
  const home = hookHome();
  const run = await scene.startedRun();
  const runDir = await makeRunDir(join(home, "state"), run.id);
  writeFileSync(join(runDir, "tree-note"), "the working tree was changed");
  const env = { ...HEADLESS, ASKD_HOME: home, ASKD_RUN: run.id, ASKD_EPOCH: String(run.epoch) };
  const hooked = hook(scene, hookInput(QUESTION), { env });
  await scene.engine.answer((await waiting(scene.engine)).id, said("1"), ADA);
  const { additionalContext } = decision(await hooked) as { additionalContext: string };
  expect(additionalContext).toMatch(/^Question q_[^]*\n\nthe working tree was changed$/);
});

describe("a session that askd did not start", () => {
  test("becomes a run with its session, folder and process, and gets its answer live", async () => {
    const scene = new Scene();
    const files: Record<string, string> = {
      "/.git/HEAD": "ref: refs/heads/main\n",
      "/.git/config": '[remote "origin"]\n\turl = https://token@example.com/acme/shop.git\n',
    };
    const readFile = (path: string) => files[path] ?? Promise.reject(new Error("no such file"));
    const hooked = hook(scene, hookInput(QUESTION), { readFile: async (path) => readFile(path) });
    const question = await waiting(scene.engine);
    await scene.engine.answer(question.id, said("1"), ADA);
    expect(decision(await hooked)).toMatchObject({
      permissionDecision: "allow",
      updatedInput: { answers: { "Which cache?": "Redis (Recommended)" } },
    });
    const { run, question: closed } = await scene.engine.read(question.id);
    expect(run).toMatchObject({
      agent: "claude",
      session: SESSION,
      dir: "/repo",
      host: "here",
      giveBack: "worker",
      status: "completed",
      sources: { agent: "asker", repo: "measured" },
      repo: "acme/shop",
      branch: "main",
      seen: { pid: 42, startedAt: "boot:42", isAttended: false },
    });
    expect(closed).toMatchObject({ via: "hook", handover: { state: "given", witness: "hook" } });
    const types = (await scene.engine.readChain(run.id)).map(({ event }) => event.type);
    expect(types.slice(-4)).toEqual(["question.answered", "question.handing", "question.given", "run.completed"]);
  });

  test("is parked when nobody answers, deferred again while that is so, and then gets the answer at once", async () => {
    const scene = new Scene();
    expect(decision(await unanswered(scene, hookInput(QUESTION)))).toMatchObject({ permissionDecision: "defer" });
    const { id } = await waiting(scene.engine);
    expect((await scene.engine.read(id)).run.status).toBe("awaiting_input");
    const again = hookInput(QUESTION, { prompt_id: undefined });
    expect(decision(await hook(scene, again))).toMatchObject({ permissionDecision: "defer" });
    await scene.engine.answer(id, said("2"), ADA);
    expect(decision(await hook(scene, again))).toMatchObject({
      permissionDecision: "allow",
      updatedInput: { answers: { "Which cache?": "Memcached" } },
    });
    expect((await scene.engine.listQuestions({ order: "oldest", limit: 5 })).map((each) => each.id)).toEqual([id]);
    expect((await scene.engine.verify()).problems).toEqual([]);
  });

  test("with somebody in front of it is left to ask there, and what it asked before does not stand in its way", async () => {
    const scene = new Scene();
    const left = await unanswered(scene, hookInput(QUESTION), { env: ATTENDED });
    expect(left).toMatchObject({ exit: 0, stdout: "", stderr: "" });
    const first = await waiting(scene.engine);
    expect((await scene.engine.read(first.id)).run.giveBack).toBe("poll");
    const hooked = hook(scene, hookInput(QUESTION, { tool_use_id: "toolu_2", tool_input: OTHER }), { env: ATTENDED });
    const second = await vi.waitFor(async () => {
      const question = await waiting(scene.engine);
      expect(question.id).not.toBe(first.id);
      return question;
    }, 10_000);
    expect((await scene.engine.read(first.id)).question).toMatchObject({ reason: "dealt with at the agent" });
    await scene.engine.answer(second.id, said("1"), ADA);
    expect(decision(await hooked)).toMatchObject({ permissionDecision: "allow" });
  });

  test("whose call is over was answered there if its question still waits", async () => {
    const scene = new Scene();
    await unanswered(scene, hookInput(QUESTION), { env: ATTENDED });
    const { id } = await waiting(scene.engine);
    expect(await hook(scene, hookInput("claude-2.1.325-answered"), { env: ATTENDED })).toMatchObject({ stdout: "" });
    expect((await scene.engine.read(id)).question.status).toBe("cancelled");
  });

  test("whose call is over has not heard an answer that was never handed to it: another one was typed there", async () => {
    const scene = new Scene();
    await unanswered(scene, hookInput(QUESTION), { env: ATTENDED });
    const { id } = await waiting(scene.engine);
    await scene.engine.answer(id, said("2"), ADA);
    await hook(scene, hookInput("claude-2.1.325-answered"), { env: ATTENDED });
    const { question, run } = await scene.engine.read(id);
    expect(question).toMatchObject({ status: "answered", handover: { state: "owed" } });
    const types = (await scene.engine.readChain(run.id)).map(({ event }) => event.type);
    expect(types).not.toContain("question.given");
  });

  test("that nobody can say anything about is told how to get its answer, and gets it when it asks the same again", async () => {
    const scene = new Scene();
    const denied = decision(await unanswered(scene, hookInput(QUESTION), { env: {} }));
    expect(denied).toMatchObject({ permissionDecision: "deny" });
    expect(denied["permissionDecisionReason"]).not.toContain("resumed");
    const { id } = await waiting(scene.engine);
    await scene.engine.answer(id, said("1"), ADA);
    const again = await hook(scene, hookInput(QUESTION, { tool_use_id: "toolu_2" }), { env: {} });
    expect(decision(again)).toMatchObject({ permissionDecision: "allow" });
  });

  test("asks one thing at a time", async () => {
    const scene = new Scene();
    const first = hook(scene, hookInput(QUESTION));
    const { id } = await waiting(scene.engine);
    const second = await hook(scene, hookInput(QUESTION, { tool_use_id: "toolu_2", tool_input: OTHER }));
    expect(decision(second)).toMatchObject({
      permissionDecision: "deny",
      permissionDecisionReason: `This run already waits for an answer to ${id}: "Which cache?". Ask this one again once that is answered.`,
    });
    await scene.engine.answer(id, said("1"), ADA);
    expect(decision(await first)).toMatchObject({ permissionDecision: "allow" });
  });

  test("whose question asks for a secret is told so", async () => {
    const tool_input = { questions: [{ question: "What is the password?", options: [] }] };
    expect(decision(await hook(new Scene(), hookInput(QUESTION, { tool_input })))).toMatchObject({
      permissionDecision: "deny",
      permissionDecisionReason: expect.stringContaining("secret store"),
    });
  });

  test("shows a form to people, and withdraws it when nobody has filled it in", async () => {
    const scene = new Scene();
    const form = hookInput("claude-2.1.325-form");
    expect(await unanswered(scene, form)).toMatchObject({ exit: 0, stdout: "" });
    expect(await scene.engine.countQuestions("pending")).toBe(0);
    const hooked = hook(scene, form);
    const { id } = await waiting(scene.engine);
    await scene.engine.answer(id, said("color: 2\ncount: 3\nsure: no"), ADA);
    expect(decision(await hooked)).toMatchObject({ content: { color: "blue", count: 3, sure: false } });
  });
});

describe("an agent that askd started", () => {
  async function started(scene: Scene) {
    const run = await scene.startedRun();
    return { run, env: { ...HEADLESS, ASKD_RUN: run.id, ASKD_EPOCH: String(run.epoch) } };
  }

  test("asks in its own run; that the answer arrived is for its worker or its next hook to see", async () => {
    const scene = new Scene();
    const { run, env } = await started(scene);
    const hooked = hook(scene, hookInput(QUESTION), { env });
    const { id, runId } = await waiting(scene.engine);
    expect(runId).toBe(run.id);
    await scene.engine.answer(id, said("1"), ADA);
    expect(decision(await hooked)).toMatchObject({ permissionDecision: "allow" });
    const handing = { handover: { state: "handing", epoch: run.epoch } };
    expect((await scene.engine.read(id)).question).toMatchObject(handing);
    await hook(scene, hookInput("claude-2.1.325-answered"), { env });
    expect((await scene.engine.read(id)).question).toMatchObject({ handover: { state: "given" } });
  });

  test("that was taken over is parked and changes nothing, whatever its question is by now", async () => {
    const scene = new Scene();
    const { run, env } = await started(scene);
    await unanswered(scene, hookInput(QUESTION), { env });
    const { id } = await waiting(scene.engine);
    await scene.engine.answer(id, said("1"), ADA);
    await scene.engine.startRun(run.id, AGENT);
    const before = (await scene.engine.readChain(run.id)).length;
    for (const over of [{}, { tool_use_id: "toolu_2", tool_input: OTHER }]) {
      const { stdout, exit } = await hook(scene, hookInput(QUESTION, over), { env });
      expect([exit, JSON.parse(stdout)]).toMatchObject([0, { hookSpecificOutput: { permissionDecision: "defer" } }]);
    }
    expect(await scene.engine.readChain(run.id)).toHaveLength(before);
  });

  test("is not stopped for what a subagent of it asks", async () => {
    const scene = new Scene();
    const { run, env } = await started(scene);
    const over = { agent_id: "a1", tool_name: "Bash", tool_input: { command: "make" } };
    expect(decision(await unanswered(scene, hookInput(QUESTION, over), { env }))).toMatchObject({
      permissionDecision: "deny",
      permissionDecisionReason: expect.stringContaining("Call check_answer q_"),
    });
    expect(await scene.jobs()).not.toContain("stop");
    expect(await scene.engine.findRun(run.id)).toMatchObject({ status: "running" });
  });
});

describe("what cannot be kept", () => {
  const broken = { openEngine: () => Promise.reject(new Error("disk is gone")) };

  test("blocks the call and is told, without a stack", async () => {
    for (const [input, over] of [
      ["no json", {}],
      [{}, {}],
      [hookInput(QUESTION), broken],
      [hookInput(QUESTION, { tool_name: "Bash" }), { ...broken, env: ATTENDED }],
      [hookInput(QUESTION), { env: { ...HEADLESS, ASKD_RUN: "r_01m7gy12zcv028z5d8w2t4mpq1" } }],
    ] as const) {
      const { exit, stdout, stderr } = await hook(new Scene(), input, over);
      expect({ exit, stdout }).toEqual({ exit: 2, stdout: "" });
      expect(stderr).toMatch(
        /^askd: this (call|question|approval) could not be (read|kept): .*stop and report this\.\n$/,
      );
    }
  });

  test("is asked at the terminal where somebody sits there", async () => {
    const { exit, stderr } = await hook(new Scene(), hookInput(QUESTION), { ...broken, env: ATTENDED });
    expect({ exit, stderr }).toEqual({ exit: 1, stderr: "askd: the question is asked here only: disk is gone.\n" });
  });

  test("or does not concern us is passed over", async () => {
    expect(await hook(new Scene(), hookInput("claude-2.1.325-session-end"))).toEqual({
      exit: 0,
      stdout: "",
      stderr: "",
    });
  });
});

test("the window ends fifteen seconds before the program gives up", async () => {
  const scene = new Scene();
  const hooked = hook(scene, hookInput(QUESTION), {}, "--hold", "1h", "--timeout", "60s");
  const question = await waiting(scene.engine);
  expect(question).toMatchObject({ hold: { windowMs: 45_000 } });
  await scene.engine.answer(question.id, said("1"), ADA);
  await hooked;
});

describe("an answer in its undo window when the hold ends", () => {
  async function answeredLate(reply: { undoMs: number; thenMs: number }) {
    const scene = new Scene();
    const openEngine = () => Promise.resolve(answeredAsHoldEnds(scene, reply));
    return { scene, output: await unanswered(scene, hookInput(QUESTION), { openEngine }) };
  }

  test("is given to the call", async () => {
    const { scene, output } = await answeredLate({ undoMs: 5_000, thenMs: 5_000 });
    expect(decision(output)).toMatchObject({ permissionDecision: "allow" });
    const [question] = await scene.engine.listQuestions({ order: "newest", limit: 1 });
    expect(question).toMatchObject({ status: "answered", handover: { state: "given", witness: "hook" } });
  });

  test("is not waited for until the program gives up on its hook", async () => {
    const { scene, output } = await answeredLate({ undoMs: 60_000, thenMs: 11_000 });
    expect(decision(output)).toMatchObject({ permissionDecision: "defer" });
    expect(await waiting(scene.engine)).toMatchObject({ status: "pending", settling: { answer: { by: ADA } } });
  });
});

describe("a hook that is killed", () => {
  let child: ChildProcess | undefined;
  afterEach(() => void child?.kill("SIGKILL"));

  test("leaves its question waiting, and the next one finds it again", async () => {
    const home = hookHome();
    const engine = await openEngine({ store: { kind: "sqlite", file: join(home, "data", "askd.db") }, rules: ROOMY });
    try {
      const start = (): ChildProcess => {
        const argv = [resolve("bin", "askd"), "hook", "claude", "--hold", "60s"];
        const env = { PATH: process.env["PATH"], ASKD_HOME: home, ...HEADLESS };
        child = spawn(process.execPath, argv, { env, stdio: ["pipe", "pipe", "inherit"] });
        child.stdin?.end(JSON.stringify(hookInput(QUESTION)));
        return child;
      };
      const first = start();
      const { id } = await waiting(engine);
      const gone = new Promise((done) => first.once("close", done));
      first.kill("SIGKILL");
      await gone;
      expect((await engine.read(id)).question.status).toBe("pending");
      const second = start();
      let stdout = "";
      second.stdout?.setEncoding("utf8").on("data", (text: string) => (stdout += text));
      const ended = new Promise((done) => second.once("close", done));
      await engine.answer(id, said("1"), ADA);
      expect(await ended).toBe(0);
      expect(stdout).toContain('"permissionDecision":"allow"');
      expect(await engine.countQuestions("answered")).toBe(1);
      expect((await engine.verify()).problems).toEqual([]);
    } finally {
      await engine.stop();
    }
  });
});

describe("a hook that stands in settings", () => {
  test("keeps the question of a session without a person", async () => {
    const scene = new Scene();
    const hooked = hook(scene, hookInput(QUESTION), {}, "--standing");
    const question = await waiting(scene.engine);
    await scene.engine.answer(question.id, said("1"), ADA);
    expect(decision(await hooked)).toMatchObject({ permissionDecision: "allow" });
  });

  test.each([
    ["where a person sits", ATTENDED],
    ["where nobody says who sits there", {}],
    ["in a run, which brings a hook of its own", { ...HEADLESS, ASKD_RUN: "r_01jbz0000000000000000000rr" }],
  ])("has no opinion %s", async (_, env) => {
    const scene = new Scene();
    const said = await hook(scene, hookInput(QUESTION), { env }, "--standing");
    expect(said).toEqual({ exit: 0, stdout: "", stderr: "" });
    expect(await scene.store.countQuestions("pending")).toBe(0);
  });

  test("of Gemini CLI is there for runs only", async () => {
    const scene = new Scene();
    const said = await type(scene, ["hook", "gemini", "--standing"], { env: {} });
    expect(said).toEqual({ exit: 0, stdout: "", stderr: "" });
  });
});

describe("a call that needs approval", () => {
  const call = (id: string, tool: string, input: unknown, dir?: string) => ({
    session_id: "s-approve",
    hook_event_name: "PreToolUse",
    tool_name: tool,
    tool_use_id: id,
    tool_input: input,
    ...(dir !== undefined && { cwd: dir }),
  });

  test("shows the line numbers of the file as it is", async () => {
    const scene = new Scene();
    const dir = hookHome();
    writeFileSync(join(dir, "auth.ts"), "import x;\n\nexport const ok = verify(token);\n");
    const edit = { file_path: join(dir, "auth.ts"), old_string: "verify(token)", new_string: "true" };
    const hooked = hook(scene, call("t-1", "Edit", edit, dir));
    const { id } = await waiting(scene.engine);
    const { content } = await scene.engine.read(id);
    expect(content.context).toContain("@@ -3,1 +3,1 @@ 1 removed, 1 line added\n-export const ok = verify(token);");
    // The file changes while it waits: the same call is still the same question.
    writeFileSync(join(dir, "auth.ts"), "export const ok = verify(token);\n");
    await scene.pass(1_000);
    expect(decision(await hooked)).toMatchObject({ permissionDecision: "defer" });
    await scene.engine.answer(id, said("allow"), ADA);
    const again = await hook(scene, call("t-1", "Edit", edit, dir));
    expect(decision(again)).toMatchObject({ permissionDecision: "allow" });
  });

  test("runs with the command that the person changed, and again without asking for the rest of the run", async () => {
    const scene = new Scene();
    const hooked = hook(scene, call("t-1", "Bash", { command: "npm test", description: "Run" }));
    const first = await waiting(scene.engine);
    const change = { answer: undefined, items: { 1: { values: ["allow-changed"], text: "npm test -- --run" } } };
    await scene.engine.answer(first.id, said("", change), ADA);
    expect(decision(await hooked)).toMatchObject({
      permissionDecision: "allow",
      updatedInput: { command: "npm test -- --run", description: "Run" },
    });
    const second = hook(scene, call("t-2", "Bash", { command: "npm test" }));
    await scene.engine.answer((await waiting(scene.engine)).id, said("allow-run"), ADA);
    expect(decision(await second)).toMatchObject({ permissionDecision: "allow" });
    const third = decision(await hook(scene, call("t-3", "Bash", { command: "npm test", description: "Again" })));
    expect(third).toMatchObject({ permissionDecision: "allow" });
    expect(third["additionalContext"]).toContain("for the rest of the run");
    expect(await scene.engine.countQuestions("pending")).toBe(0);
  });
});
