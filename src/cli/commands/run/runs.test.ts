import { describe, expect, onTestFinished, test } from "vitest";
import { ADA, AGENT, IDS } from "../../../../test/builders.ts";
import { ConfigHome } from "../../../../test/config-home.ts";
import { MCP, Scene, said } from "../../../../test/scene.ts";
import { type } from "../../../../test/typed.ts";
import type { RunId } from "../../../core/id.ts";
import { later } from "../../../core/instant.ts";

const USED = { turns: 5, costUsd: 0.12, inputTokens: 2400, outputTokens: 310 };

async function use(scene: Scene, runId: RunId): Promise<void> {
  await scene.store.commit({ entries: [{ kind: "usage", id: runId, version: 0, body: USED }] });
}

/** A run whose agent asked and is gone. */
async function parked(scene: Scene, over: Parameters<Scene["startedRun"]>[0] = {}) {
  const run = await scene.startedRun(over);
  const asked = await scene.engine.ask(scene.input(), AGENT, { runId: run.id });
  await scene.engine.endRun(run.id, { status: "completed" }, AGENT);
  return asked;
}

describe("runs list", () => {
  test("shows state, agent, age, what was used and what is asked", async () => {
    const scene = new Scene();
    const { run } = await parked(scene);
    await use(scene, run.id);
    await scene.pass(60_000);
    await scene.startedRun({ name: "fix-auth-bug", agent: "codex" });
    expect((await type(scene, ["runs", "list"])).stdout).toBe(
      `#2  running         codex   just now                  fix-auth-bug
#1  awaiting_input  claude  1m ago    5 turns, $0.12  add-caching
    ❓ Redis or Memcached?
`,
    );
    expect((await type(scene, ["runs"])).stdout).toContain("fix-auth-bug");
  });

  test("finds runs by state, also in the words of others, by agent and by label", async () => {
    const scene = new Scene();
    await parked(scene, { name: "one", labels: ["night", "api"] });
    await scene.pass(1);
    await scene.startedRun({ name: "two", agent: "codex", labels: ["night"] });
    const names = async (...more: string[]): Promise<unknown> =>
      JSON.parse((await type(scene, ["runs", "list", "--json=name", ...more])).stdout);
    expect(await names("--status", "suspended")).toEqual([{ name: "one" }]);
    expect(await names("--status", "running,awaiting_input", "--limit", "1")).toEqual([{ name: "two" }]);
    expect(await names("--agent", "codex")).toEqual([{ name: "two" }]);
    expect(await names("--label", "night", "--label", "api")).toEqual([{ name: "one" }]);
    expect(await type(scene, ["runs", "list", "--status", "asleep"])).toMatchObject({ exit: 2 });
  });

  test("as JSON says what was used, and null where nothing was counted", async () => {
    const scene = new Scene();
    const run = await scene.startedRun();
    await scene.pass(1);
    await scene.startedRun({ name: "other" });
    await use(scene, run.id);
    const fields = "--json=number,turns,cost_usd,input_tokens,output_tokens,question";
    expect(JSON.parse((await type(scene, ["runs", "list", fields])).stdout)).toEqual([
      { number: 2, turns: null, cost_usd: null, input_tokens: null, output_tokens: null, question: null },
      { number: 1, turns: 5, cost_usd: 0.12, input_tokens: 2400, output_tokens: 310, question: null },
    ]);
  });
});

describe.each(["local", "remote"] as const)("a run that may have asked, on a %s store", (engines) => {
  test("is marked in every view", async () => {
    Scene.engines = engines;
    onTestFinished(() => void (Scene.engines = "local"));
    const scene = new Scene();
    const { id } = await scene.startedRun({ name: "fix-auth-bug" });
    const ended = await scene.engine.endRun(id, { status: "failed", reason: "agent_error" }, AGENT);
    await scene.store.commit({ runs: [{ ...ended, mayHaveAsked: "not closed" }] }); // as its worker writes it
    const said = "failed (agent_error, may have asked: see the log)";
    for (const command of [["status"], ["runs", "list"], ["show", "1"], ["tree", "--all"]]) {
      expect((await type(scene, command)).stdout).toContain(said);
    }
    expect((await type(scene, ["status"])).stdout).toContain("It may have asked: not closed. See the log: askd logs 1");
  });
});

