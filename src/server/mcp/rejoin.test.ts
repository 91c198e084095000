import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type AnyClient, type ConnectOptions, McpScene, until } from "../../../test/mcp/scene.ts";
import { ADA } from "../../../test/builders.ts";
import { AnswerInput } from "../../core/answer/answer-input.ts";
import { QuestionId } from "../../core/id.ts";
import { type PendingQuestion, isPending } from "../../core/question/question.ts";

const CACHE = { question: "Redis or Memcached?", options: ["Redis", "Memcached"] };
const SHORT = { ...CACHE, timeout_seconds: 0.05 };
const DOORS = [
  { way: "stdio", era: "legacy", name: "gemini-cli-mcp-client" },
  { way: "stdio", era: "modern", name: "opencode" },
  { way: "http", era: "legacy", name: "opencode" },
  { way: "http", era: "modern", name: "gemini-cli-mcp-client" },
] as const;

let scene: McpScene;
let token: string;
beforeEach(async () => {
  scene = new McpScene();
  token = await scene.token();
});
afterEach(() => scene.close());

/** A new connection of the same client: the same token, or the same user in the same directory. */
function connect(door: ConnectOptions): Promise<AnyClient> {
  return scene.connect({
    ...door,
    headers: { Authorization: `Bearer ${token}`, ...door.headers },
    caller: { dir: "/project", ...door.caller },
  });
}

async function questions() {
  return scene.engine.listQuestions({ order: "oldest", limit: 10 });
}

async function runs() {
  return scene.engine.listRuns({ order: "oldest", limit: 10 });
}

async function read(id: unknown) {
  return scene.engine.read(QuestionId.parse(id));
}

/** The question once somebody holds it. */
function held(id: unknown): Promise<PendingQuestion> {
  return until(async () => {
    const { question } = await read(id);
    return isPending(question) && question.hold ? question : undefined;
  });
}

describe.each(DOORS)("$name over $way in the $era era", (door) => {
  test("finds what it asked in a connection that is gone, waits for it, and gets its answer once", async () => {
    const first = await connect(door);
    const { fields } = await first.call("ask_human", SHORT);
    const id = fields["question_id"];
    const second = await connect(door);
    const calling = second.call("ask_human", CACHE);
    const question = await held(id);
    expect((await read(id)).run).toMatchObject({ status: "running", asked: 1 });
    await scene.answer(question.id, "1");
    expect((await calling).fields).toMatchObject({ status: "answered", question_id: id });
    expect((await scene.given(question.id)).run.status).toBe("completed");
    expect(await questions()).toHaveLength(1);
    const third = await connect(door);
    expect((await third.call("ask_human", SHORT)).fields["question_id"]).not.toBe(id);
  });

  test("gets the answer that was given while nobody was there", async () => {
    const { fields } = await (await connect(door)).call("ask_human", SHORT);
    await scene.answer(String(fields["question_id"]), "Memcached");
    const again = await (await connect(door)).call("ask_human", CACHE);
    expect(again.fields).toMatchObject({ status: "answered", question_id: fields["question_id"] });
    await scene.given(QuestionId.parse(fields["question_id"]));
    expect(await runs()).toMatchObject([{ status: "completed", asked: 1 }]);
  });

  test("gets the answer that was given after the deadline by asking again, once", async () => {
    const { fields } = await (await connect(door)).call("ask_human", { ...SHORT, timeout: "100ms" });
    const id = QuestionId.parse(fields["question_id"]);
    await until(async () => {
      await scene.engine.doDue();
      return (await read(id)).question.status === "timeout" || undefined;
    });
    await scene.engine.answer(id, AnswerInput.parse({ answer: "Memcached", force: true }), ADA);
    const again = await (await connect(door)).call("ask_human", SHORT);
    expect(again.fields).toMatchObject({ status: "answered", question_id: id, forced: true });
    await until(async () => ((await read(id)).run.status === "completed" ? true : undefined));
    const third = await (await connect(door)).call("ask_human", SHORT);
    expect(third.fields["question_id"]).not.toBe(id);
  });

  test("asks a second question while the first of the same words is waited for", async () => {
    const clients = [await connect(door), await connect(door)];
    const callings = [];
    for (const [index, client] of clients.entries()) {
      callings.push(client.call("ask_human", CACHE));
      await until(async () => ((await questions()).length > index ? true : undefined));
    }
    const asked = await questions();
    expect(new Set(asked.map(({ runId }) => runId)).size).toBe(2);
    for (const [index, { id }] of asked.entries()) await scene.answer(id, String(index + 1));
    const got = (await Promise.all(callings)).map(({ fields: { question_id, answers } }) => ({ question_id, answers }));
    expect(got).toEqual([
      { question_id: asked[0]?.id, answers: { 1: { values: ["Redis"] } } },
      { question_id: asked[1]?.id, answers: { 1: { values: ["Memcached"] } } },
    ]);
  });

  test("is asked for leave anew once it was given, and gets leave that never reached it", async () => {
    const approval = { ...SHORT, kind: "approval", options: ["Allow", "Deny"] };
    const { fields } = await (await connect(door)).call("ask_human", approval);
    const id = QuestionId.parse(fields["question_id"]);
    await scene.answer(id, "Allow");
    const again = await (await connect(door)).call("ask_human", approval);
    expect(again.fields).toMatchObject({ status: "answered", question_id: id });
    await scene.given(id);
    expect((await (await connect(door)).call("ask_human", approval)).fields["question_id"]).not.toBe(id);
  });

  test("has nothing of what others asked in the same words", async () => {
    const { fields } = await (await connect(door)).call("ask_human", SHORT);
    const others: ConnectOptions[] = [
      { ...door, name: "another-client" },
      door.way === "stdio"
        ? { ...door, caller: { dir: "/elsewhere" } }
        : { ...door, headers: { Authorization: `Bearer ${await scene.token()}` } },
      ...(door.way === "stdio" ? [{ ...door, caller: { principal: "lena" } }] : []),
    ];
    for (const other of others) {
      const { fields: theirs } = await (await connect(other)).call("ask_human", SHORT);
      expect(theirs["question_id"]).not.toBe(fields["question_id"]);
    }
  });
});

