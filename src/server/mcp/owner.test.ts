import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { McpScene } from "../../../test/mcp/scene.ts";
import { AGENT } from "../../../test/builders.ts";
import { QuestionId } from "../../core/id.ts";
import { SYSTEM } from "../../core/people/actor.ts";
import { newSessionId } from "./http.ts";

const CACHE = { question: "Redis or Memcached?", options: ["Redis", "Memcached"], timeout_seconds: 0 };
const CLIENT = { name: "test-client", version: "1" };

let scene: McpScene;
beforeEach(() => (scene = new McpScene()));
afterEach(() => scene.close());

type Structured = Record<string, unknown>;

/** Calls a tool with a token of that agent, which is of no run, or with one of an admin. */
async function call(agent: string, name: string, input: object, headers: Record<string, string> = {}) {
  const scope = agent === "admin" ? "admin" : "agent";
  const { text } = await scene.engine.issueToken({ scope, subject: agent }, SYSTEM);
  const prefix = "io.modelcontextprotocol";
  const meta = {
    [`${prefix}/protocolVersion`]: "2026-07-28",
    [`${prefix}/clientInfo`]: CLIENT,
    [`${prefix}/clientCapabilities`]: {},
  };
  const response = await fetch(await scene.url(), {
    method: "POST",
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      authorization: `Bearer ${text}`,
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": "tools/call",
      "mcp-name": name,
      ...headers,
    },
    body: JSON.stringify({
      jsonrpc: "2.0",
      id: 1,
      method: "tools/call",
      params: { name, arguments: input, _meta: meta },
    }),
  });
  const body = await response.text();
  const line = body.split("\n").findLast((each) => each.startsWith("data: {"));
  const { result } = JSON.parse(line?.slice("data: ".length) ?? body) as { result: { structuredContent: Structured } };
  return result.structuredContent;
}

describe("a token that is of no run", () => {
  test("has what its agent asked, in whatever connection, and nothing of another agent's", async () => {
    const { question_id: id } = await call("claude", "ask_human", CACHE);
    await scene.answer(String(id), "Redis");
    const question = { question_id: id, timeout_seconds: 0 };
    expect(await call("stranger", "check_answer", question)).toMatchObject({ status: "refused", code: "not_found" });
    expect(await call("claude", "check_answer", question)).toMatchObject({ status: "answered" });
    const { question_id: other } = await call("claude", "ask_human", { ...CACHE, question: "Which port?" });
    const withdrawn = await call("stranger", "cancel_question", { question_id: other });
    expect(withdrawn).toMatchObject({ status: "refused", code: "not_found" });
    expect(await call("claude", "cancel_question", { question_id: other })).toMatchObject({ success: true });
  });

  test("poses as no other run by naming it, nor by naming its session", async () => {
    const session = { "Mcp-Session-Id": newSessionId(CLIENT) };
    const { question_id: id } = await call("claude", "ask_human", CACHE, session);
    const { run } = await scene.engine.read((await scene.waiting()).id);
    for (const headers of [session, { "Askd-Run": run.id }]) {
      const refused = { status: "refused", code: "not_found" };
      expect(await call("stranger", "check_answer", { timeout_seconds: 0 }, headers)).toMatchObject(refused);
      expect(await call("stranger", "ask_human", { ...CACHE, question: "Mine?" }, headers)).toMatchObject(refused);
      expect(await call("claude", "check_answer", { timeout_seconds: 0 }, headers)).toMatchObject({ question_id: id });
    }
  });
});

test("an agent in its run that has an admin's token has what is of its run, and nothing of another agent's", async () => {
  const started = async () => scene.engine.createRun({ name: "fix", agent: "claude", giveBack: "worker" }, AGENT);
  const [own, other] = [await started(), await started()];
  for (const { id } of [own, other]) await scene.engine.startRun(id, AGENT);
  const { question_id: theirs } = await call("claude", "ask_human", CACHE);
  await scene.answer(String(theirs), "Redis");
  scene.above = [own.id];
  const refused = { status: "refused", code: "not_found" };
  const input = { question_id: theirs, timeout_seconds: 0 };
  expect(await call("admin", "check_answer", input)).toMatchObject(refused);
  expect(await call("admin", "cancel_question", input)).toMatchObject(refused);
  expect(await call("admin", "ask_human", CACHE, { "Askd-Run": other.id })).toMatchObject(refused);
  expect((await scene.engine.read(QuestionId.parse(theirs))).question).toMatchObject({ handover: { state: "owed" } });
  const { question_id: mine } = await call("admin", "ask_human", { ...CACHE, question: "Which port?" });
  expect((await scene.engine.read(QuestionId.parse(mine))).run.parentId).toBe(own.id);
  expect(await call("admin", "check_answer", { question_id: mine, timeout_seconds: 0 })).toMatchObject({
    status: "pending",
  });
});
