import { afterEach, describe, expect, test } from "vitest";
import { McpScene, until } from "../../../test/mcp/scene.ts";
import { ADA, AGENT } from "../../../test/builders.ts";
import { AnswerInput } from "../../core/answer/answer-input.ts";
import { QuestionId } from "../../core/id.ts";

const DOORS = [
  { way: "stdio", era: "legacy" },
  { way: "stdio", era: "modern" },
  { way: "http", era: "legacy" },
  { way: "http", era: "modern" },
] as const;
const CACHE = { question: "Redis or Memcached?", options: ["Redis", "Memcached"] };

let scene: McpScene;
const begin = (): McpScene => (scene = new McpScene());
afterEach(() => scene.close());

describe.each(DOORS)("over $way in the $era era", (door) => {
  test("three tools are offered in a fixed order, none of which changes anything", async () => {
    const client = await begin().connect(door);
    const { tools } = await client.listTools();
    expect(tools.map((tool) => tool.name)).toEqual(["ask_human", "check_answer", "cancel_question"]);
    expect(tools.every((tool) => tool.annotations?.readOnlyHint)).toBe(true);
    expect(client.instructions()).toContain("Call ask_human");
  });

  test("a mistyped field is refused with the name that was meant", async () => {
    const client = await begin().connect(door);
    const { text, isError } = await client.call("ask_human", { ...CACHE, riks: "high" });
    expect([isError, text]).toEqual([true, expect.stringContaining('there is no field "riks"')]);
    expect(text).toContain('Write "risk"');
  });

  test("a held call returns the answer, which counts as given when the reply is out", async () => {
    const client = await begin().connect(door);
    const calling = client.call("ask_human", CACHE);
    const question = await scene.waiting();
    expect(question).toMatchObject({ via: "mcp", hold: { windowMs: 45_000 } });
    await scene.answer(question.id, "1");
    const { text, fields, isError } = await calling;
    expect(isError).toBe(false);
    expect(text).toContain("A person answered your question.");
    expect(fields).toMatchObject({
      status: "answered",
      question_id: question.id,
      answers: { 1: { values: ["Redis"] } },
      note: null,
      answered_by: "ada",
      channel: "cli",
      outcome: "answer",
    });
    const given = await scene.given(question.id);
    expect(given.run).toMatchObject({ giveBack: "poll", host: "here", agent: "test-client", status: "completed" });
  });

  test("when nobody answers in the window the agent is told to stop and the question stays", async () => {
    const client = await begin().connect(door);
    const { text, fields, isError } = await client.call("ask_human", { ...CACHE, timeout_seconds: 0.05 });
    const question = await scene.waiting();
    expect(isError).toBe(false);
    expect(fields).toEqual({
      status: "pending",
      question_id: question.id,
      stop_session: true,
      stop_reason: "waiting_for_user_input",
      message: text,
    });
    expect(text).toContain("Stop now");
    expect(text).toContain(`later call check_answer with ${question.id}`);
    expect(text).not.toContain("You will be resumed");
    expect(question.status === "pending" && question.hold).toBeUndefined();
  });

  test("a declared proceed ends with the sentence", async () => {
    const client = await begin().connect(door);
    const { text, fields } = await client.call("ask_human", { ...CACHE, timeout_seconds: 1, after_hold: "proceed" });
    expect(text).toBe("No response received within 1 second — proceed using your best judgment.");
    expect(fields).toMatchObject({ status: "timeout", policy: "proceed" });
  });

  test("a call that is cancelled parks its question, and the same ask again gets its answer", async () => {
    const client = await begin().connect(door);
    const leaving = new AbortController();
    const calling = client.call("ask_human", CACHE, { signal: leaving.signal });
    const question = await scene.waiting();
    leaving.abort();
    await expect(calling).rejects.toThrow(/abort/i);
    await until(async () => {
      const read = await scene.engine.read(question.id);
      return read.question.status === "pending" && read.question.hold === undefined ? read : undefined;
    });
    await scene.answer(question.id, "Memcached");
    const again = await client.call("ask_human", CACHE);
    expect(again.fields).toMatchObject({ status: "answered", question_id: question.id });
    await scene.given(question.id);
    const other = await client.call("ask_human", { ...CACHE, timeout_seconds: 0.05 });
    expect(other.fields["question_id"]).not.toBe(question.id);
  });

  test("check_answer waits for a question that was parked", async () => {
    const client = await begin().connect(door);
    const { fields } = await client.call("ask_human", { ...CACHE, timeout_seconds: 0.05 });
    const id = String(fields["question_id"]);
    const checking = client.call("check_answer", { question_id: id });
    await scene.answer(id, "A");
    expect((await checking).fields).toMatchObject({ status: "answered", answers: { 1: { values: ["Redis"] } } });
    const again = await client.call("check_answer", { question_id: id });
    expect(again.fields).toMatchObject({ status: "answered", question_id: id });
  });

  test("cancel_question withdraws a question once", async () => {
    const client = await begin().connect(door);
    const { fields } = await client.call("ask_human", { ...CACHE, timeout_seconds: 0.05 });
    const ref = { question_id: fields["question_id"], reason: "found it in the docs" };
    expect((await client.call("cancel_question", ref)).fields).toEqual({ success: true, previousStatus: "pending" });
    expect((await client.call("cancel_question", ref)).fields).toEqual({ success: false, previousStatus: "cancelled" });
    expect((await client.call("check_answer", ref)).text).toContain("found it in the docs");
  });

  test("a question that a person withdrew with words is told with them, in fields too", async () => {
    const client = await begin().connect(door);
    const asking = client.call("ask_human", { ...CACHE, timeout_seconds: 60 });
    const { id } = await scene.waiting();
    await scene.engine.cancel(id, { reason: "not needed", resume: "do not deploy now" }, ADA);
    const { text, fields } = await asking;
    expect(fields).toMatchObject({ status: "cancelled", reason: "not needed", note: "do not deploy now" });
    expect(text).toContain('which is not an answer: "do not deploy now"');
    const looked = await client.call("check_answer", { questionId: id });
    expect(looked.fields).toEqual({ status: "cancelled", reason: "not needed", note: "do not deploy now" });
  });

  test("a session asks on after a cancelled question, and one that was asked back about has the time it declares", async () => {
    const client = await begin().connect(door);
    const short = { timeout_seconds: 0.05 };
    const first = await client.call("ask_human", { ...CACHE, ...short });
    await scene.engine.cancel(QuestionId.parse(first.fields["question_id"]), {}, ADA);
    const second = await client.call("ask_human", { question: "Which eviction?", timeout: "1h", ...short });
    const id = QuestionId.parse(second.fields["question_id"]);
    expect(second.fields).toMatchObject({ status: "pending", stop_session: true });
    await scene.engine.answer(id, AnswerInput.parse({ answer: "What load?", outcome: "clarify" }), ADA);
    await client.call("check_answer", { question_id: id });
    await scene.given(id);
    const third = await client.call("ask_human", { question: "LRU, at 1k/s?", timeout: "2h", ...short });
    const { question } = await scene.engine.read(QuestionId.parse(third.fields["question_id"]));
    expect(question).toMatchObject({ status: "pending", timeoutMs: 7_200_000 });
  });

  test("what cannot be asked is refused in words", async () => {
    const client = await begin().connect(door);
    const empty = await client.call("ask_human", {});
    expect(empty).toMatchObject({ isError: true, fields: { status: "refused", code: "bad_input" } });
    const unknown = await client.call("check_answer", { question_id: "q-7k3f" });
    expect(unknown).toMatchObject({ isError: true, fields: { code: "bad_input" } });
    await expect(client.call("no_such_tool")).rejects.toThrow("no_such_tool");
  });
});

