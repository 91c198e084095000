import { connect } from "node:net";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { DEFAULT_LIMITS } from "../core/rules.ts";
import { Scene } from "../../test/scene.ts";
import { ServedScene } from "../../test/served.ts";
import { NOON } from "../../test/builders.ts";
import { jsonLog } from "./log.ts";

let at: ServedScene;
let log = "";
const FORM = { "content-type": "application/x-www-form-urlencoded" };
const REPORT = { "content-type": "application/csp-report" };

async function start(over: Parameters<typeof ServedScene.start>[0] = {}, scene?: Scene): Promise<ServedScene> {
  log = "";
  const write = jsonLog((line) => (log += line), { now: () => NOON, least: "info" });
  return ServedScene.start({ log: write, nowMs: () => 1_000, ...over }, scene);
}
beforeEach(async () => {
  at = await start();
});
afterEach(() => at.stop());

/** Sends the head of a request and part of its body, and says how the server replied and whether it hung up. */
function sendPart(
  head: readonly string[],
  body: string,
): { reply: () => string; isClosed: () => boolean; end(): void } {
  let reply = "";
  let isClosed = false;
  const socket = connect(at.port, "127.0.0.1");
  socket.on("error", () => undefined); // being cut off is what is expected
  socket.on("data", (chunk: Buffer) => (reply += chunk.toString()));
  socket.on("close", () => (isClosed = true));
  socket.write([...head, `Host: 127.0.0.1:${at.port}`, "", ""].join("\r\n") + body);
  return { reply: () => reply, isClosed: () => isClosed, end: () => void socket.destroy() };
}

describe("reports of browsers", () => {
  test("are limited for one address, and few of them are written down", async () => {
    const statuses = new Map<number, number>();
    for (let index = 0; index < 100; index += 1) {
      const { status } = await at.send("POST", "/csp-report", { body: `{"n":${index}}`, headers: REPORT });
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
    }
    expect(Object.fromEntries(statuses)).toEqual({ 204: 60, 429: 40 });
    expect(log.split("\n").filter((line) => line.includes('"csp"'))).toHaveLength(20);
  });

  test("make no long line, whatever they are made of", async () => {
    for (const char of ["\u0001", "\u009f", "\ud800", "\u202e", "😀", '"']) {
      log = "";
      await at.send("POST", "/csp-report", { body: char.repeat(1_300), headers: REPORT });
      expect(log).toContain('"csp"');
      expect(Buffer.byteLength(log)).toBeLessThan(4_200);
    }
  });

  test("are read only if they are short and say that they are reports", async () => {
    expect((await at.send("POST", "/csp-report", { body: "x".repeat(9_000), headers: REPORT })).status).toBe(413);
    expect((await at.send("POST", "/csp-report", { body: "x", headers: FORM })).status).toBe(400);
  });
});

