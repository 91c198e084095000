import { mkdtempSync, realpathSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { ADA } from "../../../test/builders.ts";
import { Scene, said } from "../../../test/scene.ts";
import { type Typed, type } from "../../../test/typed.ts";
import type { OpencodePlan } from "./serve.ts";
import type { Question } from "../../core/question/question.ts";

const SERVER = resolve("test", "agents", "opencode-server.mjs");
const BUSY = { type: "session.status", properties: { sessionID: "ses_1", status: { type: "busy" } } };
const SIGNAL = { until: "SIGUSR2" };
const IDLE = { type: "session.idle", properties: { sessionID: "ses_1" } };
const PLAN: OpencodePlan = {
  server: [process.execPath, SERVER],
  dir: tmpdir(),
  message: { agent: "plan" },
  fallback: [process.execPath, "-e", "process.exit(7)"],
};

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "askd-bridge-"));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const question = (id: string, text: string, sessionID = "ses_1") => ({
  type: "question.asked",
  properties: {
    id,
    sessionID,
    tool: { messageID: "m", callID: `call_${id}` },
    questions: [{ question: text, header: "H", options: [{ label: "A", description: "" }] }],
  },
});
const permission = {
  type: "permission.asked",
  properties: { id: "per_1", sessionID: "ses_1", permission: "bash", patterns: ["ls"], metadata: {} },
};

interface Bridged {
  scene: Scene;
  runId: string;
  ended: Promise<Typed>;
}

/** Bridges to a server that does these steps when it has its prompt. */
async function bridge(
  steps: readonly object[],
  { plan = PLAN, holdMs = 60_000, interrupt = new AbortController() } = {},
): Promise<Bridged> {
  const scene = new Scene();
  const { id: runId, epoch } = await scene.startedRun({ agent: "opencode-serve", session: "ses_1" });
  const own = { ASKD_RUN: runId, ASKD_EPOCH: String(epoch) };
  const ended = type(scene, ["bridge", "opencode", "--hold", `${holdMs / 1000}s`, "--plan", "plan"], {
    env: { ...own, OPENCODE_SCRIPT: JSON.stringify(steps), OPENCODE_JOURNAL: join(dir, "journal") },
    readFile: () => Promise.resolve(JSON.stringify(plan)),
    stdin: { isTty: false, readAll: () => Promise.resolve("Do it."), readLine: () => Promise.resolve(undefined) },
    interrupt: () => interrupt.signal,
  });
  return { scene, runId, ended };
}

/** Waits for a question that is held. */
async function held({ engine }: Scene, title: string, windowMs = 60_000): Promise<Question> {
  return vi.waitFor(async () => {
    const [found] = await engine.listQuestions({ status: "pending", order: "newest", limit: 1 });
    expect(found).toMatchObject({ title, hold: { windowMs } });
    return found!;
  }, 20_000);
}

/** It waits, and nobody waits with it. */
async function expectLeft({ engine }: Scene, id: Question["id"]): Promise<void> {
  const { question: left } = await engine.read(id);
  expect(left.status).toBe("pending");
  expect(left).not.toHaveProperty("hold");
}

const journal = () => readFileSync(join(dir, "journal"), "utf8").trimEnd().split("\n");
const requests = () => journal().slice(1);
const signal = (name: "SIGUSR2" | 0) => process.kill(Number(journal()[0]), name);

