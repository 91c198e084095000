import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ADA, AGENT, IDS } from "../../../test/builders.ts";
import { type RunScene, aRunScene, until } from "../../../test/run-dir.ts";
import { SCRIPT, Scene, said } from "../../../test/scene.ts";
import { SYSTEM } from "../../core/people/actor.ts";
import { claimRun } from "../../core/run/run-ownership.ts";

import type { QuestionId } from "../../core/id.ts";
import { type Question, isPending } from "../../core/question/question.ts";
import type { Rules } from "../../core/rules.ts";
import { Decider } from "../../engine/decide.ts";
import type { Agent } from "../agent.ts";
import { command } from "../command/command.ts";
import { opencode } from "../opencode/opencode.ts";
import { Follower } from "./follower.ts";
import { buildResume } from "./resume-message.ts";
import type { Launch } from "./run-files.ts";

const WORKER = IDS.worker();

/** A run that this worker has taken up. */
async function aTakenRun(agent: Agent = command, options: Launch["options"] = {}, over: Partial<Rules> = {}) {
  const files = await aRunScene();
  const scene = new Scene({ rules: over });
  const { store, rules, engine } = scene;
  const notes: string[] = [];
  const decider = new Decider({ store, rules, ids: IDS, now: () => scene.now });
  const take = () => decider.changeRun(files.runId, SYSTEM, (read, at) => claimRun(read, { worker: WORKER }, at));
  await engine.createRun({ id: files.runId, agent: agent.name, host: "here", giveBack: "worker" }, AGENT);
  await take();
  const follow = async (epoch: number): Promise<void> => {
    const launch = { agent: agent.name, program: "/bin/sh", args: [], dir: files.dir, env: {}, options };
    await new Follower({
      runId: files.runId,
      runDir: files.runDir,
      by: { worker: WORKER, epoch },
      agent,
      launch,
      engine,
      work: { store, decider },
      rules,
      note: (text) => notes.push(text),
      leave: new AbortController().signal,
    }).follow();
  };
  return { files, scene, take, follow, notes };
}

/** A run of a command, with a question that was answered while it ran. */
async function aCarriedRun() {
  const taken = await aTakenRun();
  const { engine } = taken.scene;
  const { question } = await engine.ask(taken.scene.input({}, SCRIPT), AGENT, { runId: taken.files.runId, epoch: 1 });
  await engine.answer(question.id, said("Redis"), ADA);
  return { ...taken, id: question.id };
}

async function stateOf({ scene, files, id }: { scene: Scene; files: RunScene; id: QuestionId }) {
  const { question, run } = await scene.engine.read(id);
  const handover = question.status === "pending" ? undefined : question.handover.state;
  return { run: run.status, worker: run.worker, handover, id: files.runId === run.id };
}

test("an answer that comes while a command ends was not given to it: it is started again with it", async () => {
  const carried = await aCarriedRun();
  await carried.files.start("exit 0");
  await carried.follow(1);
  expect(await stateOf(carried)).toMatchObject({ run: "resuming", worker: undefined, handover: "owed" });
});

test("a command that was killed has not taken what it was started with; one that ended has", async () => {
  const carried = await aCarriedRun();
  await carried.files.start("exit 0");
  await carried.follow(1);
  await carried.take();
  await carried.files.start("kill -9 $$", { epoch: 2 });
  await carried.follow(2);
  expect(await stateOf(carried)).toMatchObject({ run: "resuming", worker: undefined, handover: "handing" });
  await carried.take();
  await carried.files.start("exit 0", { epoch: 3 });
  await carried.follow(3);
  expect(await stateOf(carried)).toMatchObject({ run: "completed", worker: undefined, handover: "given" });
});

test("an answer that was corrected while its command was starting is given with the end of that command", async () => {
  const carried = await aCarriedRun();
  await carried.files.start("exit 0");
  await carried.follow(1);
  await carried.take();
  await carried.scene.engine.amend(carried.id, "Memcached after all", ADA);
  await carried.files.start("exit 3", { epoch: 2 });
  await carried.follow(2);
  const { question, run } = await carried.scene.engine.read(carried.id);
  expect(question).toMatchObject({ handover: { state: "given" }, amendments: [{ handover: { state: "owed" } }] });
  expect(run.status).toBe("resuming");
});

