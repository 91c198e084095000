import { afterEach, beforeEach, expect, test } from "vitest";
import { McpScene } from "../../../test/mcp/scene.ts";
import { AGENT } from "../../../test/builders.ts";
import { SYSTEM } from "../../core/people/actor.ts";
import { TASKS_EXTENSION } from "./caller.ts";

const CACHE = { question: "Redis or Memcached?", options: ["Redis", "Memcached"] };
const WITH_TASKS = { extensions: { [TASKS_EXTENSION]: {} } };

let scene: McpScene;
beforeEach(() => (scene = new McpScene()));
afterEach(() => scene.close());

type Json = Record<string, unknown>;

/** One request of the newer era as it is on the wire: the official client does not show what it cannot name. */
async function send(
  method: string,
  params: Json,
  capabilities: Json = WITH_TASKS,
  headers: Record<string, string> = {},
) {
  const meta = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": { name: "test-client", version: "1" },
    "io.modelcontextprotocol/clientCapabilities": capabilities,
  };
  const response = await fetch(await scene.url(), {
    method: "POST",
    headers: {
      "Content-Type": "application/json",
      Accept: "application/json, text/event-stream",
      Authorization: `Bearer ${await scene.token()}`,
      "MCP-Protocol-Version": "2026-07-28",
      "Mcp-Method": method,
      "Mcp-Name": String(params["name"] ?? params["taskId"]),
      ...headers,
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: { ...params, _meta: meta } }),
  });
  const text = await response.text();
  const line =
    text
      .split("\n")
      .findLast((each) => each.startsWith("data: ") && each.length > 6)
      ?.slice(6) ?? text;
  return JSON.parse(line) as { result?: Json; error?: Json }; // one of the two, says the protocol
}

const ask = (capabilities?: Json) =>
  send("tools/call", { name: "ask_human", arguments: { ...CACHE, timeout_seconds: 0.05 } }, capabilities);

test("a client that declares tasks on its request gets a handle, and the answer by it on any later request", async () => {
  const { result: handle = {} } = await ask();
  const question = await scene.waiting();
  expect(handle).toMatchObject({ resultType: "task", taskId: question.id, status: "working", ttlMs: null });
  expect(handle["pollIntervalMs"]).toBe(1000);
  expect(question).not.toHaveProperty("hold");
  const { result: working } = await send("tasks/get", { taskId: question.id });
  expect(working).toMatchObject({ resultType: "complete", taskId: question.id, status: "working" });
  await scene.answer(question.id, "Redis");
  const { result: done } = await send("tasks/get", { taskId: question.id });
  expect(done).toMatchObject({
    status: "completed",
    result: { resultType: "complete", structuredContent: { status: "answered", question_id: question.id } },
  });
  await scene.given(question.id);
});

test("a client that does not declare tasks on this request gets none, whatever it declared before", async () => {
  await ask();
  const { result } = await ask({});
  expect(result).toMatchObject({ resultType: "complete", structuredContent: { status: "pending" } });
});

test("a run that a worker starts again never gets a task", async () => {
  const { id } = await scene.engine.createRun({ name: "run", agent: "test-client", giveBack: "worker" }, AGENT);
  const params = { name: "ask_human", arguments: { ...CACHE, timeout_seconds: 0.05 } };
  const { text } = await scene.engine.issueToken({ scope: "agent", subject: "claude", runId: id }, SYSTEM);
  const { result } = await send("tools/call", params, WITH_TASKS, { Authorization: `Bearer ${text}` });
  expect(result).toMatchObject({ resultType: "complete", structuredContent: { stop_session: true } });
});

test("cancelling a task withdraws its question, and again changes nothing", async () => {
  await ask();
  const { id } = await scene.waiting();
  expect((await send("tasks/cancel", { taskId: id })).error).toBeUndefined();
  expect((await send("tasks/cancel", { taskId: id })).error).toBeUndefined();
  expect((await send("tasks/get", { taskId: id })).result).toMatchObject({ status: "cancelled" });
});

test("an agent's token cannot answer its own task", async () => {
  await ask();
  const { id } = await scene.waiting();
  const reply = { answer: { action: "accept", content: { item_1: "Redis" } } };
  const both = { ...WITH_TASKS, elicitation: { form: {} } };
  await send("tasks/update", { taskId: id, inputResponses: reply }, both, { "Askd-Attended": "1" });
  expect((await scene.engine.read(id)).question.status).toBe("pending");
});

test("a person's own client is asked by the task and may answer it", async () => {
  const token = await scene.token("human");
  const person = { Authorization: `Bearer ${token}`, "Askd-Attended": "1" };
  const both = { ...WITH_TASKS, elicitation: { form: {} } };
  const { result } = await send("tools/call", { name: "ask_human", arguments: CACHE }, both, person);
  const question = await scene.waiting();
  expect(result).toMatchObject({
    status: "input_required",
    inputRequests: { answer: { method: "elicitation/create" } },
  });
  const reply = { answer: { action: "accept", content: { item_1: "Memcached" } } };
  await send("tasks/update", { taskId: question.id, inputResponses: reply }, both, person);
  const { result: done } = await send("tasks/get", { taskId: question.id }, both, person);
  expect(done).toMatchObject({
    status: "completed",
    result: { structuredContent: { answered_by: "ada", channel: "mcp:test-client" } },
  });
});

test("a task that is not there is an error", async () => {
  const { error } = await send("tasks/get", { taskId: "q_00000000000000000000000000" });
  expect(error).toMatchObject({ code: -32602 });
});
