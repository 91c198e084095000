import { connect } from "node:net";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { SYSTEM } from "../../core/people/actor.ts";
import { STORE_CHAIN } from "../../core/id.ts";
import { tokenId } from "../../core/people/token.ts";
import { DEFAULT_LIMITS } from "../../core/rules.ts";
import { ADA, AGENT, aRun, anEvent } from "../../../test/builders.ts";
import { Scene, said } from "../../../test/scene.ts";
import { ServedScene } from "../../../test/served.ts";
import { type Heard, hear } from "../../../test/sse.ts";
import { EventStream } from "./stream.ts";

let at: ServedScene;
beforeEach(async () => {
  at = await ServedScene.start({ heartbeatMs: 50, recheckMs: 50 });
});
afterEach(() => at.stop());

const events = (query = ""): string => `${at.url}/api/v1/events${query}`;

test("a reader that comes back misses nothing, while many write and the server restarts", async () => {
  const token = await at.token({ scope: "admin" });
  const WRITERS = 10;
  const ASKS = 15;
  const heard: Heard[] = [];
  let isOver = false;
  const reading = (async () => {
    while (!isOver) {
      const after = heard.at(-1)?.id ?? "0";
      await hear(events(), { token, after, enough: () => isOver, onHeard: (each) => heard.push(each) }).catch(
        () => undefined, // between two servers nobody answers
      );
    }
  })();
  const write = async (): Promise<void> => {
    for (let index = 0; index < ASKS; index += 1) {
      const { question } = await at.scene.ask();
      await new Promise((resolve) => setTimeout(resolve, 1));
      await at.scene.engine.answer(question.id, said("1"), ADA);
    }
  };
  const writing = Promise.all(Array.from({ length: WRITERS }, write));
  for (let restarts = 0; restarts < 3; restarts += 1) await at.restart();
  await writing;
  const all = await at.scene.store.readFeed("0", 100_000);
  await expect.poll(() => heard.length, { timeout: 15_000 }).toBeGreaterThanOrEqual(all.length);
  isOver = true;
  await at.scene.ask();
  await reading;
  expect(heard.slice(0, all.length).map(({ id }) => id)).toEqual(all.map(({ cursor }) => cursor));
  expect(heard.slice(0, all.length).map(({ event }) => event)).toEqual(all.map(({ event }) => event.type));
});

describe("a reader", () => {
  test("hears what happens from now on, and only what it wants", async () => {
    const token = await at.token();
    await at.scene.ask();
    let open: () => void = () => undefined;
    const opened = new Promise<void>((resolve) => (open = resolve));
    const wanted = events("?types=question.answered,run.*");
    const hearing = hear(wanted, { token, enough: (heard) => heard.length >= 3, onOpen: open });
    await opened;
    const { question } = await at.scene.ask();
    await at.scene.engine.answer(question.id, said("1"), ADA);
    const { heard } = await hearing;
    expect(heard.map(({ event }) => event)).not.toContain("question.asked");
    expect(heard.find(({ event }) => event === "question.answered")?.data).toMatchObject({
      question_id: question.id,
      by: { id: "ada", channel: "cli" },
    });
  });

  test("that is an agent hears of its own run only", async () => {
    const mine = await at.scene.startedRun();
    const other = await at.scene.startedRun({ session: "other" });
    const token = await at.token({ scope: "agent", subject: "claude", runId: mine.id });
    for (const run of [other, mine]) await at.scene.engine.ask(at.scene.input(), AGENT, { runId: run.id });
    const { heard } = await hear(events(), { token, after: "0", enough: (found) => found.length >= 3 });
    expect(new Set(heard.map(({ data }) => data["run_id"]))).toEqual(new Set([mine.id]));
    expect((await hear(events(`?run=${other.id}`), { token, enough: () => true })).status).toBe(404);
    const runless = await at.token({ scope: "agent", subject: "ci" });
    expect((await hear(events(), { token: runless, enough: () => true })).status).toBe(403);
  });

  test("is kept alive, and cut off once its token is worth nothing", async () => {
    const token = await at.token();
    const hearing = hear(events(), { token, enough: () => false });
    await expect.poll(() => at.served.live.streams).toBe(1);
    await new Promise((resolve) => setTimeout(resolve, 120));
    await at.scene.engine.revokeToken(tokenId(token), SYSTEM);
    const { comments } = await hearing;
    expect(comments).toBeGreaterThanOrEqual(2);
    expect(at.served.live.streams).toBe(0);
  });

  test("without an admin's token neither hears of tokens and people nor reads their trail", async () => {
    const [token, admin] = [await at.token(), await at.token({ scope: "admin" })];
    await at.scene.engine.putPerson({ id: "lena", version: 0, groups: [] }, SYSTEM);
    await at.scene.ask();
    const kinds = async (bearer: string, query: string): Promise<string[]> => {
      const { body } = await at.send("GET", `/api/v1/events?${query}`, { token: bearer });
      return body.events.map(({ type }: { type: string }) => type);
    };
    const asked = ["question.asked", "run.parked"];
    expect((await kinds(token, "")).toSorted()).toEqual(asked);
    expect((await kinds(admin, "")).toSorted()).toEqual([
      "person.added",
      ...asked,
      "token.made",
      "token.made",
      "token.used",
      "token.used",
    ]);
    expect(await kinds(token, `run=${STORE_CHAIN}`)).toEqual([]);
    const heard = await hear(events("?types=question.*,person.*"), {
      token,
      after: "0",
      enough: (found) => found.length >= 1,
    });
    expect(heard.heard.map(({ event }) => event)).toEqual(["question.asked"]);
    const trail = `/api/v1/runs/${STORE_CHAIN}/events`;
    expect((await at.send("GET", trail, { token })).status).toBe(404);
    expect((await at.send("GET", trail, { token: admin })).body.events).toHaveLength(5);
  });

  test("gets a page of the feed when it does not ask for a stream", async () => {
    const token = await at.token({ scope: "admin" });
    await at.scene.ask();
    const first = (await at.send("GET", "/api/v1/events?limit=1", { token })).body;
    const second = (await at.send("GET", `/api/v1/events?after=${first.next_cursor}`, { token })).body;
    const all = await at.scene.store.readFeed("0", 100);
    expect([...first.events, ...second.events].map(({ cursor }) => cursor)).toEqual(all.map(({ cursor }) => cursor));
  });
});