describe("a body", () => {
  test("of somebody who has no token is refused unread when it says that it is long", async () => {
    const head = ["POST /login HTTP/1.1", "Content-Type: application/x-www-form-urlencoded", "Content-Length: 1000000"];
    const sent = sendPart(head, "code=x");
    await expect.poll(sent.reply, { timeout: 20_000 }).toContain("HTTP/1.1 413");
    await expect.poll(sent.isClosed, { timeout: 20_000 }).toBe(true);
  });

  test("of unknown length is read only as far as is allowed", async () => {
    const head = [
      "POST /login HTTP/1.1",
      "Content-Type: application/x-www-form-urlencoded",
      "Transfer-Encoding: chunked",
    ];
    const sent = sendPart(head, `4000\r\n${"a".repeat(0x4000)}\r\n`);
    await expect.poll(sent.reply, { timeout: 20_000 }).toContain("HTTP/1.1 413");
    await expect.poll(sent.isClosed, { timeout: 20_000 }).toBe(true);
  });

  test("that does not arrive ends its connection, and is nobody's bug", async () => {
    await at.stop();
    at = await start({ requestMs: 200 });
    const head = ["POST /login HTTP/1.1", "Content-Type: application/x-www-form-urlencoded", "Content-Length: 100"];
    const sent = sendPart(head, "code=");
    await expect.poll(sent.isClosed, { timeout: 20_000 }).toBe(true);
    expect(log).not.toContain('"bug"');
  });

  test("is read for so many callers of one address at a time that slow ones take little", async () => {
    const head = ["POST /login HTTP/1.1", "Content-Type: application/x-www-form-urlencoded", "Content-Length: 8000"];
    const sent = Array.from({ length: 200 }, () => sendPart(head, "code="));
    const refused = (): number => sent.filter(({ reply }) => reply().includes("HTTP/1.1 429")).length;
    // 60 may try to sign in within a minute, and those that are refused are not read at all.
    await expect.poll(refused, { timeout: 20_000 }).toBe(140);
    for (const { end } of sent) end();
  });

  test("is not read for a token that is not known", async () => {
    const head = ["POST /api/v1/questions HTTP/1.1", "Content-Type: application/json", "Content-Length: 100"];
    const sent = sendPart([...head, `Authorization: Bearer ${"x".repeat(30)}`], "{");
    await expect.poll(sent.reply, { timeout: 20_000 }).toContain("HTTP/1.1 401");
    sent.end();
  });

  test("of many slow requests of one token takes half of what all have, and leaves the rest to others", async () => {
    const token = await at.token();
    const head = ["POST /api/v1/questions HTTP/1.1", "Content-Type: application/json", "Content-Length: 1000000"];
    const sent = Array.from({ length: 40 }, () => sendPart([...head, `Authorization: Bearer ${token}`], "{"));
    const refused = (): number => sent.filter(({ reply }) => reply().includes("HTTP/1.1 429")).length;
    await expect.poll(refused, { timeout: 20_000 }).toBe(40 - 33);
    const other = await at.token({ subject: "lena" });
    const body = { question: "Which?", context: "x".repeat(50_000) };
    expect((await at.send("POST", "/api/v1/questions", { token: other, body })).status).toBe(201);
    for (const { end } of sent) end();
  });
});

describe("JSON", () => {
  const many = (key: (index: number) => string): string =>
    `{${Array.from({ length: 60_000 }, (_, index) => `"${key(index)}":1`).join(",")}}`;
  const bodies: Record<string, string> = {
    "keys that are numbers": many((index) => String((index * 48_271) % 4_294_967_290)),
    "keys that are words": many((index) => `k${index}`),
    "the same key again and again": many(() => "k"),
    arrays: `[${"[],".repeat(300_000)}[]]`,
    strings: `{"question":"x?","options":[${'"",'.repeat(300_000)}""]}`,
    levels: `{"details":${"[".repeat(400_000)}${"]".repeat(400_000)}}`,
  };

  test.each(Object.entries(bodies))("with very many %s is refused before it is parsed", async (_, body) => {
    const token = await at.token();
    for (const path of ["/api/v1/questions", "/sessions/1/answer"]) {
      expect((await at.send("POST", path, { token, body })).body.code).toMatch(/too_large|not_found/);
    }
    expect((await at.send("POST", "/api/v1/questions", { token, body })).status).toBe(413);
  });

  test("with what only looks like structure inside its strings is read", async () => {
    const token = await at.token();
    const body = { question: "Which?", context: `\\"${"[{,:".repeat(10_000)}\\` };
    expect((await at.send("POST", "/api/v1/questions", { token, body })).status).toBe(201);
  });
});

