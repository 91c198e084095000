import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { McpScene, until } from "../../../test/mcp/scene.ts";
import type { QuestionId } from "../../core/id.ts";
import { isPending } from "../../core/question/question.ts";
import { newSessionId } from "./http.ts";

const CACHE = { question: "Redis or Memcached?", options: ["Redis", "Memcached"] };
/** Some clients send their version only when they open the session; 2025-11-25 is played with the official library. */
const VERSIONS = [undefined, "2025-06-18", "2026-07-28"] as const;
const ID_ONLY = { event: "stream", data: "" };

let scene: McpScene;
let token: string;
const readers: EventReader[] = [];
beforeEach(async () => {
  scene = new McpScene();
  token = await scene.token();
});
afterEach(async () => {
  for (const reader of readers.splice(0)) reader.leave();
  await scene.close();
});

/** The events of a reply, one at a time, and an end to the connection. */
class EventReader {
  readonly status: number;
  readonly #reader: ReadableStreamDefaultReader<string> | undefined;
  readonly #leaving: AbortController;
  #text = "";

  constructor(response: Response, leaving: AbortController) {
    this.status = response.status;
    this.#reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    this.#leaving = leaving;
  }

  /** The fields of the next event; comments are passed over. Undefined at the end. */
  async next(): Promise<Record<string, string> | undefined> {
    for (;;) {
      const end = this.#text.indexOf("\n\n");
      if (end >= 0) {
        const lines = this.#text.slice(0, end).split("\n");
        this.#text = this.#text.slice(end + 2);
        if (!lines.every((line) => line.startsWith(":"))) {
          const fields = lines.map(
            (line) => [line.split(":")[0] ?? "", line.slice(line.indexOf(":") + 1).trim()] as const,
          );
          return Object.fromEntries(fields);
        }
        continue;
      }
      const part = await this.#reader?.read();
      if (!part || part.done) return undefined;
      this.#text += part.value;
    }
  }

  async reply(): Promise<Record<string, unknown>> {
    for (let event = await this.next(); event; event = await this.next()) {
      const message: Record<string, unknown> = event["data"] ? JSON.parse(event["data"]) : {};
      if ("result" in message || "error" in message) return message;
    }
    throw new Error("the stream ended without a reply");
  }

  leave(): void {
    this.#leaving.abort();
  }
}

async function send(init: { method: string; headers?: Record<string, string>; body?: string; token?: string }) {
  const leaving = new AbortController();
  const response = await fetch(await scene.url(), {
    ...init,
    headers: {
      authorization: `Bearer ${init.token ?? token}`,
      accept: "application/json, text/event-stream",
      ...init.headers,
    },
    signal: leaving.signal,
  });
  const reader = new EventReader(response, leaving);
  readers.push(reader);
  return reader;
}

/** A client without a version has a session. */
const headersOf = (protocol: string | undefined): Record<string, string> =>
  protocol === undefined
    ? { "mcp-session-id": newSessionId({ name: "test-client", version: "1" }) }
    : { "mcp-protocol-version": protocol };

/** Calls `ask_human` as a client of that version does. */
function call(protocol: string | undefined, id: number | string, input: object, meta: object = {}) {
  const name = "io.modelcontextprotocol";
  const envelope = {
    [`${name}/protocolVersion`]: protocol,
    [`${name}/clientInfo`]: { name: "test-client", version: "1" },
    [`${name}/clientCapabilities`]: {},
  };
  const isModern = protocol === "2026-07-28";
  const params = { name: "ask_human", arguments: input, _meta: { ...meta, ...(isModern && envelope) } };
  return send({
    method: "POST",
    headers: {
      "content-type": "application/json",
      ...headersOf(protocol),
      ...(isModern && { "mcp-method": "tools/call", "mcp-name": "ask_human" }),
    },
    body: JSON.stringify({ jsonrpc: "2.0", id, method: "tools/call", params }),
  });
}

const comeBack = (protocol: string | undefined, id: string, as?: string) =>
  send({
    method: "GET",
    headers: { ...headersOf(protocol), "last-event-id": id, accept: "text/event-stream" },
    ...(as !== undefined && { token: as }),
  });

async function isHeld(id: QuestionId): Promise<boolean> {
  const { question } = await scene.engine.read(id);
  return isPending(question) && question.hold !== undefined;
}