test("a question is taken over from a process that has ended, whatever it promised", async () => {
  const door = { way: "stdio", era: "modern", name: "opencode" } as const;
  const calling = (await connect(door)).call("ask_human", CACHE);
  const { id } = await scene.waiting();
  expect((await held(id)).hold).toMatchObject({ holder: "stdio 1" });
  const waited = await (await connect(door)).call("ask_human", { ...CACHE, timeout_seconds: 0.05 });
  expect(waited.fields["question_id"]).not.toBe(id);
  scene.ended.add("stdio 1");
  const taking = (await connect(door)).call("ask_human", CACHE);
  await until(async () => ((await held(id)).hold?.holder === "stdio 3" ? true : undefined));
  await scene.answer(id, "1");
  expect((await taking).fields).toMatchObject({ status: "answered", question_id: id });
  await calling;
});

test("an ask whose process has ended finds its question while the answer can still be taken back", async () => {
  const door = { way: "stdio", era: "modern", name: "opencode" } as const;
  const calling = (await connect(door)).call("ask_human", CACHE);
  const { id } = await scene.waiting();
  await held(id);
  await scene.engine.answer(id, AnswerInput.parse({ answer: "1", undoMs: 60_000 }), ADA);
  scene.ended.add("stdio 1");
  let isWaiting = false;
  const again = (await connect(door)).call("ask_human", CACHE, { onprogress: () => (isWaiting = true) });
  await until(async () => isWaiting || undefined);
  expect((await questions()).map((question) => question.id)).toEqual([id]);
  await scene.engine.undo(id, ADA);
  await scene.answer(id, "2");
  expect((await again).fields).toMatchObject({ status: "answered", question_id: id });
  await calling;
});

test("an answer is brought out again if the process that was about to do so has ended, and only then", async () => {
  const door = { way: "stdio", era: "legacy", name: "opencode" } as const;
  const { fields } = await (await connect(door)).call("ask_human", SHORT);
  const id = QuestionId.parse(fields["question_id"]);
  await scene.answer(id, "1");
  await scene.engine.handOver(id, undefined, "stdio 1");
  const other = await (await connect(door)).call("ask_human", SHORT);
  expect(other.fields["question_id"]).not.toBe(id);
  await scene.engine.cancel(QuestionId.parse(other.fields["question_id"]), {}, ADA);
  scene.ended.add("stdio 1");
  const again = await (await connect(door)).call("ask_human", SHORT);
  expect(again.fields).toMatchObject({ status: "answered", question_id: id });
});

test("leave that was on its way when its process ended may have been used: the same ask is a new question", async () => {
  const door = { way: "stdio", era: "modern", name: "opencode" } as const;
  const approval = { ...SHORT, kind: "approval", options: ["Allow", "Deny"] };
  const { fields } = await (await connect(door)).call("ask_human", approval);
  const id = QuestionId.parse(fields["question_id"]);
  await scene.answer(id, "Allow");
  await scene.engine.handOver(id, undefined, "stdio 1");
  scene.ended.add("stdio 1");
  const again = await (await connect(door)).call("ask_human", approval);
  expect(again.fields["question_id"]).not.toBe(id);
  expect((await read(id)).run.status).toBe("resuming");
});

