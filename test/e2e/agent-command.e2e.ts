import { spawn } from "node:child_process";
import { closeSync, mkdirSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Agent, Evidence, Start, Task } from "../../src/agents/agent.ts";
import { claude } from "../../src/agents/claude/claude.ts";
import { codex } from "../../src/agents/codex/codex.ts";
import { gemini } from "../../src/agents/gemini/gemini.ts";
import { opencode } from "../../src/agents/opencode/opencode.ts";
import { OutputState } from "../../src/agents/runner/output-state.ts";
import { AGENTS } from "./agent.ts";
import { PROGRAMS, programFile } from "./install.ts";
import { Stage } from "./stage.ts";

const LIMIT_MS = 60_000;
const ANSWER_ID = "a_01jbz0000000000000000000aa";
const OTHER_ID = "a_01jbz0000000000000000000bb";

/** What a person would type behind the program's name. */
const TYPED = {
  claude: { agent: claude, args: ["-p"] },
  codex: { agent: codex, args: ["exec", "--skip-git-repo-check", "-s", "read-only"] },
  gemini: { agent: gemini, args: ["-m", "gemini-2.5-pro", "-p"] },
  opencode: { agent: opencode, args: ["run", "-m", "mock/mock-1"] },
} as const;
const script = (...says: string[]) => `@@mock ${JSON.stringify(says.map((say) => ({ say })))}`;

let stage: Stage;
beforeEach(() => {
  stage = new Stage();
});
afterEach(() => stage.close());

/** A home, a model and a run directory for one agent, and the task that its first arguments make. */
async function settle(program: keyof typeof TYPED, prompt: string): Promise<Task> {
  const { agent, args } = TYPED[program];
  const [home, dir, runDir] = ["home", "repo", "run"].map((name) => join(stage.root, name)) as [string, string, string];
  for (const folder of [home, dir, runDir]) mkdirSync(folder, { recursive: true, mode: 0o700 });
  const { env } = AGENTS[program]({ home, dir, modelUrl: await stage.startModel() }, stage.stdio(), "");
  const own = { PATH: process.env["PATH"], HOME: home, TERM: "dumb", LANG: "C.UTF-8", SHELL: "/bin/sh" };
  return {
    runId: "r_01jbz0000000000000000000rr",
    epoch: 1,
    startDir: runDir,
    dir,
    program: programFile(program),
    ...agent.parseArgs([...args, prompt]),
    env: { ...own, ...env, ASKD_HOME: join(stage.root, "askd") },
    version: PROGRAMS[program].version,
    askd: [process.execPath, resolve("bin", "askd")],
    token: undefined,
    promptTool: undefined,
    resumeWith: undefined,
    liveWindowMs: 30_000,
    maxTurns: undefined,
    budgetUsd: undefined,
  };
}

/** Runs a command to its end, its input and output being files, and reads what it wrote. */
async function run(agent: Agent, task: Task, start: Start): Promise<OutputState & { exitCode: number | null }> {
  for (const { name, text } of start.files) writeFileSync(join(task.startDir, name), text, { mode: 0o600 });
  const [input, output, errors] = ["in", "out", "err"].map((name) => join(task.startDir, name)) as [
    string,
    string,
    string,
  ];
  writeFileSync(input, start.stdin ?? "");
  const files = [openSync(input, "r"), openSync(output, "w"), openSync(errors, "w")];
  const [file = "", ...args] = start.argv;
  const child = spawn(file, args, { cwd: task.dir, env: { ...task.env, ...start.env }, stdio: files });
  const timer = setTimeout(() => child.kill("SIGKILL"), LIMIT_MS);
  const exitCode = await new Promise<number | null>((done, fail) => child.once("error", fail).once("exit", done));
  clearTimeout(timer);
  for (const open of files) closeSync(open);
  const reading = new OutputState();
  for (const line of readFileSync(output, "utf8").split("\n")) reading.take(agent.read(line));
  reading.end();
  if (exitCode !== 0) throw new Error(`${readFileSync(output, "utf8")}\n${readFileSync(errors, "utf8")}`);
  return Object.assign(reading, { exitCode });
}

describe.each(Object.keys(TYPED) as Array<keyof typeof TYPED>)("%s", (program) => {
  const { agent } = TYPED[program];

  test("is started with a built command line, resumed with a message, and its record proves the message", async () => {
    const task = await settle(program, `Say "hello" --now.\n${script("Tools: {{tools}}")}`);
    const start = agent.start(task);
    const first = await run(agent, task, start);
    expect(first.ended).toEqual({ status: "completed" });
    expect(first.session).toBeTruthy();
    if (start.session !== undefined) expect(first.session).toBe(start.session);
    // Gemini CLI takes settings only from directories that nobody else may write to; this one lies in /tmp.
    if (program !== "gemini") expect(first.lastWords).toMatch(/^Tools: .*ask_human/);
    expect(first.warnings.filter((text) => !text.startsWith("Model metadata"))).toEqual([]);

    const session = first.session ?? "";
    const evidence: Evidence = { session, dir: task.dir, env: task.env, answerId: ANSWER_ID, callId: undefined };
    expect(await agent.witness(evidence)).toBe("absent");
    const text = `-- A person answered "Redis".\nRecorded as ${ANSWER_ID}.\n${script("History:\n{{history}}")}`;
    const second = await run(agent, task, agent.resume({ ...task, epoch: 2, session }, { by: "message", text }));
    expect(second.ended).toEqual({ status: "completed" });
    expect(second.session).toBe(session);
    expect(second.lastWords).toMatch(/Say "hello" --now\..*assistant: .*A person answered "Redis"\./s);

    expect(await agent.witness(evidence)).toBe("given");
    expect(await agent.witness({ ...evidence, answerId: OTHER_ID })).toBe("absent");
    expect(await agent.witness({ ...evidence, session: "00000000-0000-4000-8000-000000000000" })).toBe("unknown");
    expect(await agent.witness({ ...evidence, env: { HOME: join(stage.root, "nowhere") } })).toBe("unknown");
  });
});

test("claude stops at its own question, is resumed at that call, and its record proves the result", async () => {
  const question = { question: "Which cache?", header: "Cache", multiSelect: false };
  const options = ["Redis", "Memcached"].map((label) => ({ label, description: label }));
  const steps = [
    { say: "I ask.", call: "AskUserQuestion", input: { questions: [{ ...question, options }] } },
    { say: "Final: {{result}}" },
  ];
  const settled = await settle("claude", `Do it. @@mock ${JSON.stringify(steps)}`);
  const answer = join(stage.root, "answer");
  const askd = [process.execPath, resolve("test", "agents", "gate.mjs")];
  const task: Task = { ...settled, askd, env: { ...settled.env, GATE_ANSWER: answer } };

  const first = await run(claude, task, claude.start(task));
  expect(first.deferred).toMatchObject({ name: "AskUserQuestion", input: { questions: [question] } });
  const [session = "", callId = ""] = [first.session, first.deferred?.callId];
  const evidence: Evidence = { session, dir: task.dir, env: task.env, answerId: OTHER_ID, callId };
  expect(await claude.witness(evidence)).toBe("absent");

  writeFileSync(answer, "Memcached");
  const again = claude.resume({ ...task, epoch: 2, session }, { by: "call", callId });
  const second = await run(claude, task, again);
  expect(second.deferred).toBeUndefined();
  expect(second.lastWords).toMatch(/^Final: .*"Which cache\?"="Memcached"/);
  expect(await claude.witness(evidence)).toBe("given");
  expect(await claude.witness({ ...evidence, callId: "toolu_other" })).toBe("absent");
});