describe.each(["local", "remote"] as const)("what fails for a run, on a %s store", (engines) => {
  test("is in status, for people and for programs", async () => {
    Scene.engines = engines;
    onTestFinished(() => void (Scene.engines = "local"));
    const scene = new Scene();
    const { id: runId } = await scene.startedRun({ name: "fix-auth-bug" });
    const failure = { why: "the disk is full", at: scene.now };
    const job = { key: "resume", kind: "resume", dueAt: later(scene.now, 4_000), tries: 3, runId, failure } as const;
    await scene.store.commit({ scheduled: [job] });
    expect((await type(scene, ["status"])).stdout).toContain(
      "FAILING:\n  #1 fix-auth-bug: resume failed 3 times, just now: the disk is full; next try in 4s. Look: askd doctor\n",
    );
    const { failing } = JSON.parse((await type(scene, ["status", "--json=failing"])).stdout);
    expect(failing).toEqual([
      {
        kind: "resume",
        run: 1,
        run_id: runId,
        question_id: null,
        tries: 3,
        why: "the disk is full",
        failed_at: scene.now,
        next_at: job.dueAt,
      },
    ]);
    expect((await type(scene, ["status", "--short"])).stdout).toBe("?0 ▶1\n");
  });
});

describe("what a run has used", () => {
  test("is in status and show", async () => {
    const scene = new Scene();
    const run = await scene.startedRun({ name: "fix-auth-bug" });
    await use(scene, run.id);
    expect((await type(scene, ["status"])).stdout).toContain("RUNNING:\n  #1 fix-auth-bug (5 turns, $0.12)\n");
    expect((await type(scene, ["show", "1"])).stdout).toContain("Turns: 5\nCost: $0.12\n");
    expect((await type(scene, ["show", "1", "--json=turns,cost_usd"])).stdout).toBe('{"turns":5,"cost_usd":0.12}\n');
    expect(JSON.parse((await type(scene, ["status", "--json=running"])).stdout)).toMatchObject({
      running: [{ turns: 5, output_tokens: 310 }],
    });
  });

  test("is the same over a server", async () => {
    Scene.engines = "remote";
    try {
      const scene = new Scene();
      const run = await scene.startedRun();
      await use(scene, run.id);
      expect((await type(scene, ["status"])).stdout).toContain("(5 turns, $0.12)");
    } finally {
      Scene.engines = "local";
    }
  });
});

describe("runs show", () => {
  test("says where the files of the run are", async () => {
    const scene = new Scene();
    await parked(scene, { host: "there" });
    const { stdout } = await type(scene, ["runs", "show", "1"]);
    expect(stdout).toContain("Status: awaiting_input\n");
    expect(stdout).toContain("Files: on there\n");
    expect(stdout).toContain("PENDING QUESTION");
  });
});

describe("runs resume", () => {
  test("takes up a run whose answer was only stored", async () => {
    const scene = new Scene();
    const { question } = await parked(scene);
    await type(scene, ["answer", question.id, "1", "--no-resume"]);
    expect((await type(scene, ["runs", "list", "--json=status"])).stdout).toBe('[{"status":"awaiting_input"}]\n');
    const { exit, stdout, stderr } = await type(scene, ["runs", "resume", "1"]);
    expect({ exit, stdout, stderr }).toEqual({
      exit: 0,
      stdout: "✓ #1 add-caching is resuming\n",
      stderr: "",
    });
  });

  test("is refused while the question waits, and says so", async () => {
    const scene = new Scene();
    await parked(scene);
    expect(await type(scene, ["runs", "resume", "1"])).toMatchObject({ exit: 6, stdout: "" });
  });
});

describe("runs cancel", () => {
  test("ends the run and its question, and a later answer comes too late", async () => {
    const scene = new Scene();
    const { question } = await parked(scene);
    const { exit, stdout } = await type(scene, ["runs", "cancel", "1", "-m", "not needed"]);
    expect({ exit, stdout }).toEqual({
      exit: 0,
      stdout: "✓ #1 add-caching is cancelled, and so is its question\n",
    });
    expect((await type(scene, ["answer", question.id, "1"])).exit).toBe(6);
    expect((await type(scene, ["answer", "1", "1"])).exit).toBe(6);
    expect((await type(scene, ["show", "1"])).stdout).toContain("Status: cancelled (not needed)\n");
    expect((await type(scene, ["runs", "cancel", "1"])).exit).toBe(6);
  });
});

