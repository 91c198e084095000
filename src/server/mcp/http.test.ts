import { afterEach, beforeEach, expect, test } from "vitest";
import { McpScene } from "../../../test/mcp/scene.ts";
import type { Changes } from "../../core/changes.ts";
import { instant } from "../../core/instant.ts";
import { MemoryStore } from "../../../test/memory-store/memory.ts";
import type { CommitResult } from "../../store/store.ts";
import { SAFE_HEADERS } from "../guard.ts";

/** A store whose server is told to stop in the moment in which an answer is committed. */
class StoppingStore extends MemoryStore {
  onAnswered: (() => void) | undefined;

  override async commit(changes: Changes): Promise<CommitResult> {
    const committed = await super.commit(changes);
    if (changes.events?.some(({ type }) => type === "question.answered")) this.onAnswered?.();
    return committed;
  }
}

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
    authorization: `Bearer ${await scene.token()}`,
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
  };
  const response = await fetch(await scene.url(), { ...init, headers });
  await response.text();
  expect(response.status).toBe(status);
  for (const [name, value] of Object.entries(SAFE_HEADERS)) expect(response.headers.get(name)).toContain(value);
});

test("an answer that comes as the server closes is not told by a reply that nobody would record", async () => {
  await scene.close();
  const store = new StoppingStore(() => instant(Date.now()));
  scene = new McpScene(store);
  const client = await scene.connect({ way: "http", era: "modern" });
  const calling = client.call("ask_human", { question: "Redis or Memcached?", options: ["Redis", "Memcached"] });
  const question = await scene.waiting();
  let closing: Promise<void> | undefined;
  store.onAnswered = () => void (closing = scene.closeHttp());
  await scene.answer(question.id, "1");
  expect((await calling).fields).toMatchObject({ status: "pending", question_id: question.id });
  await closing;
  expect((await scene.engine.read(question.id)).run.owes).toEqual([question.id]);
});

test("a call that is held while the server closes is told to stop, and its question stays", async () => {
  const client = await scene.connect({ way: "http", era: "modern" });
  const calling = client.call("ask_human", { question: "Redis or Memcached?", options: ["Redis", "Memcached"] });
  const question = await scene.waiting();
  const [{ fields }] = await Promise.all([calling, scene.closeHttp()]);
  expect(fields).toMatchObject({ status: "pending", question_id: question.id, stop_session: true });
});