describe("one token", () => {
  test("cannot take all streams", async () => {
    await at.stop();
    const rules = { limits: { ...DEFAULT_LIMITS, streams: 4, streamsPerToken: 2 } };
    at = await start({}, new Scene({ rules }));
    const [ada, lena] = [await at.token(), await at.token({ subject: "lena" })];
    const stop = new AbortController();
    const open = async (token: string): Promise<number> => {
      const headers = { authorization: `Bearer ${token}`, accept: "text/event-stream" };
      return (await fetch(`${at.url}/api/v1/events`, { headers, signal: stop.signal })).status;
    };
    expect([await open(ada), await open(ada), await open(ada), await open(lena)]).toEqual([200, 200, 429, 200]);
    stop.abort();
    await expect.poll(() => at.served.live.streams, { timeout: 20_000 }).toBe(0);
    const again = new AbortController();
    const headers = { authorization: `Bearer ${ada}`, accept: "text/event-stream" };
    expect((await fetch(`${at.url}/api/v1/events`, { headers, signal: again.signal })).status).toBe(200);
    again.abort();
  });

  test("cannot take all places of those who wait for an answer", async () => {
    await at.stop();
    const rules = { limits: { ...DEFAULT_LIMITS, holds: 4, holdsPerToken: 2 } };
    at = await start({}, new Scene({ rules }));
    const [ada, lena] = [await at.token(), await at.token({ subject: "lena" })];
    const { question } = await at.scene.ask();
    const stop = new AbortController();
    const statuses: number[] = [];
    const wait = (token: string): void => {
      const headers = { authorization: `Bearer ${token}` };
      fetch(`${at.url}/api/v1/questions/${question.id}/wait`, { headers, signal: stop.signal }).then(
        ({ status }) => statuses.push(status),
        () => undefined, // ended below
      );
    };
    for (const token of [ada, ada, ada]) wait(token);
    await expect.poll(() => statuses, { timeout: 20_000 }).toEqual([429]);
    wait(lena);
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(statuses).toEqual([429]);
    stop.abort();
  });

  test("has one limit of requests for all routes of sessions and of the API", async () => {
    await at.stop();
    const rules = { limits: { ...DEFAULT_LIMITS, requestsPerMinute: 2 } };
    at = await start({}, new Scene({ rules }));
    const token = await at.token();
    const statuses = [];
    for (const path of ["/api/v1/now", "/sessions/1", "/sessions/1"]) {
      statuses.push((await at.send("GET", path, { token })).status);
    }
    expect(statuses).toEqual([200, 404, 429]);
  });
});

describe("one address without a token", () => {
  test("may try so many codes a minute, on the page and by the API together", async () => {
    const statuses: number[] = [];
    for (let index = 0; index < 35; index += 1) {
      statuses.push((await at.send("POST", "/login", { body: "code=wrong", headers: FORM })).status);
      statuses.push((await at.send("POST", "/api/v1/login", { body: { code: "wrong" } })).status);
    }
    expect(statuses.slice(0, 60)).not.toContain(429);
    expect(new Set(statuses.slice(60))).toEqual(new Set([429]));
  });

  test("is refused after so many requests, while those with a token go on", async () => {
    await at.stop();
    const rules = { limits: { ...DEFAULT_LIMITS, anonymousPerMinute: 7 } };
    at = await start({}, new Scene({ rules }));
    const token = await at.token();
    const paths = [
      "/health",
      "/openapi.json",
      "/manifest.webmanifest",
      "/favicon.svg",
      "/login",
      "/a/x",
      "/api/v1/now",
    ];
    const statuses: number[] = [];
    for (const path of [...paths, ...paths]) statuses.push((await at.send("GET", path)).status);
    expect(statuses.slice(0, 7)).toEqual([200, 200, 200, 200, 200, 404, 401]);
    expect(statuses.slice(7)).toEqual(Array.from({ length: 7 }, () => 429));
    expect((await at.send("GET", "/api/v1/now", { token })).status).toBe(200);
  });

  test("fills no log with what it is refused", async () => {
    for (let index = 0; index < 100; index += 1) await at.send("GET", `/api/v1/${"x".repeat(5_000)}`);
    const lines = log.split("\n").filter((line) => line.includes('"request"'));
    expect(lines).toHaveLength(60);
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThan(500);
  });
});
