import { afterEach, beforeEach, expect, test } from "vitest";
import { McpScene } from "../../../test/mcp/scene.ts";
import { SAFE_HEADERS } from "../guard.ts";

const LIST = { jsonrpc: "2.0", id: 1, method: "tools/list" };

let scene: McpScene;
beforeEach(() => {
  scene = new McpScene();
});
afterEach(() => scene.close());

test.each([
  { what: "a stream", init: { method: "POST", body: JSON.stringify(LIST) }, status: 200 },
  { what: "a refusal", init: { method: "GET" }, status: 405 },
])("$what carries what every reply carries", async ({ init, status }) => {
  const headers = {
    ...{ authorization: `Bearer ${await scene.token()}`, "content-type": "application/json" },
    accept: "application/json, text/event-stream",
  };
  const response = await fetch(await scene.url(), { ...init, headers });
  await response.text();
  expect(response.status).toBe(status);
  for (const [name, value] of Object.entries(SAFE_HEADERS)) expect(response.headers.get(name)).toContain(value);
});

test("a call that is held while the server closes is told to stop, and its question stays", async () => {
  const client = await scene.connect({ way: "http", era: "modern" });
  const calling = client.call("ask_human", { question: "Redis or Memcached?", options: ["Redis", "Memcached"] });
  const question = await scene.waiting();
  const [{ fields }] = await Promise.all([calling, scene.closeHttp()]);
  expect(fields).toMatchObject({ status: "pending", question_id: question.id, stop_session: true });
});