test("the first words of an agent show that it has read an answer, and not that it has used a permission", async () => {
  const agent: Agent = {
    ...command,
    program: "claude",
    witness: () => Promise.resolve("given"),
    read: (line) => [
      { kind: "session", session: "s1" },
      { kind: "text", text: line, isPiece: false },
    ],
  };
  const { files, scene, take, follow } = await aTakenRun(agent);
  const { engine } = scene;
  const asks = [{ kind: "approval", tool: { name: "Bash", input: { command: "make" } } }, {}];
  const asked: QuestionId[] = [];
  for (const raw of asks) {
    const { question } = await engine.ask(scene.input(raw), AGENT, { runId: files.runId, epoch: 1 });
    await engine.answer(question.id, said(raw.kind ? "allow" : "Redis"), ADA);
    asked.push(question.id);
  }
  await files.start("exit 0");
  await follow(1);
  await take();
  await files.start(`echo hello; while [ ! -e '${files.dir}/gate' ]; do sleep 0.05; done`, { epoch: 2 });
  const followed = follow(2);
  const stateOfAsked = async (nth: number) => (await engine.read(asked[nth]!)).question;
  await until("the answer is given", async () => isGivenNow(await stateOfAsked(1)));
  expect(await stateOfAsked(0)).toMatchObject({ handover: { state: "handing", by: "start" } });
  writeFileSync(join(files.dir, "gate"), "");
  await followed;
});

function isGivenNow(question: Question): boolean {
  return !isPending(question) && question.handover.state === "given";
}

test.each([
  ["a call that is over has used it", false, "given", "completed"],
  ["a call that was put off comes again for it", true, "handing", "resuming"],
])("an approval that a hook gave to a call: %s", async (_, isPutOff, handover, status) => {
  // The result of such a call names no answer, and of one that failed nobody sees that it is its result.
  const agent: Agent = {
    ...command,
    program: "claude",
    witness: () => Promise.resolve("absent"),
    isPutOff: () => Promise.resolve(isPutOff),
    read: (line) => [{ kind: "session", session: line }],
  };
  const { files, scene, follow } = await aTakenRun(agent);
  const { engine } = scene;
  const tool = { name: "Bash", input: { command: "make" } };
  const raw = { kind: "approval", key: "s1:call", tool };
  const { question } = await engine.ask(scene.input(raw, { via: "hook" }), AGENT, { runId: files.runId, epoch: 1 });
  await engine.answer(question.id, said("allow"), ADA);
  await engine.handOver(question.id, 1);
  await files.start("echo s1");
  await follow(1);
  const read = await engine.read(question.id);
  expect(read.question).toMatchObject({ handover: { state: handover } });
  expect(read.run.status).toBe(status);
});

test("who slept while another worker took over changes nothing when the agent is gone", async () => {
  const carried = await aCarriedRun();
  await carried.files.start("exit 0");
  const run = await carried.scene.engine.findRun(carried.files.runId);
  if (run) await carried.scene.store.commit({ runs: [{ ...run, worker: IDS.worker() }] });
  await carried.follow(1);
  expect(await stateOf(carried)).toMatchObject({ run: "running", handover: "owed" });
});

test("a command that repeats an answer asks nothing with it, and what it asks itself is asked", async () => {
  const carried = await aCarriedRun();
  const { engine } = carried.scene;
  const mark = (question: string): string => `<<ASK_HUMAN>>\n{"question": "${question}"}\n<</ASK_HUMAN>>`;
  const result = `{"status": "needs_input", "question": "Give me root?"}`;
  await engine.amend(carried.id, `Look:\n${mark("Give me root?")}`, ADA);
  await engine.amend(carried.id, result, ADA);
  const asked = async (): Promise<string[]> =>
    (await engine.listQuestions({ runId: carried.files.runId, order: "oldest", limit: 10 }))
      .map(({ title }) => title)
      .toSorted();
  await carried.files.start("cat", { stdin: `You said:\n${mark("Give me root?")}\n${result}\n` });
  await carried.follow(1);
  expect(await asked()).toEqual(["Redis or Memcached?"]);
  await carried.take();
  await carried.files.start("cat", {
    epoch: 2,
    stdin: `${mark("Give me root?")}\nNow I ask:\n${mark("Which port?")}\n`,
  });
  await carried.follow(2);
  expect(await asked()).toEqual(["Redis or Memcached?", "Which port?"]);
});

test.each([
  ["a marker", '<<ASK_HUMAN>>\n{"question": "Which port?", "confidence": 20}\n<</ASK_HUMAN>>\n'],
  ["its result", '{"status": "needs_input", "question": "Which port?", "confidence": 20}\n'],
])("a command that asks by %s and is too unsure is blocked, whatever it says then", async (_what, stdin) => {
  const taken = await aTakenRun(command, {}, { confidence: { act: 0.9, ask: 0.5, below: "block" } });
  await taken.files.start("cat", { stdin });
  await taken.follow(1);
  const run = await taken.scene.engine.findRun(taken.files.runId);
  expect(run).toMatchObject({ status: "blocked", reason: "low_confidence", asked: 1 });
  expect(run?.worker).toBeUndefined();
  expect((await taken.scene.engine.verify()).problems).toEqual([]);
});

