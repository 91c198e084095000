import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type ConnectOptions, McpScene } from "../../../test/mcp/scene.ts";
import { AGENT } from "../../../test/builders.ts";

const CACHE = { question: "Redis or Memcached?", options: ["Redis", "Memcached"] };
const ADA_THERE: ConnectOptions["caller"] = {
  isAttended: true,
  person: { scope: "human", id: "ada", channel: "mcp", strength: "local" },
};

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
    expect(fields).toMatchObject({ answers: { 1: { values: ["Memcached"] } }, answered_by: "ada", channel: "mcp" });
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

  test("a client at which nobody sits is shown nothing", async () => {
    const client = await scene.connect({ ...door, form: () => Promise.reject(new Error("nobody is here")) });
    const { fields } = await client.call("ask_human", { ...CACHE, timeout_seconds: 0.05 });
    expect(fields).toMatchObject({ status: "pending", stop_session: true });
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
