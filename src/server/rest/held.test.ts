import { afterEach, beforeEach, expect, test } from "vitest";
import { ADA } from "../../../test/builders.ts";
import { said } from "../../../test/scene.ts";
import { ServedScene } from "../../../test/served.ts";

const BOUND_MS = 10_000;

let at: ServedScene;
let token: string;
let lines: Array<[string, Record<string, unknown>]>;
beforeEach(async () => {
  lines = [];
  at = await ServedScene.start({ log: (_level, event, fields) => void lines.push([event, { ...fields }]) });
  token = await at.token();
});
afterEach(() => at.stop());

test("a reply that comes late carries what every reply carries, and is written down when it has come", async () => {
  const { question } = await at.scene.ask();
  const path = `/api/v1/questions/${question.id}/wait`;
  const waiting = at.send("GET", path, { token });
  await holding(1);
  const isWritten = (): boolean => lines.some(([event, fields]) => event === "request" && fields["path"] === path);
  expect(isWritten()).toBe(false);
  const { question: answered } = await at.scene.engine.answer(question.id, said("1"), ADA);
  const { status, headers, body } = await waiting;
  expect({ status, body }).toMatchObject({ status: 200, body: { id: question.id, status: "answered" } });
  expect(Object.fromEntries(headers)).toMatchObject({
    etag: `"${answered.version}"`,
    vary: "Accept",
    "content-type": "application/json",
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
  });
  await expect.poll(isWritten, { timeout: BOUND_MS }).toBe(true);
  expect(lines.find(([, { path: seen }]) => seen === path)?.[1]).toMatchObject({ status: 200, subject: "ada" });
});

test("a refusal that comes late is a problem like any other", async () => {
  const { status, headers, body } = await at.send("GET", `/api/v1/questions/q_${"0".repeat(26)}/wait`, { token });
  expect({ status, body }).toMatchObject({ status: 404, body: { code: "not_found" } });
  expect(headers.get("content-type")).toBe("application/problem+json");
  expect(headers.get("cache-control")).toBe("no-store");
});

test("a caller that leaves is held no longer", async () => {
  const { question } = await at.scene.ask();
  const leaving = new AbortController();
  const headers = { authorization: `Bearer ${token}` };
  const left = fetch(`${at.url}/api/v1/questions/${question.id}/wait`, { headers, signal: leaving.signal });
  await holding(1);
  leaving.abort();
  await expect(left).rejects.toThrow("aborted");
  await holding(0);
});

test("a server that is about to stop says how the question stands", async () => {
  const { question } = await at.scene.ask();
  const waiting = at.send("GET", `/api/v1/questions/${question.id}/wait`, { token });
  await holding(1);
  await at.restart();
  expect(await waiting).toMatchObject({ status: 200, body: { id: question.id, status: "pending" } });
});

test("a request for the headers alone gets them", async () => {
  const { question } = await at.scene.ask();
  const path = `/api/v1/questions/${question.id}/wait?until=2020-01-01T00:00:00Z`;
  const reply = await fetch(`${at.url}${path}`, { method: "HEAD", headers: { authorization: `Bearer ${token}` } });
  expect(reply.status).toBe(200);
  expect(reply.headers.get("etag")).toBe(`"${question.version}"`);
});

async function holding(count: number): Promise<void> {
  const { engine } = at.scene;
  await expect.poll(() => "holds" in engine && engine.holds, { timeout: BOUND_MS }).toBe(count);
}