test.each<[string, Launch["options"], string]>([
  ["turns", { maxTurns: 2 }, "error_max_turns"],
  ["dollars", { budgetUsd: 0.015 }, "error_max_budget_usd"],
])("an agent without a limit of its own is ended when its %s are used up", async (_what, options, reason) => {
  const { files, scene, follow } = await aTakenRun(opencode, options);
  const step = JSON.stringify({ type: "step_finish", sessionID: "s", part: { reason: "tool-calls", cost: 0.01 } });
  await files.start(`echo '${step}'; sleep 0.3; echo '${step}'; sleep 60; echo '${step}'`);
  await follow(1);
  expect(await scene.engine.findRun(files.runId)).toMatchObject({ status: "failed", reason });
  expect(await scene.engine.usageOf([files.runId])).toEqual([
    { runId: files.runId, turns: 2, costUsd: 0.02, inputTokens: 0, outputTokens: 0 },
  ]);
});

test.each<[string, Launch["options"], string]>([
  ["turns", { maxTurns: 3 }, "error_max_turns"],
  ["dollars", { budgetUsd: 0.025 }, "error_max_budget_usd"],
])("the %s of an earlier start count for an agent without a limit of its own", async (_what, options, reason) => {
  const { files, scene, take, follow } = await aTakenRun(opencode, options);
  const step = (why: string) =>
    `echo '${JSON.stringify({ type: "step_finish", sessionID: "s", part: { reason: why, cost: 0.01 } })}'`;
  const asks = JSON.stringify({ type: "text", sessionID: "s", part: { text: mark("Which port?") } });
  await files.start(`${step("tool-calls")}; echo '${asks}'; ${step("stop")}`);
  await follow(1);
  const { pendingId } = (await scene.engine.findRun(files.runId)) ?? {};
  await scene.engine.answer(pendingId!, said("6380"), ADA);
  await take();
  await scene.engine.given(pendingId!, "transcript");
  await files.start(`${step("tool-calls")}; sleep 60`, { epoch: 2 });
  await follow(2);
  expect(await scene.engine.findRun(files.runId)).toMatchObject({ status: "failed", reason });
  expect(await scene.engine.usageOf([files.runId])).toMatchObject([{ turns: 3, costUsd: 0.03 }]);
});

const mark = (question: string): string => `<<ASK_HUMAN>>{"question": "${question}"}<</ASK_HUMAN>>`;
const needsInput = (question: string): string => JSON.stringify({ status: "needs_input", question });

test("a second question of one start is said to be unasked, to people and to the agent", async () => {
  const { files, scene, follow, notes } = await aTakenRun();
  await files.start("cat", {
    stdin: `${[mark("Which port?"), mark("Which host?"), mark("Which port?")].join("\n")}\n`,
  });
  await follow(1);
  const said = expect.stringContaining('not "Which host?"');
  const run = await scene.engine.findRun(files.runId);
  expect(run).toMatchObject({ status: "awaiting_input", asked: 1, mayHaveAsked: said });
  expect(notes).toContainEqual(said);
  const launch = { agent: "command", program: "/bin/sh", args: [], dir: files.dir, env: {}, options: {} };
  const told = await buildResume(run!, { agent: command, launch, runDir: files.runDir }, { delimiter: "d", reads: [] });
  expect(told).toMatchObject({ text: expect.stringContaining('Nobody was asked these:\n- "Which host?"') });
});

const BROKEN_HOST = '<<ASK_HUMAN>>{"question": Which host?}<</ASK_HUMAN>>';
const UNCLOSED_HOST = '<<ASK_HUMAN>>{"question": "Which host?"';
const BROKEN_RESULT = '{"status": "needs_input", question: "Which host?"}';

test.each<[string, string, RegExp]>([
  ["a broken marker before it", `${BROKEN_HOST}\n${mark("Which port?")}`, /^<<ASK_HUMAN>> holds no valid JSON/],
  ["a broken marker after it", `${mark("Which port?")}\n${BROKEN_HOST}`, /^<<ASK_HUMAN>> holds no valid JSON/],
  ["an unclosed marker before it", `${UNCLOSED_HOST}\n${mark("Which port?")}`, /^<<ASK_HUMAN>> is not closed/],
  ["an unclosed marker after it", `${mark("Which port?")}\n${UNCLOSED_HOST}`, /^<<ASK_HUMAN>> is not closed/],
  [
    "a broken result after it",
    `${mark("Which port?")}\n${BROKEN_RESULT}`,
    /^The result needs input and cannot be read/,
  ],
  ["a broken marker before a result", `${BROKEN_HOST}\n${needsInput("Which port?")}`, /^<<ASK_HUMAN>> holds no valid/],
  [
    "a broken marker and a readable one that came too late",
    [mark("Which port?"), BROKEN_HOST, mark("Which user?")].join("\n"),
    /not "Which user\?"; <<ASK_HUMAN>> holds no valid JSON/,
  ],
])("a question that cannot be read leaves its mark beside one that was asked: %s", async (_, out, mayHaveAsked) => {
  const { files, scene, follow } = await aTakenRun();
  await files.start("cat", { stdin: `${out}\n` });
  await follow(1);
  const run = await scene.engine.findRun(files.runId);
  expect(run).toMatchObject({ status: "awaiting_input", asked: 1 });
  expect(run?.mayHaveAsked).toMatch(mayHaveAsked);
});

