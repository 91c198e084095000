import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type ConnectOptions, McpScene } from "../../../test/mcp/scene.ts";
import { AGENT } from "../../../test/builders.ts";
import { QuestionId, type RunId, type WorkerId } from "../../core/id.ts";
import { findLiveRun } from "../../engine/live-run.ts";

const CACHE = { question: "Redis or Memcached?", options: ["Redis", "Memcached"] };
const ADA_THERE: ConnectOptions["caller"] = {
  isAttended: true,
  person: { scope: "human", id: "ada", channel: "mcp", strength: "bearer" },
};
const NOBODY = (): Promise<never> => Promise.reject(new Error("nobody is here"));
const accept = (content: Record<string, string>) => () => Promise.resolve({ action: "accept" as const, content });

let scene: McpScene;
beforeEach(() => (scene = new McpScene()));
afterEach(() => scene.close());

describe.each([
  { way: "stdio", era: "legacy" },
  { way: "stdio", era: "modern" },
  { way: "http", era: "modern" },
] as const)("over $way in the $era era", (door) => {
  const attended = { ...door, caller: ADA_THERE, scope: "human", headers: { "Askd-Attended": "1" } } as const;

  test("a person at the client is shown the question there and answers it", async () => {
    const shown: string[] = [];
    const client = await scene.connect({
      ...attended,
      form: (message) => {
        shown.push(message);
        return Promise.resolve({ action: "accept", content: { item_1: "Memcached" } });
      },
    });
    const { fields } = await client.call("ask_human", CACHE);
    expect(shown).toEqual(["Redis or Memcached?"]);
    expect(fields).toMatchObject({
      answers: { 1: { values: ["Memcached"] } },
      answered_by: "ada",
      channel: "mcp:test-client",
    });
  });

  test("a form that is put away leaves the question to everybody else", async () => {
    const client = await scene.connect({ ...attended, form: () => Promise.resolve({ action: "cancel" }) });
    const calling = client.call("ask_human", CACHE);
    const question = await scene.waiting();
    await scene.answer(question.id, "Redis");
    expect((await calling).fields).toMatchObject({ question_id: question.id, channel: "cli" });
  });

  test("an answer from elsewhere wins over one that comes later at the client", async () => {
    const client = await scene.connect({
      ...attended,
      form: async () => {
        const { id } = await scene.waiting();
        await scene.answer(id, "Redis");
        return { action: "accept", content: { item_1_text: "Neither" } };
      },
    });
    expect((await client.call("ask_human", CACHE)).fields).toMatchObject({ answers: { 1: { values: ["Redis"] } } });
  });

  test("what is answered at a client is known by the client's word alone, and the trail says so", async () => {
    const name = "Evil\nClient (person)";
    const client = await scene.connect({ ...attended, name, form: accept({ item_1: "Redis" }) });
    for (const question of ["First?", "Second?"]) {
      const { fields } = await client.call("ask_human", { ...CACHE, question });
      const { question: answered } = await scene.engine.read(QuestionId.parse(fields["question_id"]));
      const by = { scope: "human", id: "ada", channel: "mcp:evil-client-person-", strength: "bearer" };
      expect(answered).toMatchObject({ status: "answered", answer: { by } });
      const events = (await scene.engine.readChain(answered.runId)).map(({ event }) => event);
      expect(events.find(({ type }) => type === "question.answered")).toMatchObject({ by });
    }
  });

  test.each([{ kind: "approval", options: undefined }, { risk: "high" }])(
    "is never shown %j, and nothing closes it from there",
    async (guarded) => {
      const client = await scene.connect({ ...attended, form: NOBODY });
      const { fields } = await client.call("ask_human", { ...CACHE, ...guarded, timeout_seconds: 0.05 });
      expect(fields).toMatchObject({ status: "pending" });
    },
  );

  test("a client at which nobody sits is shown nothing", async () => {
    const client = await scene.connect({ ...door, form: () => Promise.reject(new Error("nobody is here")) });
    const { fields } = await client.call("ask_human", { ...CACHE, timeout_seconds: 0.05 });
    expect(fields).toMatchObject({ status: "pending", stop_session: true });
  });
});

