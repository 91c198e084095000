import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { type PostgresServer, startPostgres } from "../../test/postgres.ts";
import { until } from "../../test/run-dir.ts";
import { ROOMY } from "../../test/scene.ts";
import { openEngine, openServer } from "../app.ts";
import { SYSTEM } from "../core/people/actor.ts";
import { SECOND_MS, later } from "../core/instant.ts";

const ASK = { question: "Redis or Memcached?", options: ["Redis", "Memcached"] };
const Asked = z.looseObject({ id: z.string(), status: z.string() });

/** A server with its worker on a database that can be ended, and what it logged. */
async function aServer(database: PostgresServer) {
  const runtimeDir = mkdtempSync(join(tmpdir(), "askd-outage-"));
  const lines: Array<{ event: string; level: string; message?: string }> = [];
  const store = { kind: "postgres", url: database.url } as const;
  const served = await openServer(
    {
      store,
      rules: ROOMY,
      runtimeDir,
      user: "ada",
      isVerbose: false,
      env: {},
      writeLog: (line) => void lines.push(JSON.parse(line)),
    },
    { port: 0 },
  );
  const engine = await openEngine({ store, rules: ROOMY });
  const { text: token } = await engine.issueToken({ scope: "human", subject: "ada" }, SYSTEM);
  let hasEnded = false;
  const working = served.work().finally(() => (hasEnded = true));
  onTestFinished(async () => {
    await served.close();
    await working;
    await engine.stop();
    rmSync(runtimeDir, { recursive: true });
  });
  return { url: served.url, token, lines, engine, hasEnded: () => hasEnded };
}

type At = Awaited<ReturnType<typeof aServer>>;

function send({ url, token }: At, path: string, body?: unknown): Promise<Response> {
  return fetch(`${url}/api/v1${path}`, {
    method: body === undefined ? "GET" : "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
}

/** The replies that callers got: the number served, and each failure in words. */
class Tally {
  served = 0;
  away = 0;
  readonly wrong: string[] = [];

  async count(response: Response): Promise<unknown> {
    const text = await response.text();
    if (response.ok) {
      this.served += 1;
      return JSON.parse(text);
    }
    const isRetryable = response.status === 503 && response.headers.get("retry-after") === "1";
    if (isRetryable && text.includes('"store_unreachable"')) this.away += 1;
    else this.wrong.push(`${response.status} ${text}`);
    return undefined;
  }
}

/** Asks, answers and reads again and again until told to stop. */
async function useServer(at: At, tally: Tally, isOver: () => boolean): Promise<void> {
  while (!isOver()) {
    const asked = Asked.safeParse(await tally.count(await send(at, "/questions", ASK)));
    await tally.count(await send(at, "/questions?status=pending"));
    if (!asked.success) continue;
    await tally.count(await send(at, `/questions/${asked.data.id}`));
    const reply = await send(at, `/questions/${asked.data.id}/answer`, { answer: "1" });
    // Its reply may have been lost where the answer was kept.
    if (reply.status !== 409) await tally.count(reply);
  }
}

test(
  "while PostgreSQL restarts callers are told to come back, nothing ends, and all goes on",
  { timeout: 120_000 },
  async () => {
    const database = await startPostgres();
    onTestFinished(() => database.stop());
    const at = await aServer(database);
    const tally = new Tally();
    let isOver = false;
    const events = await fetch(`${at.url}/api/v1/events`, {
      headers: { authorization: `Bearer ${at.token}`, accept: "text/event-stream" },
    });
    const users = Array.from({ length: 6 }, () => useServer(at, tally, () => isOver));
    for (const how of ["at once", "politely", "at once"] as const) {
      const before = { served: tally.served, away: tally.away };
      await until("the server serves", () => tally.served > before.served + 20);
      await database.crash(how);
      await until("callers hear that the store is away", () => tally.away > before.away + 6);
      await database.start();
    }
    const before = tally.served;
    await until("the server serves again", () => tally.served > before + 20);
    isOver = true;
    await Promise.all(users);
    expect(tally.wrong).toEqual([]);
    expect(at.lines.filter(({ level }) => level === "error")).toEqual([]);
    expect(at.lines.some(({ event }) => event === "worker_waits")).toBe(true);
    expect(at.hasEnded()).toBe(false);
    // The worker of the server is there as before: what falls due is done with nobody else to do it.
    const dueAt = later(await at.engine.now(), SECOND_MS);
    const asked = await send(at, "/questions", { ...ASK, expires_at: dueAt });
    const { id } = Asked.parse(await asked.json());
    await until(
      "its deadline is met",
      async () => Asked.parse(await (await send(at, `/questions/${id}`)).json()).status === "timeout",
    );
    await events.body?.cancel();
  },
);