test.each([
  ["a marker after it", `${BROKEN_HOST}\n${mark("Which host?")}`],
  ["a marker before it", `${mark("Which host?")}\n${BROKEN_HOST}`],
  ["a marker that was closed this time", `${UNCLOSED_HOST}\n${mark("Which host?")}`],
  ["a result", `${BROKEN_HOST}\n${needsInput("Which host?")}`],
])("a question that cannot be read leaves no mark if it is asked readably: by %s", async (_, out) => {
  const { files, scene, follow } = await aTakenRun();
  await files.start("cat", { stdin: `${out}\n` });
  await follow(1);
  const run = await scene.engine.findRun(files.runId);
  expect(run).toMatchObject({ status: "awaiting_input", asked: 1 });
  expect(run?.mayHaveAsked).toBeUndefined();
});

/** The message that the agent would get if it were started now. */
async function nextMessage({ files, scene }: Awaited<ReturnType<typeof aTakenRun>>): Promise<string> {
  const run = await scene.engine.findRun(files.runId);
  const launch = { agent: "command", program: "/bin/sh", args: [], dir: files.dir, env: {}, options: {} };
  const told = await buildResume(run!, { agent: command, launch, runDir: files.runDir }, { delimiter: "d", reads: [] });
  return told.by === "message" ? told.text : "";
}

const UNASKED = 'Nobody was asked these:\n- "Which host?"\n';
const RESULT = needsInput("Which host?");

test.each<[string, boolean, string]>([
  ["its call, then a marker", true, mark("Which host?")],
  ["its call, then a result", true, RESULT],
  ["a marker, then a result", false, `${mark("Which port?")}\n${RESULT}`],
])(
  "of two questions by different doors, the second is told to the agent with the answer: %s",
  async (_, calls, out) => {
    const taken = await aTakenRun();
    const { files, scene, follow, take } = taken;
    if (calls) {
      const input = scene.input({ question: "Which port?" }, SCRIPT);
      await scene.engine.ask(input, AGENT, { runId: files.runId, epoch: 1 });
    }
    await files.start("cat", { stdin: `${out}\n` });
    await follow(1);
    const parked = await scene.engine.findRun(files.runId);
    const marked = expect.stringContaining('not "Which host?"');
    expect(parked).toMatchObject({ status: "awaiting_input", asked: 1, mayHaveAsked: marked });
    await scene.engine.answer(parked!.pendingId!, said("1"), ADA);
    expect((await take()).mayHaveAsked).toEqual(marked);
    expect(await nextMessage(taken)).toContain(UNASKED);
    // It is killed before anything shows that it read its message, so it is told again.
    await files.start("kill -9 $$", { epoch: 2 });
    await follow(2);
    expect((await take()).mayHaveAsked).toEqual(marked);
    expect(await nextMessage(taken)).toContain(UNASKED);
    await files.start("exit 0", { epoch: 3 });
    await follow(3);
    expect(await scene.engine.findRun(files.runId)).toMatchObject({ status: "completed" });
    expect((await scene.engine.findRun(files.runId))?.mayHaveAsked).toBeUndefined();
    expect(await nextMessage(taken)).not.toContain("Nobody was asked");
  },
);

test("the same question by two doors is asked once, and nothing is said to be unasked", async () => {
  const taken = await aTakenRun();
  const { files, scene, follow } = taken;
  const input = scene.input({ question: "Which host?" }, SCRIPT);
  await scene.engine.ask(input, AGENT, { runId: files.runId, epoch: 1 });
  await files.start("cat", { stdin: `${mark("Which host?")}\n${RESULT}\n` });
  await follow(1);
  expect((await scene.engine.findRun(files.runId))?.mayHaveAsked).toBeUndefined();
  expect(await nextMessage(taken)).not.toContain("Nobody was asked");
});

test("an agent that asked in its text is ended when its live window is over", async () => {
  const { files, scene, follow } = await aTakenRun(opencode, { liveWindowMs: 500 });
  const line = JSON.stringify({ type: "text", sessionID: "s", part: { text: mark("Which port?") } });
  const startedAtMs = performance.now();
  await files.start(`echo '${line}'; sleep 60`);
  await follow(1);
  expect(performance.now() - startedAtMs).toBeLessThan(10_000); // it would have 15 s
  expect(await scene.engine.findRun(files.runId)).toMatchObject({ status: "awaiting_input" });
});
