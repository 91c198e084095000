import { setMaxListeners } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { openEngine } from "../../src/app.ts";
import { SYSTEM } from "../../src/core/people/actor.ts";
import { AnswerInput } from "../../src/core/answer/answer-input.ts";
import type { Engine } from "../../src/engine/engine.ts";
import { ADA } from "../builders.ts";
import { type Child, bundle, start } from "../child.ts";
import { ROOMY } from "../scene.ts";
import { until } from "./scene.ts";

const CALLS = 100;
const ANSWERED = 40;
const numbers = Array.from({ length: CALLS }, (_, index) => index);

let program = "";
let directory = "";
let file = "";
let engine: Engine;
const children: Child[] = [];

beforeAll(async () => {
  program = await bundle("test/mcp/server.child.ts");
});
beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), "askd-kill-"));
  file = join(directory, "askd.db");
  engine = await openEngine({ store: { kind: "sqlite", file }, rules: ROOMY });
});
afterEach(async () => {
  for (const child of children.splice(0)) child.process.kill("SIGKILL");
  await engine.stop();
  rmSync(directory, { recursive: true });
});

/** A server in a process of its own, and a client of it. */
async function serve(token: string): Promise<{ child: Child; client: Client }> {
  const child = start(program, [file]);
  children.push(child);
  const url = new URL(`http://127.0.0.1:${await child.line()}/mcp`);
  const client = new Client(
    { name: "test-client", version: "1" },
    { versionNegotiation: { mode: { pin: "2026-07-28" } } },
  );
  const headers = { Authorization: `Bearer ${token}` };
  await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers } }));
  return { child, client };
}

function ask(client: Client, number: number, more: object = {}, signal?: AbortSignal) {
  const input = { question: `Question ${number}?`, ...more };
  return client.callTool({ name: "ask_human", arguments: input }, { ...(signal && { signal }) });
}

const pending = () => engine.listQuestions({ status: "pending", order: "oldest", limit: CALLS + 1 });

test("a server killed while it holds 100 calls loses no question and no answer", async () => {
  const { text: token } = await engine.issueToken({ scope: "agent", subject: "agent" }, SYSTEM);
  const first = await serve(token);
  const patience = new AbortController();
  setMaxListeners(10 * CALLS, patience.signal); // every call listens to it
  const held = numbers.map((number) => ask(first.client, number, {}, patience.signal).catch(() => "no reply"));
  const asked = await until(async () => {
    const questions = await pending();
    return questions.length === CALLS ? questions : undefined;
  });
  first.child.process.kill("SIGKILL");
  await first.child.exited;
  patience.abort();
  expect(await Promise.all(held)).toEqual(numbers.map(() => "no reply"));
  expect((await pending()).map(({ id }) => id)).toEqual(asked.map(({ id }) => id));

  const input = AnswerInput.parse({ answer: "yes" });
  for (const { id } of asked.slice(0, ANSWERED)) await engine.answer(id, input, ADA);
  const second = await serve(token);
  const again = await Promise.all(numbers.map((number) => ask(second.client, number, { timeout_seconds: 0.05 })));
  const byTitle = new Map(asked.map(({ title, id }, index) => [title, { id, isAnswered: index < ANSWERED }]));
  const expected = numbers.map((number) => {
    const { id, isAnswered } = byTitle.get(`Question ${number}?`) ?? {};
    return { question_id: id, status: isAnswered ? "answered" : "pending" };
  });
  expect(again.map(({ structuredContent }) => structuredContent)).toMatchObject(expected);
  await second.client.close();
});