describe("a run that is to go on", () => {
  test("has a worker started in the background where none runs", async () => {
    const scene = new Scene();
    const { question } = await parked(scene);
    const started: string[][] = [];
    const over = {
      isLocked: () => Promise.resolve(false),
      detach: async ({ argv }: { argv: readonly string[] }) => void started.push([...argv]),
    };
    const { stdout } = await type(scene, ["answer", question.id, "1"], over);
    expect(started).toEqual([["askd", "--store", expect.stringMatching(/^sqlite:/), "worker", "--idle", "5m"]]);
    expect(stdout).not.toContain("worker");
  });

  test("is left to a worker that a person starts where nothing may run in the background", async () => {
    const scene = new Scene();
    const { question } = await parked(scene);
    const over = { isLocked: () => Promise.resolve(false), env: { ASKD_NO_SERVICE: "1" } };
    const { exit, stderr } = await type(scene, ["answer", question.id, "1"], over);
    expect({ exit, stderr }).toEqual({ exit: 0, stderr: "Resume it with: askd worker\n" });
  });

  test("on another machine is none of ours", async () => {
    const scene = new Scene();
    const { question } = await parked(scene, { host: "there" });
    const over = { isLocked: () => Promise.resolve(false) };
    expect(await type(scene, ["answer", question.id, "1"], over)).toMatchObject({ exit: 0, stderr: "" });
  });
});

test("status shows turns and cost of a run that was completed today", async () => {
  const scene = new Scene();
  const run = await scene.startedRun();
  await use(scene, run.id);
  await scene.engine.endRun(run.id, { status: "completed" }, AGENT);
  expect((await type(scene, ["status"])).stdout).toContain("COMPLETED TODAY:\n  #1 add-caching ✓ (5 turns, $0.12)\n");
});

test.each([
  ["its cost", { turns: 3 }, "3 turns, cost unknown"],
  ["its turns", { costUsd: 0.5 }, "turns unknown, $0.50"],
  ["either", { inputTokens: 12 }, "turns unknown, cost unknown"],
  ["nothing but zeros", { turns: 0, costUsd: 0 }, "0 turns, $0.00"],
])("status and runs list say what is unknown of an agent that does not say %s", async (_, body, used) => {
  const scene = new Scene();
  const run = await scene.startedRun();
  await scene.store.commit({ entries: [{ kind: "usage", id: run.id, version: 0, body }] });
  expect((await type(scene, ["runs", "list"])).stdout).toContain(`  ${used}  add-caching`);
  expect((await type(scene, ["status"])).stdout).toContain(`RUNNING:\n  #1 add-caching (${used})\n`);
  await scene.engine.endRun(run.id, { status: "completed" }, AGENT);
  expect((await type(scene, ["status"])).stdout).toContain(`#1 add-caching ✓ (${used})\n`);
});

test("show says that turns and cost are unknown where the agent does not say them", async () => {
  const scene = new Scene();
  const run = await scene.startedRun();
  await scene.store.commit({ entries: [{ kind: "usage", id: run.id, version: 0, body: { inputTokens: 12 } }] });
  expect((await type(scene, ["show", "1"])).stdout).toContain("Turns: unknown\nCost: unknown\n");
  expect((await type(scene, ["show", "1", "--json=turns,cost_usd"])).stdout).toBe('{"turns":null,"cost_usd":null}\n');
});

test("the issue of a question is in show and in JSON", async () => {
  const scene = new Scene();
  const run = await scene.startedRun();
  await scene.engine.ask(scene.input({ issue: { repo: "acme/api", number: 123 } }), AGENT, { runId: run.id });
  expect((await type(scene, ["show", "1"])).stdout).toContain("Issue: acme/api#123\n");
  expect((await type(scene, ["list", "--json=issue"])).stdout).toBe('[{"issue":{"repo":"acme/api","number":123}}]\n');
});