test.each(["ask_human", "check_answer"])("%s waits for an answer in its undo window", async (tool) => {
  const client = await begin().connect({ way: "http", era: "modern" });
  const { fields } = await client.call("ask_human", { ...CACHE, timeout_seconds: 0.05 });
  const id = QuestionId.parse(fields["question_id"]);
  await scene.engine.answer(id, AnswerInput.parse({ answer: "1", undoMs: 300 }), ADA);
  const input = tool === "ask_human" ? CACHE : { question_id: id };
  const calling = client.call(tool, { ...input, timeout_seconds: 0.05 });
  await until(async () => {
    await scene.engine.doDue();
    return (await scene.engine.read(id)).question.status === "answered" || undefined;
  });
  expect((await calling).fields).toMatchObject({ status: "answered", question_id: id });
  await scene.given(id);
});

test("a run that a worker starts again is promised so, and a second question waits for the first", async () => {
  const { engine } = begin();
  const created = await engine.createRun({ name: "add-caching", agent: "test-client", giveBack: "worker" }, AGENT);
  const run = await engine.startRun(created.id, AGENT);
  const client = await scene.connect({ way: "stdio", era: "modern", caller: { runId: run.id } });
  const { text, fields } = await client.call("ask_human", { ...CACHE, timeout_seconds: 0.05 });
  expect(text).toContain("You will be resumed with the answer.");
  const second = await client.call("ask_human", { question: "And which port?" });
  expect(second).toMatchObject({ isError: true, fields: { code: "already_pending" } });
  expect(second.text).toContain(`check_answer ${String(fields["question_id"])}`);
});

