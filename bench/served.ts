import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { serve } from "@hono/node-server";
import * as sdk from "@modelcontextprotocol/server";
import { Hono } from "hono";
import { SYSTEM } from "../src/core/actor.ts";
import { AnswerInput } from "../src/core/answer-input.ts";
import type { Actor } from "../src/core/actor.ts";
import { DEFAULT_LIMITS, DEFAULT_RULES, type Rules } from "../src/core/rules.ts";
import { engineOn } from "../src/app.ts";
import { mcpPart } from "../src/server/mcp/http.ts";
import { serveHttp } from "../src/server/server.ts";
import { openDatabase } from "../src/sqlite.ts";
import { openSqliteStore } from "../src/store/sqlite.ts";
import type { TrailFilter } from "../src/store/store.ts";
import { serving } from "./server-process.ts";

const MANY = 1_000_000;
const ADA: Actor = { scope: "human", id: "ada", channel: "cli", strength: "local" };
const ANSWERED = AnswerInput.parse({ answer: "1" });
const ANSWERS_AT_ONCE = 256;

/** The product as it is served, without limits that a benchmark would meet. */
export async function serveAskd(directory: string): Promise<void> {
  const limits = { ...DEFAULT_LIMITS, pending: MANY, requestsPerMinute: MANY * 10, asksPerMinute: MANY };
  const rules: Rules = { ...DEFAULT_RULES, limits };
  const store = await openSqliteStore(join(directory, "askd.db"));
  const engine = engineOn(store, { rules });
  const feed = {
    read: (after: string, limit: number) => store.readFeed(after, limit),
    readBack: (filter: TrailFilter) => store.readBack(filter),
    findEnd: () => store.findFeedEnd(),
    onChange: (listener: () => void) => store.onChange(listener),
  };
  const mcp = mcpPart({ engine, rules, version: "0.0.0", host: "here", onBug: (error) => console.error(error) });
  const deps = { engine, rules, store, feed, holds: () => engine.holds, version: "0.0.0", log: () => undefined };
  const { port } = await serveHttp({ ...deps, parts: [mcp] }, { port: 0 });
  const { text: token } = await engine.issueToken({ scope: "admin", subject: "bench" }, SYSTEM);
  const answerAll = async (): Promise<number> => {
    const started = performance.now();
    const pending = await engine.listQuestions({ status: "pending", order: "oldest", limit: MANY });
    const rest = pending.values();
    const answering = Array.from({ length: ANSWERS_AT_ONCE }, async () => {
      for (const { id } of rest) await engine.answer(id, ANSWERED, ADA);
    });
    await Promise.all(answering);
    return performance.now() - started;
  };
  serving({ port, token }, { answerAll, holds: async () => engine.holds });
}

/** The same framework with nothing but a promise for each held request. */
export async function serveBareHold(): Promise<void> {
  const waiting = new Map<string, (text: string) => void>();
  const app = new Hono();
  app.get("/hold/:id", async (context) => {
    const id = context.req.param("id");
    const answer = await new Promise<string>((resolve) => waiting.set(id, resolve));
    return context.json({ id, answer });
  });
  const answerAll = async (): Promise<number> => {
    const started = performance.now();
    for (const [id, resolve] of waiting) resolve(`answer to ${id}`);
    waiting.clear();
    return performance.now() - started;
  };
  await listening(app, { answerAll, holds: async () => waiting.size });
}

/** The protocol library alone, a server for each request and a promise for each held call. */
export async function serveBareMcp(): Promise<void> {
  const waiting: Array<() => void> = [];
  const app = new Hono();
  app.post("/mcp", (context) => {
    const handler = sdk.createMcpHandler(
      () => {
        const server = new sdk.Server({ name: "bare", version: "0" }, { capabilities: { tools: {} } });
        server.setRequestHandler("tools/call", async ({ params }) => {
          await new Promise<void>((resolve) => waiting.push(resolve));
          return { content: [{ type: "text", text: `answer ${String(params.arguments?.["mark"])}` }] };
        });
        return server;
      },
      { responseMode: "sse" },
    );
    return handler.fetch(context.req.raw);
  });
  const answerAll = async (): Promise<number> => {
    const started = performance.now();
    for (const resolve of waiting.splice(0)) resolve();
    return performance.now() - started;
  };
  await listening(app, { answerAll, holds: async () => waiting.length });
}

/** The same framework doing two durable transactions: everything of one turn of the loop shares a commit. */
export async function serveBareTransactions(directory: string): Promise<void> {
  const db = openDatabase(join(directory, "bare.db"));
  db.exec("pragma journal_mode = wal; pragma synchronous = full");
  db.exec("create table question (id text primary key, body text not null, answer text)");
  const insert = db.prepare("insert into question (id, body) values (?, ?)");
  const answer = db.prepare("update question set answer = ? where id = ? and answer is null");
  let batch: Array<{ work: () => void; done: () => void }> = [];
  const flush = (): void => {
    const all = batch;
    batch = [];
    db.exec("begin immediate");
    for (const { work } of all) work();
    db.exec("commit");
    for (const { done } of all) done();
  };
  const commit = (work: () => void): Promise<void> =>
    new Promise((done) => {
      if (batch.length === 0) setImmediate(flush);
      batch.push({ work, done });
    });
  const app = new Hono();
  app.post("/questions", async (context) => {
    const id = randomBytes(13).toString("hex");
    const body: unknown = await context.req.json();
    await commit(() => insert.run(id, JSON.stringify(body)));
    return context.json({ id, status: "pending" }, 201);
  });
  app.post("/questions/:id/answer", async (context) => {
    const { answer: text } = await context.req.json<{ answer: string }>();
    const id = context.req.param("id");
    await commit(() => answer.run(text, id));
    return context.json({ id, status: "answered", answer: text });
  });
  await listening(app, {});
}

function listening(app: Hono, calls: Record<string, () => Promise<number>>): Promise<void> {
  return new Promise((resolve) => {
    serve({ fetch: app.fetch, hostname: "127.0.0.1", port: 0 }, ({ port }) => {
      serving({ port, token: "" }, calls);
      resolve();
    });
  });
}