test("a completed run is not resumed, and the refusal says what to type", async () => {
  const scene = new Scene();
  const run = await scene.startedRun();
  await scene.engine.endRun(run.id, { status: "completed" }, AGENT);
  expect(await type(scene, ["runs", "resume", "1"])).toEqual({
    exit: 2,
    stdout: "",
    stderr: expect.stringMatching(/#1 has nothing to resume with \(it is completed\)[^]*askd takeover 1/),
  });
  expect((await scene.engine.findRun(run.id))?.status).toBe("completed");
});

describe("a run whose worker is gone", () => {
  const LOOKS = [
    ["status"],
    ["list"],
    ["show", "1"],
    ["runs", "list"],
    ["runs", "show", "1"],
    ["tree"],
    ["stats"],
    ["audit"],
    ["check", "1"],
    ["watch", "--since", "1h", "--json", "--limit", "1"],
  ];

  /** An answered run that waits, or a running one, without a worker for some time. */
  async function left(status: "resuming" | "running"): Promise<Scene> {
    const scene = new Scene();
    const { question } = await parked(scene);
    await scene.engine.answer(question.id, said("1"), ADA);
    const run = await scene.engine.findRun(question.runId);
    if (run && status === "running") await scene.store.commit({ runs: [{ ...run, status, worker: IDS.worker() }] });
    await scene.pass(60_000);
    return scene;
  }

  test.each(LOOKS.flatMap((argv) => [[argv, "resuming"] as const, [argv, "running"] as const]))(
    "is noticed by %j while it is %s, and gets a new one",
    async (argv, status) => {
      const scene = await left(status);
      const started: unknown[] = [];
      const over = {
        isLocked: () => Promise.resolve(false),
        detach: async (child: object) => void started.push(child),
      };
      const { exit, stderr } = await type(scene, argv, over);
      expect({ exit, stderr, started: started.length }).toEqual({
        exit: 0,
        stderr: "The worker of #1 was gone; started a new one.\n",
        started: 1,
      });
    },
  );

  const OTHERS = [
    ["logs", "1"],
    ["logs", "1", "-f"],
    ["open", "--print"],
    ["channels"],
    ["next"],
    ["answer", "2", "1"],
  ];
  test.each(OTHERS.map((argv) => [argv]))("is noticed by %j", async (argv) => {
    const scene = await left("running");
    await scene.ask({}, MCP); // of another run, for those that answer
    let shown = "";
    const terminal = { write: (text: string) => void (shown += text), isTty: true, columns: 80, rows: 24 };
    const stdin = { isTty: true, readAll: () => Promise.resolve(""), readLine: () => Promise.resolve(":q") };
    const { stderr } = await type(scene, argv, {
      ...(argv[0] === "next" && { stdin, stdout: terminal, stderr: terminal, env: { TERM: "dumb" } }),
      isLocked: () => Promise.resolve(false),
      detach: () => Promise.resolve(),
      findServer: () => Promise.resolve("http://127.0.0.1:4319"),
    });
    expect(stderr + shown).toContain("The worker of #1 was gone; started a new one.\n");
  });

  test("is noticed behind more than a page of runs that are younger", async () => {
    const scene = await left("resuming");
    for (let count = 0; count < 100; count += 1) await scene.startedRun({ host: "elsewhere" });
    const over = { isLocked: () => Promise.resolve(false), env: { ASKD_NO_SERVICE: "1" } };
    expect((await type(scene, ["status"], over)).stderr).toContain("#1 cannot go on without one");
  });

  test.each([[["status"]], [["stats"]], [["watch", "--since", "1h", "--json", "--limit", "1"]]])(
    "is noticed by %j over a server, where its machine is silent",
    async (argv) => {
      const { exit, stderr } = await type(await left("running"), argv, { env: { ASKD_URL: "http://127.0.0.1:4319" } });
      expect({ exit, stderr }).toEqual({
        exit: 0,
        stderr: "#1 waits for here, never heard of. Run there: askd worker\n",
      });
    },
  );

  test("is left to a person where nothing may run in the background, and to a worker that was just started", async () => {
    const over = { isLocked: () => Promise.resolve(false), env: { ASKD_NO_SERVICE: "1" } };
    const scene = await left("resuming");
    expect((await type(scene, ["status"], over)).stderr).toBe(
      "No worker runs on this machine, and #1 cannot go on without one. Start it with: askd worker\n",
    );
    const fresh = new Scene();
    const { question } = await parked(fresh);
    await fresh.engine.answer(question.id, said("1"), ADA);
    expect((await type(fresh, ["show", "1"], over)).stderr).toBe("");
  });
});

test.each([
  ["max_turns = 3", "The setting max_turns"],
  ["budget = 2.5", "The setting budget"],
])("run refuses the setting %s for an agent that has no such limit", async (line, said) => {
  const home = new ConfigHome();
  home.write(home.userFile, `[agents.codex]\n${line}\n`);
  expect(
    await type(new Scene(), ["run", "--agent", "codex", "Do it."], { cwd: home.project, homeDir: home.home }),
  ).toMatchObject({
    exit: 2,
    stderr: expect.stringContaining(`${said} cannot be kept: the agent "codex" has no such limit`),
  });
});

test.each(["--budget", "--max-turns"])("run refuses %s for an agent that has no such limit", async (flag) => {
  expect(await type(new Scene(), ["run", flag, "2", "--", "codex", "exec", "Do it."])).toMatchObject({
    exit: 2,
    stderr: expect.stringContaining(`${flag} cannot be kept: the agent "codex" has no such limit`),
  });
});

test("runs follow promises news only where a channel could bring them", async () => {
  const told: string[] = [];
  for (const reach of [[], [{ name: "ntfy", person: "ada", isPersonal: false }]]) {
    const scene = new Scene({ rules: { reach } });
    const run = await scene.startedRun();
    const { exit, stdout, stderr } = await type(scene, ["runs", "follow", String(run.number)]);
    expect(exit).toBe(0);
    told.push(`${stdout}${stderr}`);
  }
  expect(told[0]).toContain("no channel is configured, so nobody is told yet");
  expect(told[1]).toContain("you hear how it ends");
});