describe("too much", () => {
  test("of readers is refused", async () => {
    const few = await ServedScene.start({}, new Scene({ rules: { limits: { ...DEFAULT_LIMITS, streams: 1 } } }));
    const token = await few.token();
    const stop = new AbortController();
    const headers = { authorization: `Bearer ${token}`, accept: "text/event-stream" };
    const first = await fetch(`${few.url}/api/v1/events`, { headers, signal: stop.signal });
    expect(first.status).toBe(200);
    expect((await few.send("GET", "/api/v1/events", { headers })).status).toBe(429);
    stop.abort();
    await expect.poll(() => few.served.live.streams).toBe(0);
    await few.stop();
  });

  test("that is not taken ends the stream at one megabyte", () => {
    const stream = new EventStream(() => undefined);
    const text = "x".repeat(1000);
    let sent = 0;
    while (!stream.ended.aborted && sent < 5_000_000) {
      stream.send(text);
      sent += text.length;
    }
    expect(sent).toBeGreaterThan(1_000_000);
    expect(sent).toBeLessThan(1_100_000);
  });

  test("for a stalled reader ends its stream, and it can come back for the rest", async () => {
    const token = await at.token({ scope: "admin" });
    const run = aRun();
    await at.scene.store.commit({ runs: [run] });
    const socket = connect(at.port, "127.0.0.1");
    socket.pause();
    socket.on("error", () => undefined); // being cut off is what is expected
    socket.write(
      `GET /api/v1/events HTTP/1.1\r\nHost: 127.0.0.1:${at.port}\r\nAccept: text/event-stream\r\nAuthorization: Bearer ${token}\r\n\r\n`,
    );
    await expect.poll(() => at.served.live.streams).toBe(1);
    const detail = { text: "x".repeat(100_000) };
    for (let index = 0; index < 300 && at.served.live.streams > 0; index += 1) {
      await at.scene.store.commit({ events: [anEvent({ runId: run.id, detail })] });
      await new Promise((resolve) => setImmediate(resolve));
    }
    await expect.poll(() => at.served.live.streams, { timeout: 10_000 }).toBe(0);
    socket.destroy();
    const all = await at.scene.store.readFeed("0", 1000);
    const { heard } = await hear(events(), { token, after: "0", enough: (found) => found.length >= all.length });
    expect(heard.map(({ id }) => id)).toEqual(all.map(({ cursor }) => cursor));
  });
});

describe("a token that ends", () => {
  /** A stream that ends only with its token: nobody asks again whether that is still good. */
  async function openStream(served: ServedScene, token: string): Promise<{ ended: Promise<unknown> }> {
    const before = served.served.live.streams;
    const hearing = hear(`${served.url}/api/v1/events`, { token, enough: () => false });
    await expect.poll(() => served.served.live.streams).toBe(before + 1);
    return { ended: hearing };
  }

  test("ends its streams at once, and those of no other token", async () => {
    const slow = await ServedScene.start({ recheckMs: 3_600_000 });
    const [one, other] = [await slow.token({ subject: "lena" }), await slow.token({ subject: "lena" })];
    const streams = [await openStream(slow, one), await openStream(slow, one)];
    const lasting = await openStream(slow, other);
    await slow.scene.engine.revokeToken(tokenId(one), SYSTEM);
    await Promise.all(streams.map(({ ended }) => ended));
    expect(slow.served.live.streams).toBe(1);
    await slow.scene.engine.putPerson({ id: "lena", version: 0, groups: [] }, SYSTEM);
    await slow.scene.engine.removePerson("lena", {}, SYSTEM);
    await lasting.ended;
    expect(slow.served.live.streams).toBe(0);
    await slow.stop();
  });

  test("ends a held wait without its outcome, which is not given", async () => {
    const slow = await ServedScene.start({ recheckMs: 3_600_000 });
    const { question } = await slow.scene.ask({ question: "Which?", options: ["a", "b"] });
    const token = await slow.token();
    const waiting = slow.send("GET", `/api/v1/questions/${question.id}/wait?timeout=60`, { token });
    await expect.poll(() => "holds" in slow.scene.engine && slow.scene.engine.holds).toBe(1);
    await slow.scene.engine.revokeToken(tokenId(token), SYSTEM);
    const { status, body } = await waiting;
    expect(status).toBe(401);
    expect(JSON.stringify(body)).not.toContain("Which?");
    await slow.stop();
  });
});
