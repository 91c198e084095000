import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { ADA } from "../../../../test/builders.ts";
import {
  ATTENDED,
  HEADLESS,
  OTHER,
  QUESTION,
  STARTED,
  decision,
  hook,
  hookHome,
  inputOf,
  unanswered,
  waiting,
} from "../../../../test/hooked.ts";
import { hookInput } from "../../../../test/hooks.ts";
import { Scene, said } from "../../../../test/scene.ts";
import { type } from "../../../../test/typed.ts";
import { Launch } from "../../../agents/runner/run-files.ts";
import type { ProcessLaunch } from "../../../agents/runner/process-launch.ts";
import type { ProcessWorld } from "../../process.ts";

let scene: Scene;
let home: string;
beforeEach(() => {
  scene = new Scene();
  home = hookHome();
});

/** This home, for a session without a person. */
const here = (env: Record<string, string> = {}) => ({ env: { ...HEADLESS, ...env, ASKD_HOME: home } });

/** The same with a process that was started otherwise. */
const startedAs = (over: Partial<ProcessLaunch>): Partial<ProcessWorld> => ({
  findStartedAs: () => Promise.resolve({ ...STARTED, ...over }),
});

/** The files kept for runs, and their permissions. */
function keptLaunches(): Array<{ run: string; mode: number; launch: Launch }> {
  const runs = join(home, "state", "runs");
  return (existsSync(runs) ? readdirSync(runs) : []).map((run) => {
    const file = join(runs, run, "env.json");
    return { run, mode: statSync(file).mode & 0o777, launch: Launch.parse(JSON.parse(readFileSync(file, "utf8"))) };
  });
}