test("questions of another run cannot be looked at from a run", async () => {
  const { engine } = begin();
  const { id } = await engine.createRun({ name: "other", agent: "test-client", giveBack: "worker" }, AGENT);
  const stranger = await scene.connect({ way: "stdio", era: "legacy" });
  const { fields } = await stranger.call("ask_human", { ...CACHE, timeout_seconds: 0.05 });
  const client = await scene.connect({ way: "stdio", era: "legacy", caller: { runId: id } });
  const looked = await client.call("check_answer", { question_id: fields["question_id"] });
  expect(looked).toMatchObject({ isError: true, fields: { code: "not_permitted" } });
});

test("the call id and session that Claude Code sends name the ask for ever", async () => {
  const claude = { way: "stdio", era: "modern", name: "claude-code" } as const;
  const caller = { env: { CLAUDE_CODE_SESSION_ID: "s-1" } };
  const meta = { "claudecode/toolUseId": "toolu_1" };
  const client = await begin().connect({ ...claude, caller });
  const parked = await client.call("ask_human", { ...CACHE, timeout_seconds: 0.05 }, { meta });
  await scene.answer(String(parked.fields["question_id"]), "1");
  const later = await scene.connect({ ...claude, caller });
  for (const _ of [1, 2]) {
    const again = await later.call("ask_human", { ...CACHE, timeout_seconds: 0.05 }, { meta });
    expect(again.fields).toMatchObject({ status: "answered", question_id: parked.fields["question_id"] });
  }
  const [run] = await scene.engine.listRuns({ order: "newest", limit: 5 });
  expect(run).toMatchObject({ agent: "claude", session: "s-1", giveBack: "poll" });
  const reused = await later.call("ask_human", { question: "Something else?" }, { meta });
  expect(reused).toMatchObject({ isError: true, fields: { code: "key_reused" } });
});

test("the thread and call that Codex sends make one run of a session", async () => {
  const client = await begin().connect({ way: "http", era: "legacy", name: "codex-mcp-client" });
  const meta = (callId: string) => ({ threadId: "t-1", callId });
  const first = await client.call("ask_human", { ...CACHE, timeout_seconds: 0.05 }, { meta: meta("c-1") });
  await scene.answer(String(first.fields["question_id"]), "1");
  await client.call("check_answer", {}, { meta: meta("c-2") });
  await client.call("ask_human", { question: "Which port?", timeout_seconds: 0.05 }, { meta: meta("c-3") });
  const runs = await scene.engine.listRuns({ order: "newest", limit: 5 });
  expect(runs).toMatchObject([{ agent: "codex", session: "t-1", asked: 2 }]);
});