test("what is asked in parallel is asked one after the other, and each gets its own reply", async () => {
  const waits = [{ until: "/question/que_1/reply" }, { until: "/permission/per_1/reply" }];
  const { scene, ended } = await bridge([BUSY, question("que_1", "First?"), permission, ...waits, IDLE]);
  const first = await held(scene, "First?");
  await scene.engine.answer(first.id, said("A"), ADA);
  const second = await held(scene, 'May the agent use bash with "ls"?');
  await scene.engine.answer(second.id, said("deny"), ADA);
  expect(await ended).toMatchObject({ exit: 0, stderr: "" });
  expect(requests()).toEqual([
    "/session {}",
    '/session/ses_1/prompt_async {"agent":"plan","parts":[{"type":"text","text":"Do it."}]}',
    expect.stringMatching(/^\/question\/que_1\/reply \{"answers":\[\["A","\(Question q_/),
    expect.stringMatching(/^\/permission\/per_1\/reply \{"reply":"reject","message":"Not allowed by ada/),
  ]);
  // The lines of the agent will show the first; nothing shows the second.
  expect((await scene.engine.read(first.id)).question).toMatchObject({ handover: { state: "handing" } });
  expect((await scene.engine.read(second.id)).question).toMatchObject({ handover: { state: "given" } });
});

test("a subagent's question is given with the reply, as no line will show it", async () => {
  const steps = [BUSY, question("que_1", "Deep?", "ses_2"), { until: "/question/que_1/reply" }, IDLE];
  const { scene, ended } = await bridge(steps);
  const { id } = await held(scene, "Deep?");
  await scene.engine.answer(id, said("A"), ADA);
  expect(await ended).toMatchObject({ exit: 0 });
  expect((await scene.engine.read(id)).question).toMatchObject({ handover: { state: "given", witness: "reply" } });
});

test("nobody answers in time: the turn is aborted and the question stays", async () => {
  const { scene, ended } = await bridge([BUSY, question("que_1", "First?")], { holdMs: 1_000 });
  const { id } = await held(scene, "First?", 1_000);
  await scene.pass(1_000);
  expect(await ended).toMatchObject({ exit: 0, stderr: "" });
  expect(requests().at(-1)).toBe("/session/ses_1/abort {}");
  await expectLeft(scene, id);
});

test("a reply that is not ours is no answer: the turn is aborted and the question stays", async () => {
  const replied = { type: "question.replied", properties: { sessionID: "ses_1", requestID: "que_1" } };
  const { scene, ended } = await bridge([BUSY, question("que_1", "First?"), SIGNAL, replied]);
  const { id } = await held(scene, "First?");
  signal("SIGUSR2");
  expect(await ended).toMatchObject({ exit: 0, stderr: "" });
  expect(requests().at(-1)).toBe("/session/ses_1/abort {}");
  await expectLeft(scene, id);
});

test("leave that nobody was asked for yet is not given by the agent itself", async () => {
  const told = (reply: string) => ({ type: "permission.replied", properties: { requestID: "per_1", reply } });
  const asked = [BUSY, question("que_1", "First?"), permission, SIGNAL];
  const { scene, ended } = await bridge([...asked, told("once")]);
  await held(scene, "First?");
  signal("SIGUSR2");
  expect(await ended).toMatchObject({ exit: 1, stderr: expect.stringContaining("Somebody else replied") });
  rmSync(join(dir, "journal"));
  const refused = await bridge([...asked, told("reject"), { until: "/question/que_1/reply" }, IDLE]);
  const { id } = await held(refused.scene, "First?");
  signal("SIGUSR2");
  await refused.scene.engine.answer(id, said("A"), ADA);
  expect(await refused.ended).toMatchObject({ exit: 0 });
});

test("a server that dies leaves the question as it is, and is told of", async () => {
  const { scene, ended } = await bridge([BUSY, question("que_1", "First?"), SIGNAL, { exit: 3 }]);
  const { id } = await held(scene, "First?");
  signal("SIGUSR2");
  expect(await ended).toMatchObject({ exit: 1, stderr: expect.stringMatching(/^error: /) });
  await expectLeft(scene, id);
});

test("an interrupt ends the server too", async () => {
  const interrupt = new AbortController();
  const { scene, ended } = await bridge([BUSY, question("que_1", "First?")], { interrupt });
  const { id } = await held(scene, "First?");
  interrupt.abort();
  expect(await ended).toMatchObject({ exit: 130, stderr: "" });
  expect(() => signal(0)).toThrow("ESRCH");
  await expectLeft(scene, id);
});

test("an error that is its last word fails the turn; one that it gets over does not", async () => {
  const error = { type: "session.error", properties: { sessionID: "ses_1", error: { name: "APIError" } } };
  const part = { id: "prt_1", type: "step-start", sessionID: "ses_1" };
  const goesOn = { type: "message.part.updated", properties: { sessionID: "ses_1", part } };
  expect(await (await bridge([BUSY, error, IDLE])).ended).toMatchObject({ exit: 1 });
  expect(await (await bridge([error])).ended).toMatchObject({ exit: 1 }); // the message was not taken
  const { exit, stdout } = await (await bridge([BUSY, error, goesOn, IDLE])).ended;
  expect(exit).toBe(0);
  expect(
    stdout
      .trimEnd()
      .split("\n")
      .map((line) => (JSON.parse(line) as { type: string }).type),
  ).toEqual(["error", "step_start"]);
});

test("a server that does not come up is done without, which is said", async () => {
  const plan = { ...PLAN, server: [process.execPath, "-e", "process.exit(3)"] };
  const { exit, stderr } = await (await bridge([], { plan })).ended;
  expect(exit).toBe(7);
  expect(stderr).toContain("(Error: it ended with exit code 3); opencode run is started instead");
});

test("the program in place of the server runs in the directory of the run; one that is not there is said", async () => {
  const server = [process.execPath, "-e", "process.exit(3)"];
  const code = `process.exit(process.cwd() === ${JSON.stringify(realpathSync(dir))} ? 7 : 8)`;
  const there = { ...PLAN, server, dir, fallback: [process.execPath, "-e", code] };
  expect((await (await bridge([], { plan: there })).ended).exit).toBe(7);
  const missing = { ...PLAN, server, fallback: [join(dir, "opencode")] };
  const { exit, stderr } = await (await bridge([], { plan: missing })).ended;
  expect(exit).toBe(1);
  expect(stderr).toMatch(/opencode cannot be started: spawn .* ENOENT\n$/);
});