describe("what it takes to resume a session that somebody else started", () => {
  test("is kept before it is parked, for its owner only: program, options, environment, permission mode", async () => {
    const input = hookInput(QUESTION, { permission_mode: "acceptEdits" });
    expect(decision(await unanswered(scene, input, here()))).toMatchObject({ permissionDecision: "defer" });
    const { run } = await scene.engine.read((await waiting(scene.engine)).id);
    expect(run).toMatchObject({ giveBack: "worker", status: "awaiting_input" });
    expect(keptLaunches()).toEqual([
      {
        run: run.id,
        mode: 0o600,
        launch: {
          agent: "claude",
          program: "/bin/sh",
          dir: "/repo",
          args: ["--model", "opus", "--add-dir", "../lib", "--permission-mode", "acceptEdits"],
          env: {
            HOME: "/home/ada",
            ANTHROPIC_API_KEY: "sk-1",
            ASKD_HOME: home,
            ASKD_STORE: `sqlite:${join(home, "data", "askd.db")}`,
          },
          options: { liveWindowMs: 1000 },
        },
      },
    ]);
  });

  test("is kept anew with every start, as the key may be another one", async () => {
    await unanswered(scene, hookInput(QUESTION), here());
    const started = startedAs({ env: { ...STARTED.env, ANTHROPIC_API_KEY: "sk-2" } });
    await hook(scene, hookInput(QUESTION), { ...here(), ...started });
    expect(keptLaunches().map(({ launch }) => launch.env["ANTHROPIC_API_KEY"])).toEqual(["sk-2"]);
  });

  test("is not left behind by a question that is refused", async () => {
    const first = hook(scene, hookInput(QUESTION), here());
    const { id, runId } = await waiting(scene.engine);
    const other = { tool_use_id: "toolu_2", tool_input: OTHER };
    expect(decision(await hook(scene, hookInput(QUESTION, other), here()))).toMatchObject({
      permissionDecision: "deny",
    });
    const secret = { questions: [{ question: "What is the password?", options: [] }] };
    await hook(scene, hookInput(QUESTION, { session_id: "another", tool_input: secret }), here());
    expect(keptLaunches().map(({ run }) => run)).toEqual([runId]);
    await scene.engine.answer(id, said("1"), ADA);
    await first;
  });

  test.each<[string, Partial<ProcessWorld>, Record<string, string>?]>([
    ["the system does not show the process", { findStartedAs: () => Promise.resolve(undefined) }],
    ["the program does not say its process", {}, { CLAUDE_PID: "" }],
    ["the questions are on another machine", {}, { ASKD_URL: "https://askd.example.com" }],
    ["the command line is not the one that was typed", startedAs({ argv: ["/bin/sh"] })],
    ["the program is gone", startedAs({ argv: ["/nowhere/claude", ...STARTED.argv.slice(1)] })],
    ["the session is not kept", startedAs({ argv: [...STARTED.argv, "--no-session-persistence"] })],
  ])("cannot be kept where %s: it is not parked, and nobody promises to resume it", async (_, more, env) => {
    const over = { ...here(env), ...more };
    const denied = decision(await unanswered(scene, hookInput(QUESTION), over));
    expect(denied).toMatchObject({ permissionDecision: "deny" });
    expect(denied["permissionDecisionReason"]).toContain("do the same again in a later turn");
    expect(denied["permissionDecisionReason"]).not.toContain("resumed");
    const { id } = await waiting(scene.engine);
    expect((await scene.engine.read(id)).run).toMatchObject({ giveBack: "poll", status: "awaiting_input" });
    expect(keptLaunches()).toEqual([]);
    const { run } = await scene.engine.answer(id, said("2"), ADA);
    expect(run.status).toBe("resuming");
    expect(await scene.jobs()).not.toContain("resume");
    const again = await hook(scene, hookInput(QUESTION, { tool_use_id: "toolu_2" }), over);
    expect(decision(again)).toMatchObject({ updatedInput: { answers: { "Which cache?": "Memcached" } } });
  });

  test("cannot be kept where nothing may be written; when it can be later on, the same session is parked", async () => {
    mkdirSync(join(home, "state"));
    writeFileSync(join(home, "state", "runs"), "not a directory");
    const denied = await unanswered(scene, hookInput(QUESTION), here());
    expect(decision(denied)).toMatchObject({ permissionDecision: "deny" });
    const { id, runId } = await waiting(scene.engine);
    await scene.engine.answer(id, said("2"), ADA);
    rmSync(join(home, "state", "runs"));
    await hook(scene, hookInput(QUESTION, { tool_use_id: "toolu_2" }), here());
    const other = hookInput(QUESTION, { tool_use_id: "toolu_3", tool_input: OTHER });
    expect(decision(await unanswered(scene, other, here()))).toMatchObject({ permissionDecision: "defer" });
    expect(await scene.engine.findRun(runId)).toMatchObject({ giveBack: "worker", status: "awaiting_input" });
    expect(keptLaunches().map(({ run }) => run)).toEqual([runId]);
  });
});

describe("the same question in a session that a person resumed, as another call,", () => {
  const asked = [{ question: "Which cache?", header: "Cache", options: [{ label: "Redis" }, { label: "Memcached" }] }];
  const gemini = { tool_input: { question: "Which cache?", options: ["Redis", "Memcached"] } };

  test.each<[string, string, Record<string, unknown>, Record<string, string>]>([
    ["claude", QUESTION, {}, ATTENDED],
    ["claude", QUESTION, {}, {}],
    ["codex", "codex-0.166.0-question", { tool_input: { questions: asked } }, {}],
    ["gemini", "gemini-0.61.0-question", gemini, {}],
  ])("finds the answer that was given meanwhile: %s", async (client, fixture, over, env) => {
    const call = (more: Record<string, unknown>) =>
      type(scene, ["hook", client, "--hold", "1s"], {
        stdin: inputOf(hookInput(fixture, { ...over, ...more })),
        env: { ...env, ASKD_HOME: home },
      });
    const first = call({});
    const { id } = await waiting(scene.engine);
    await scene.pass(1_000);
    await first;
    const { run } = await scene.engine.answer(id, said("2"), ADA);
    expect(run).toMatchObject({ status: "resuming", giveBack: "poll" });
    const { stdout } = await call({ tool_use_id: "call_of_another_day" });
    expect(stdout).toContain("Memcached");
    const { question, run: after } = await scene.engine.read(id);
    expect([question, after]).toMatchObject([{ handover: { state: "given" } }, { status: "completed" }]);
    expect(await scene.engine.listQuestions({ order: "oldest", limit: 5 })).toHaveLength(1);
  });
});