test.each([
  { era: "legacy", way: "stdio" },
  { era: "legacy", way: "http" },
] as const)("the run goes on in the new connection over $way", async (door) => {
  const { fields } = await (await connect(door)).call("ask_human", SHORT);
  const id = String(fields["question_id"]);
  const second = await connect(door);
  const calling = second.call("ask_human", CACHE);
  await held(id);
  const askBack = AnswerInput.parse({ outcome: "clarify", note: "For how many?" });
  await scene.engine.answer(QuestionId.parse(id), askBack, ADA);
  expect((await calling).fields).toMatchObject({ outcome: "clarify", question_id: id });
  await scene.given(QuestionId.parse(id));
  const next = await second.call("ask_human", { question: "Redis for 1,000 users?", timeout_seconds: 0.05 });
  const asked = await read(next.fields["question_id"]);
  expect(asked).toMatchObject({ question: { thread: id }, run: { asked: 2 } });
  expect(await runs()).toHaveLength(1);
});

describe("a client that names its session and its calls", () => {
  const claude = { way: "stdio", era: "modern", name: "claude-code" } as const;
  const caller = { env: { CLAUDE_CODE_SESSION_ID: "s-1" }, dir: "/project" };
  const toolUse = (id: string) => ({ meta: { "claudecode/toolUseId": id } });

  test("finds its question again by another call of the resumed session", async () => {
    const parked = await (await connect({ ...claude, caller })).call("ask_human", SHORT, toolUse("toolu_1"));
    const id = parked.fields["question_id"];
    const resumed = await connect({ ...claude, caller });
    const still = await resumed.call("ask_human", SHORT, toolUse("toolu_2"));
    expect(still.fields).toMatchObject({ status: "pending", question_id: id });
    await scene.answer(String(id), "1");
    const given = await resumed.call("ask_human", SHORT, toolUse("toolu_3"));
    expect(given.fields).toMatchObject({ status: "answered", question_id: id });
    await scene.given(QuestionId.parse(id));
    const anew = await resumed.call("ask_human", SHORT, toolUse("toolu_4"));
    expect(anew.fields["question_id"]).not.toBe(id);
    expect(await runs()).toMatchObject([{ session: "s-1", asked: 2 }]);
  });

  test("is refused a second question while a living call waits for the first", async () => {
    const client = await connect({ ...claude, caller });
    const calling = client.call("ask_human", CACHE, toolUse("toolu_1"));
    const { id } = await scene.waiting();
    const refused = await client.call("ask_human", CACHE, toolUse("toolu_2"));
    expect(refused).toMatchObject({ isError: true, fields: { code: "already_pending" } });
    await scene.answer(id, "1");
    expect((await calling).fields).toMatchObject({ status: "answered", question_id: id });
  });

  test("finds it too where only the call has a name", async () => {
    const door = { way: "http", era: "modern", name: "claude-code" } as const;
    const { fields } = await (await connect(door)).call("ask_human", SHORT, toolUse("toolu_1"));
    await scene.answer(String(fields["question_id"]), "1");
    const again = await (await connect(door)).call("ask_human", SHORT, toolUse("toolu_2"));
    expect(again.fields).toMatchObject({ status: "answered", question_id: fields["question_id"] });
  });

  test("has a key of its own for every question where it gives one", async () => {
    const client = await connect({ way: "http", era: "modern" });
    const ids = [];
    for (const key of ["a", "b", "a"])
      ids.push((await client.call("ask_human", { ...SHORT, key })).fields["question_id"]);
    expect(ids[2]).toBe(ids[0]);
    expect(ids[1]).not.toBe(ids[0]);
  });
});

test("who looks at a question that a call waits for does not end that call's waiting", async () => {
  const client = await connect({ way: "http", era: "modern", name: "codex-mcp-client" });
  const calling = client.call("ask_human", { ...CACHE, after_hold: "proceed" });
  const { id } = await scene.waiting();
  const looked = await client.call("check_answer", { question_id: id, timeout_seconds: 0.05 });
  expect(looked.fields).toMatchObject({ status: "pending" });
  expect((await held(id)).hold).toMatchObject({ after: "proceed" });
  await scene.answer(id, "1");
  expect((await calling).fields).toMatchObject({ status: "answered" });
});