describe.for(VERSIONS)("in version %s", (protocol) => {
  test("a held call begins with an id, by which its reply is had from another connection", async () => {
    const stream = await call(protocol, "r-1", CACHE);
    const first = await stream.next();
    expect(first).toEqual({ id: expect.stringMatching(/^[\w-]+\.[\w-]+$/), retry: "5000", ...ID_ONLY });
    const question = await scene.waiting();
    stream.leave();
    await until(async () => ((await isHeld(question.id)) ? undefined : true));
    const back = await comeBack(protocol, first?.["id"] ?? "");
    expect(back.status).toBe(200);
    expect(await back.next()).toMatchObject({ ...ID_ONLY, retry: "5000" });
    await until(async () => ((await isHeld(question.id)) ? true : undefined));
    await scene.answer(question.id, "1");
    expect(await back.reply()).toMatchObject({
      jsonrpc: "2.0",
      id: "r-1",
      result: { structuredContent: { status: "answered", question_id: question.id } },
    });
    expect((await scene.given(question.id)).run.status).toBe("completed");
  });

  test("a reply that was lost on its way is had again by the same id, and stays one answer", async () => {
    const stream = await call(protocol, 7, CACHE);
    const id = (await stream.next())?.["id"] ?? "";
    const question = await scene.waiting();
    await scene.answer(question.id, "1");
    const reply = await stream.reply();
    await scene.given(question.id);
    const again = await (await comeBack(protocol, id)).reply();
    const same = (message: Record<string, unknown>) => JSON.stringify(message).replaceAll(/answer-[0-9a-f]+/g, "");
    expect(same(again)).toBe(same(reply));
    const events = await scene.engine.readChain((await scene.engine.read(question.id)).run.id);
    expect(events.filter(({ event }) => event.type === "question.given")).toHaveLength(1);
  });

  test("a client that comes back before its first connection is seen to be gone takes over from it", async () => {
    const stream = await call(protocol, 7, CACHE);
    const id = (await stream.next())?.["id"] ?? "";
    const question = await scene.waiting();
    const back = await comeBack(protocol, id);
    const second = (await back.next())?.["id"];
    expect(second).toBeDefined();
    expect(await stream.reply()).toMatchObject({ result: { structuredContent: { status: "pending" } } });
    await until(async () => ((await isHeld(question.id)) ? true : undefined));
    await scene.answer(question.id, "2");
    expect(await back.reply()).toMatchObject({ id: 7, result: { structuredContent: { status: "answered" } } });
  });

  test("a client that has its reply and still comes back gets nothing", async () => {
    const stream = await call(protocol, 7, CACHE);
    await stream.next();
    const { id } = await scene.waiting();
    await scene.answer(id, "1");
    await stream.reply();
    const last = await stream.next();
    expect(last).toEqual({ id: "end", ...ID_ONLY });
    expect(await stream.next()).toBeUndefined();
    expect((await comeBack(protocol, last?.["id"] ?? "")).status).toBe(405);
  });

  test("what was left of the call's time is held, and what it declared for its end applies", async () => {
    const stream = await call(protocol, 7, { ...CACHE, timeout_seconds: 1, after_hold: "proceed" });
    const id = (await stream.next())?.["id"] ?? "";
    const question = await scene.waiting();
    stream.leave();
    await until(async () => ((await isHeld(question.id)) ? undefined : true));
    const reply = await (await comeBack(protocol, id)).reply();
    expect(reply).toMatchObject({ result: { structuredContent: { status: "timeout", policy: "proceed" } } });
  });

  test("progress is reported to whom the call reported it", async () => {
    const stream = await call(protocol, 7, CACHE, { progressToken: "p-1" });
    const events = [await stream.next(), await stream.next()];
    expect(events[1]?.["data"]).toContain('"progressToken":"p-1"');
    const { id } = await scene.waiting();
    stream.leave();
    await until(async () => ((await isHeld(id)) ? undefined : true));
    const back = await comeBack(protocol, events[0]?.["id"] ?? "");
    await back.next();
    expect((await back.next())?.["data"]).toContain('"progressToken":"p-1"');
    await scene.answer(id, "1");
    await back.reply();
  });

  test("an id is good for the token that it was made for, and for nothing else", async () => {
    const stream = await call(protocol, 7, CACHE);
    const id = (await stream.next())?.["id"] ?? "";
    const [payload = "", seal = ""] = id.split(".");
    const other = Buffer.from(payload, "base64url").toString("utf8").replace("7", "8");
    const forged = [
      { id, as: await scene.token() },
      { id: `${Buffer.from(other).toString("base64url")}.${seal}` },
      { id: payload },
      { id: `${payload}.` },
      { id: "_GET_stream_1" },
      { id: "x".repeat(5_000) },
    ];
    for (const { id: text, as } of forged) expect((await comeBack(protocol, text, as)).status).toBe(400);
    const { id: question } = await scene.waiting();
    expect(await isHeld(question)).toBe(true);
    await scene.answer(question, "1");
    await stream.reply();
  });
});

test("a program with neither version nor session gets no more than its reply", async () => {
  const params = { name: "ask_human", arguments: CACHE };
  const stream = await send({
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 7, method: "tools/call", params }),
  });
  const { id } = await scene.waiting();
  await scene.answer(id, "1");
  expect(await stream.next()).toMatchObject({ event: "message", data: expect.stringContaining('"answered"') });
  expect(await stream.next()).toBeUndefined();
});

test("what is answered at once needs no id", async () => {
  const stream = await call("2025-11-25", 7, { ...CACHE, timeout_seconds: 0 });
  expect((await stream.next())?.["id"]).toBeUndefined();
});
