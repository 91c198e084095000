import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { serve } from "@hono/node-server";
import * as sdk from "@modelcontextprotocol/server";
import { Hono } from "hono";
import { AGENTS } from "../src/agents/agents.ts";
import { knownClients } from "../src/agents/registry.ts";
import { SYSTEM, type Actor } from "../src/core/people/actor.ts";
import { AnswerInput } from "../src/core/answer/answer-input.ts";
import { QuestionId } from "../src/core/id.ts";
import { DEFAULT_LIMITS, DEFAULT_RULES, type Rules } from "../src/core/rules.ts";
import { processHolder } from "../src/agents/process/process-holder.ts";
import { engineOn } from "../src/app.ts";
import { mcpPart } from "../src/server/mcp/http.ts";
import { serveHttp } from "../src/server/server.ts";
import { openDatabase } from "../src/sqlite.ts";
import { openSqliteStore } from "../src/store/sqlite/sqlite.ts";
import type { TrailFilter } from "../src/store/store.ts";
import { clockMs } from "./client.ts";
import { type Calls, serving } from "./server-process.ts";

const MANY = 1_000_000;
const FEW = 200;
const FEW_PAUSE_MS = 4;
const ADA: Actor = { scope: "human", id: "ada", channel: "cli", strength: "local" };
const ANSWERED = AnswerInput.parse({ answer: "1" });
const ANSWERS_AT_ONCE = 256;

/** The product as it is served, without limits that a benchmark would meet. */
export async function serveAskd(directory: string): Promise<void> {
  const limits = {
    ...DEFAULT_LIMITS,
    pending: MANY,
    requestsPerMinute: MANY * 10,
    asksPerMinute: MANY,
    holds: MANY,
    holdsPerToken: MANY,
  };
  const rules: Rules = { ...DEFAULT_RULES, limits };
  const store = await openSqliteStore(join(directory, "askd.db"));
  const engine = engineOn(store, { rules });
  const feed = {
    read: (after: string, limit: number) => store.readFeed(after, limit),
    readBack: (filter: TrailFilter) => store.readTrailPage(filter),
    findEnd: () => store.findFeedEnd(),
    onChange: (listener: () => void) => store.onChange(listener),
  };
  const mcp = mcpPart({
    engine,
    holders: await processHolder(),
    rules,
    version: "0.0.0",
    host: "here",
    clients: knownClients(AGENTS),
    onBug: (error) => console.error(error),
  });
  const deps = { engine, rules, store, feed, holds: () => engine.holds, version: "0.0.0", log: () => undefined };
  const { port } = await serveHttp({ ...deps, parts: [mcp] }, { port: 0 });
  const { text: token } = await engine.issueToken({ scope: "admin", subject: "bench" }, SYSTEM);
  const pending = async (limit: number): Promise<string[]> =>
    (await engine.listQuestions({ status: "pending", order: "oldest", limit })).map(({ id }) => id);
  const answer = async (id: string): Promise<void> => {
    await engine.answer(QuestionId.parse(id), ANSWERED, ADA);
  };
  serving({ port, token }, { ...answering(pending, answer), holds: async () => engine.holds });
}

/** What the benchmark has done to the questions of a server: a few answered one by one, or all at once. */
function answering(pending: (limit: number) => Promise<string[]>, answer: (id: string) => Promise<void>): Calls {
  const answered: Array<[string, number]> = [];
  const answerOne = async (id: string): Promise<void> => {
    await answer(id);
    answered.push([id, clockMs()]);
  };
  return {
    answered: async () => answered,
    answerFew: async () => {
      for (const id of await pending(FEW)) {
        await answerOne(id);
        await new Promise((resolve) => setTimeout(resolve, FEW_PAUSE_MS));
      }
      return FEW;
    },
    answerAll: async () => {
      const started = performance.now();
      const rest = (await pending(MANY)).values();
      const loops = Array.from({ length: ANSWERS_AT_ONCE }, async () => {
        for (const id of rest) await answerOne(id);
      });
      await Promise.all(loops);
      return performance.now() - started;
    },
  };
}

/** Calls that wait for an answer that is kept nowhere. */
class Waiting {
  readonly #waiting = new Map<string, () => void>();
  readonly calls: Calls = {
    ...answering(
      async (limit) => [...this.#waiting.keys()].slice(0, limit),
      async (id) => {
        this.#waiting.get(id)?.();
        this.#waiting.delete(id);
      },
    ),
    holds: async () => this.#waiting.size,
  };

  wait(id: string): Promise<void> {
    return new Promise((resolve) => this.#waiting.set(id, resolve));
  }
}

/** The same framework with nothing but a promise for each held request. */
export async function serveBareHold(): Promise<void> {
  const waiting = new Waiting();
  const app = new Hono();
  app.get("/hold/:id", async (context) => {
    const id = context.req.param("id");
    await waiting.wait(id);
    return context.json({ id, answer: `answer to ${id}` });
  });
  await listening(app, waiting.calls);
}

/**
 * The protocol library alone, mounted as its documentation says: one handler, a server for each request, and a promise
 * for each held call. It is the same version, replies by the same stream, and sends as little progress.
 */
export async function serveBareMcp(): Promise<void> {
  const waiting = new Waiting();
  const handler = sdk.createMcpHandler(
    () => {
      const server = new sdk.Server({ name: "bare", version: "0" }, { capabilities: { tools: {} } });
      server.setRequestHandler("tools/call", async ({ params }) => {
        const mark = String(params.arguments?.["mark"]);
        await waiting.wait(mark);
        return { content: [{ type: "text", text: `answer ${mark}` }] };
      });
      return server;
    },
    { responseMode: "sse" },
  );
  const app = new Hono();
  app.post("/mcp", (context) => handler.fetch(context.req.raw));
  await listening(app, waiting.calls);
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

function listening(app: Hono, calls: Calls): Promise<void> {
  return new Promise((resolve) => {
    serve({ fetch: app.fetch, hostname: "127.0.0.1", port: 0 }, ({ port }) => {
      serving({ port, token: "" }, calls);
      resolve();
    });
  });
}
