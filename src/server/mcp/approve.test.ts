import { afterEach, expect, test } from "vitest";
import { ADA, AGENT, IDS } from "../../../test/builders.ts";
import { McpScene } from "../../../test/mcp/scene.ts";
import { ROOMY } from "../../../test/scene.ts";
import { SYSTEM } from "../../core/people/actor.ts";
import { AnswerInput } from "../../core/answer/answer-input.ts";
import { approvalAsk } from "../../core/question/approval.ts";
import { parseAsk } from "../../core/question/ask-input.ts";
import { endOwnedRun, claimRun } from "../../core/run/run-ownership.ts";
import { handoverMessage } from "../../core/run/agent-message.ts";
import { instant } from "../../core/instant.ts";
import type { RunResult } from "../../core/run/run-lifecycle.ts";
import { Decider } from "../../engine/decide.ts";
import { DEFAULT_TOOLS, parseTools } from "./tool.ts";

const DOOR = { way: "stdio", era: "modern", name: "claude-code" } as const;
const CALLER = { env: { CLAUDE_CODE_SESSION_ID: "s-1" } };
const QUESTIONS = [
  { question: "Which eviction?", header: "Eviction", multiSelect: true, options: [{ label: "TTL" }, { label: "LRU" }] },
];

let scene: McpScene;
afterEach(() => scene?.close());

async function connect(over: { windowMs?: number } = {}) {
  scene = new McpScene();
  const deps = over.windowMs === undefined ? {} : { rules: { ...ROOMY, liveWindowMs: over.windowMs } };
  return scene.connect({ ...DOOR, tools: parseTools("approve"), caller: CALLER, deps });
}

const use = (tool: string, input: object, id = "toolu_1") => ({ tool_name: tool, input, tool_use_id: id });

test("is offered only when asked for", () => {
  expect(DEFAULT_TOOLS).not.toContain("approve");
  expect(parseTools("approve,ask_human")).toEqual(["ask_human", "approve"]);
});

test("a question of the program's own tool is answered in that tool's words", async () => {
  const client = await connect();
  const calling = client.call("approve", use("AskUserQuestion", { questions: QUESTIONS }));
  const question = await scene.waiting();
  expect(question).toMatchObject({ kind: "question", key: "=s-1:toolu_1" });
  await scene.answer(question.id, "1,2");
  expect(JSON.parse((await calling).text)).toEqual({
    behavior: "allow",
    updatedInput: { questions: QUESTIONS, answers: { "Which eviction?": "TTL, LRU" } },
  });
  await scene.given(question.id);
});

test("a tool is used with exactly the arguments that a person allowed", async () => {
  const client = await connect();
  const calling = client.call("approve", use("Bash", { command: "make", timeout: 5 }));
  const question = await scene.waiting();
  expect(question).toMatchObject({ kind: "approval", title: 'May the agent use Bash to run "make"?' });
  const { content } = await scene.engine.read(question.id);
  expect(content.context).toBe("```sh\nmake\n```\n\n```\ntimeout: 5\n```");
  await scene.answer(question.id, "allow");
  expect(JSON.parse((await calling).text)).toEqual({
    behavior: "allow",
    updatedInput: { command: "make", timeout: 5 },
  });
  await scene.given(question.id);
  const other = await client.call("approve", use("Bash", { command: "make clean" }));
  expect(JSON.parse(other.text)).toMatchObject({ behavior: "deny", message: expect.stringContaining("was used for") });
});

test("a tool is used with the command that a person changed", async () => {
  const client = await connect();
  const calling = client.call("approve", use("Bash", { command: "npm test", timeout: 5 }));
  const { id } = await scene.waiting();
  const items = { 1: { values: ["allow-changed"], text: "npm test -- --run" } };
  await scene.engine.answer(id, AnswerInput.parse({ items }), ADA);
  expect(JSON.parse((await calling).text)).toEqual({
    behavior: "allow",
    updatedInput: { command: "npm test -- --run", timeout: 5 },
  });
  await scene.given(id);
});

test("what was allowed for the rest of the run is not asked again, and anything else is", async () => {
  const run = await inRun(60_000);
  const client = await run.connected(1);
  const first = client.call("approve", use("Bash", { command: "npm test" }));
  const { id } = await scene.waiting();
  await scene.answer(id, "allow-run");
  expect(JSON.parse((await first).text)).toMatchObject({ behavior: "allow" });
  await scene.given(id);
  const again = await client.call("approve", use("Bash", { command: "npm test" }, "toolu_2"));
  expect(JSON.parse(again.text)).toEqual({ behavior: "allow", updatedInput: { command: "npm test" } });
  expect(await scene.engine.countQuestions("pending")).toBe(0);
  const other = client.call("approve", use("Bash", { command: "npm publish" }, "toolu_3"));
  await scene.answer((await scene.waiting()).id, "deny");
  expect(JSON.parse((await other).text)).toMatchObject({ behavior: "deny" });
});

test("a no is a no, with its reason", async () => {
  const client = await connect();
  const calling = client.call("approve", use("Bash", { command: "make" }));
  const { id } = await scene.waiting();
  await scene.answer(id, "deny");
  expect(JSON.parse((await calling).text)).toEqual({
    behavior: "deny",
    message: expect.stringMatching(
      new RegExp(`^Not allowed by ada \\(${id}\\)\\. Do not try the same again\\. Recorded as a_\\w+\\.$`),
    ),
  });
});