describe.each([
  { way: "stdio", era: "legacy" },
  { way: "stdio", era: "modern" },
  { way: "http", era: "modern" },
] as const)("below a live run, over $way in the $era era", (door) => {
  let runId: RunId;
  beforeEach(async () => {
    runId = (await scene.engine.createRun({ name: "fix", agent: "claude", giveBack: "worker" }, AGENT)).id;
    await scene.engine.startRun(runId, AGENT);
    scene.above = [runId];
  });

  /** A client that an agent of that run has started, with whatever it says of itself. */
  const connect = (over: Partial<ConnectOptions> = {}, caller: ConnectOptions["caller"] = ADA_THERE) =>
    scene.connect({
      ...door,
      scope: "human",
      form: NOBODY,
      ...over,
      ...(caller?.isAttended && { headers: { "Askd-Attended": "1" } }),
      caller: { ...caller, findRunAbove: () => findLiveRun(scene.engine, scene.above) },
    });

  async function lastOf(fields: Record<string, unknown>) {
    const { question } = await scene.engine.read(QuestionId.parse(fields["question_id"]));
    const { event } = (await scene.engine.readChain(question.runId)).findLast(({ event: { type } }) =>
      /refused|answered/.test(type),
    )!;
    return { question, event };
  }

  const nameOnly = { person: ADA_THERE.person };
  test.for([
    ["with --attended or its header", "codex-mcp-client", ADA_THERE],
    ["as cursor", "cursor", nameOnly],
    ["as Visual Studio Code", "Visual Studio Code", nameOnly],
    ["as Claude Code with its variable", "claude-code", { ...nameOnly, env: { CLAUDE_CODE_SESSION_ATTENDED: "1" } }],
  ] as const)("nothing is shown %s, and that it was tried is in the trail", async ([_how, name, caller], { skip }) => {
    skip("env" in caller && door.way === "http", "a server does not see its clients' variables");
    const client = await connect({ name }, caller);
    for (const question of ["First?", "Second?"]) {
      const { fields } = await client.call("ask_human", { ...CACHE, question, timeout_seconds: 0.05 });
      const seen = await lastOf(fields);
      expect(seen.question.status).toBe("pending");
      expect(seen.event).toMatchObject({ type: "question.refused", by: { scope: "agent", runId, strength: "none" } });
      expect(seen.event.by.channel).toMatch(/^mcp:/);
      await scene.answer(seen.question.id, "1");
    }
    expect((await scene.engine.verify()).problems).toEqual([]);
  });

  test.skipIf(door.way === "http")("an agent that gets into an open form answers nothing", async () => {
    scene.above = [];
    const form = async () => {
      scene.above = [runId];
      return { action: "accept" as const, content: { item_1: "Redis" } };
    };
    const { fields } = await (await connect({ form })).call("ask_human", { ...CACHE, timeout_seconds: 0.5 });
    const seen = await lastOf(fields);
    expect(seen.question.status).toBe("pending");
    expect(seen.event).toMatchObject({ type: "question.refused", by: { scope: "agent", runId } });
  });

  test("a run that was cancelled counts until its processes are gone, and then a person sits there again", async () => {
    const worker = "w_1" as WorkerId;
    const kept = (await scene.engine.findRun(runId))!;
    await scene.store.commit({ runs: [{ ...kept, status: "cancelled", worker }] });
    const client = await connect({ form: accept({ item_1: "Redis" }) });
    const lingering = await client.call("ask_human", { ...CACHE, timeout_seconds: 0.05 });
    expect(lingering.fields).toMatchObject({ status: "pending" });
    await scene.answer(String(lingering.fields["question_id"]), "1");
    const { worker: _gone, ...left } = (await scene.engine.findRun(runId))!;
    await scene.store.commit({ runs: [left] });
    const { fields } = await client.call("ask_human", { ...CACHE, question: "And now?" });
    expect(fields).toMatchObject({ status: "answered", channel: "mcp:test-client" });
  });
});

test("a run that a worker starts again shows nothing at its client", async () => {
  const { id } = await scene.engine.createRun({ name: "run", agent: "test-client", giveBack: "worker" }, AGENT);
  const form = () => Promise.reject(new Error("nobody is here"));
  const client = await scene.connect({ way: "stdio", era: "legacy", caller: { ...ADA_THERE, runId: id }, form });
  const { fields } = await client.call("ask_human", { ...CACHE, timeout_seconds: 0.05 });
  expect(fields).toMatchObject({ status: "pending" });
});

test("several items with several choices come back from a form as they were asked", async () => {
  const content = { item_1: ["ttl", "lru"], item_2: 8080 };
  const form = () => Promise.resolve({ action: "accept" as const, content });
  const client = await scene.connect({ way: "stdio", era: "legacy", caller: ADA_THERE, form });
  const { fields } = await client.call("ask_human", {
    questions: [
      {
        id: "policy",
        question: "Which policies?",
        multiSelect: true,
        options: [
          { value: "ttl", label: "TTL" },
          { value: "lru", label: "LRU" },
        ],
      },
      { id: "port", question: "Which port?", schema: { type: "integer", minimum: 1 } },
    ],
  });
  expect(fields["answers"]).toEqual({ policy: { values: ["ttl", "lru"] }, port: { values: [], text: "8080" } });
});