test("a correction of an earlier answer comes along with the next one of its session, once", async () => {
  const client = await begin().connect({ way: "http", era: "legacy", name: "codex-mcp-client" });
  const meta = (callId: string) => ({ threadId: "t-1", callId });
  const first = client.call("ask_human", CACHE, { meta: meta("c-1") });
  const asked = await scene.waiting();
  await scene.answer(asked.id, "1");
  await first;
  await scene.given(asked.id);
  const second = client.call("ask_human", { question: "Which port?" }, { meta: meta("c-2") });
  const next = await scene.waiting();
  await scene.engine.amend(asked.id, "Memcached after all", ADA);
  await scene.answer(next.id, "6379");
  const { text, fields } = await second;
  expect(text).toContain("6379");
  expect(text.match(/Memcached after all/g)).toHaveLength(1);
  expect(fields["message"]).toBe(text);
  await scene.given(next.id);
  const { question, run } = await scene.given(asked.id);
  expect(question.amendments).toMatchObject([{ handover: { state: "given", witness: "mcp" } }]);
  expect(run).toMatchObject({ status: "completed", owes: [] });
});

test("a correction that went along with a reply that was lost comes along with the reply to the next call", async () => {
  const client = await begin().connect({ way: "http", era: "legacy", name: "codex-mcp-client" });
  const meta = (callId: string) => ({ threadId: "t-1", callId });
  const first = client.call("ask_human", CACHE, { meta: meta("c-1") });
  const asked = await scene.waiting();
  await scene.answer(asked.id, "1");
  await first;
  await scene.given(asked.id);
  const parked = await client.call(
    "ask_human",
    { question: "Which port?", timeout_seconds: 0.05 },
    { meta: meta("c-2") },
  );
  const id = QuestionId.parse(parked.fields["question_id"]);
  await scene.engine.amend(asked.id, "Memcached after all", ADA);
  await scene.answer(id, "6379");
  // A server that was killed before it wrote them out.
  await scene.engine.handOver(id, undefined, "gone");
  await scene.engine.handOver(asked.id, undefined, "gone");
  const { text } = await client.call("check_answer", { question_id: id }, { meta: meta("c-3") });
  expect(text).toContain("6379");
  expect(text).toContain("Memcached after all");
  const { question } = await scene.given(asked.id);
  expect(question.amendments).toMatchObject([{ handover: { state: "given", witness: "mcp" } }]);
});

test("a correction of what a policy decided is told with that decision", async () => {
  const client = await begin().connect({ way: "http", era: "modern" });
  const ask = { ...CACHE, timeout_seconds: 0.05, timeout: "100ms", on_timeout: "proceed" };
  const { fields } = await client.call("ask_human", ask);
  const id = String(fields["question_id"]);
  const closed = await until(async () => {
    await scene.engine.doDue();
    const read = await scene.engine.read(QuestionId.parse(id));
    return read.question.status === "timeout" ? read : undefined;
  });
  await scene.engine.amend(closed.question.id, "Memcached after all", ADA);
  const { text } = await client.call("check_answer", { question_id: id });
  expect(text).toContain("proceed using your best judgment");
  expect(text).toContain("Memcached after all");
});

test("secrets of the environment do not leave with the question", async () => {
  const client = await begin().connect({ way: "stdio", era: "legacy", caller: { secrets: ["hunter2hunter2"] } });
  await client.call("ask_human", { question: "Is hunter2hunter2 in the log fine?", timeout_seconds: 0.05 });
  const { id } = await scene.waiting();
  expect((await scene.engine.read(id)).content.shared?.items[0]?.text).toBe("Is [redacted] in the log fine?");
});