test("when nobody answers the question is kept, the agent told to stop, and the same call finds the answer", async () => {
  const client = await connect({ windowMs: 1 });
  const { text } = await client.call("approve", use("Bash", { command: "make" }));
  const { id } = await scene.waiting();
  expect(JSON.parse(text)).toEqual({ behavior: "deny", message: expect.stringContaining(`kept as ${id}`) });
  await scene.answer(id, "allow");
  const again = await client.call("approve", use("Bash", { command: "make" }, "toolu_2"));
  expect(JSON.parse(again.text)).toMatchObject({ behavior: "allow" });
  await scene.given(id);
  // A permission that was given is used up.
  const third = await client.call("approve", use("Bash", { command: "make" }, "toolu_3"));
  expect(JSON.parse(third.text)).toMatchObject({ behavior: "deny", message: expect.stringContaining("Stop now") });
});

test.each(["legacy", "modern"] as const)(
  "over HTTP in the %s era a permission given after the session has ended lets the next one run the call, once",
  async (era) => {
    scene = new McpScene(undefined, { ...ROOMY, liveWindowMs: 1 });
    const [own, others] = [await scene.token(), await scene.token()];
    const call = async (id: string, token = own): Promise<unknown> => {
      const headers = { Authorization: `Bearer ${token}` };
      const client = await scene.connect({ way: "http", era, name: "claude-code", tools: ["approve"], headers });
      return JSON.parse((await client.call("approve", use("Bash", { command: "make" }, id))).text);
    };
    expect(await call("toolu_1")).toMatchObject({ behavior: "deny" });
    const { id } = await scene.waiting();
    await scene.answer(id, "allow");
    expect(await call("toolu_2", others)).toMatchObject({ behavior: "deny" });
    expect(await call("toolu_3")).toMatchObject({ behavior: "allow" });
    await scene.given(id);
    expect(await call("toolu_4")).toMatchObject({ behavior: "deny" });
  },
);

/** A run that a worker has started, and a client in it. */
async function inRun(windowMs: number) {
  scene = new McpScene();
  const { store, engine } = scene;
  const decider = new Decider({ store, rules: ROOMY, ids: IDS, now: () => instant(Date.now()) });
  const { id } = await engine.createRun({ agent: "claude", host: "here", session: "s-1", giveBack: "worker" }, AGENT);
  const worker = IDS.worker();
  const start = () => decider.changeRun(id, SYSTEM, (read, at) => claimRun(read, { worker }, at));
  const end = async (result: RunResult) => {
    const { epoch = 0 } = (await engine.findRun(id)) ?? {};
    return decider.changeRun(id, SYSTEM, (read, at) => endOwnedRun(read, { worker, epoch }, result, at));
  };
  const connected = async (epoch: number) =>
    scene.connect({
      ...DOOR,
      tools: parseTools("approve"),
      deps: { rules: { ...ROOMY, liveWindowMs: windowMs } },
      caller: { runId: id, env: { ...CALLER.env, ASKD_EPOCH: String(epoch) } },
    });
  await start();
  return { id, start, end, connected };
}

test("a permission that is answered live in a run is given by the call, and the run owes nothing when it ends", async () => {
  const run = await inRun(60_000);
  const calling = (await run.connected(1)).call("approve", use("Bash", { command: "make" }));
  const { id } = await scene.waiting();
  await scene.answer(id, "allow");
  expect(JSON.parse((await calling).text)).toMatchObject({ behavior: "allow" });
  await scene.given(id);
  expect(await run.end({ status: "completed" })).toMatchObject({ status: "completed", owes: [] });
});

test("a permission that was handed to its call is not brought again, however the agent ends", async () => {
  const run = await inRun(60_000);
  const input = parseAsk(approvalAsk({ tool: "Bash", input: {} }), { via: "mcp" }, ROOMY, instant(Date.now()));
  const { question } = await scene.engine.ask(input, AGENT, { runId: run.id, epoch: 1 });
  await scene.answer(question.id, "allow");
  await scene.engine.handOver(question.id, 1);
  await run.end({ status: "failed", reason: "agent_killed" });
  await run.start();
  expect((await scene.engine.read(question.id)).question).toMatchObject({
    handover: { state: "given", witness: "call" },
  });
});

test("a permission that was parked and then allowed lets the retried call run, once", async () => {
  const run = await inRun(1);
  const first = await (await run.connected(1)).call("approve", use("Bash", { command: "make" }));
  expect(JSON.parse(first.text)).toMatchObject({ behavior: "deny", message: expect.stringContaining("Stop now") });
  const { id } = await scene.waiting();
  await run.end({ status: "completed" });
  await scene.answer(id, "allow");
  await run.start();
  const told = handoverMessage({ delimiter: "%", reads: [await scene.engine.read(id)] });
  expect(told).toContain("May the agent use Bash to run");
  expect(told).toContain("make the same call again now");
  const client = await run.connected(2);
  const again = await client.call("approve", use("Bash", { command: "make" }, "toolu_2"));
  expect(JSON.parse(again.text)).toMatchObject({ behavior: "allow" });
  await scene.given(id);
  const third = await client.call("approve", use("Bash", { command: "make" }, "toolu_3"));
  expect(JSON.parse(third.text)).toMatchObject({ behavior: "deny", message: expect.stringContaining("Stop now") });
});
