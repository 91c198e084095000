import { randomBytes } from "node:crypto";
import { type Server, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Webhook } from "standardwebhooks";
import { afterEach, expect, test } from "vitest";
import { ADA, AGENT } from "../../../test/builders.ts";
import { MCP, Scene, said } from "../../../test/scene.ts";

const SECRET = `whsec_${randomBytes(24).toString("base64")}`;

interface Received {
  body: string;
  headers: Record<string, string>;
}

/** A program that is called back; it answers with the given statuses, one after another, and then with 204. */
class Caller {
  readonly received: Received[] = [];
  readonly #server: Server;

  constructor(...statuses: number[]) {
    this.#server = createServer((request, response) => {
      let body = "";
      request.on("data", (chunk: Buffer) => (body += chunk.toString()));
      request.on("end", () => {
        this.received.push({ body, headers: request.headers as Record<string, string> });
        response.writeHead(statuses.shift() ?? 204, { location: "http://127.0.0.1:1/" }).end();
      });
    });
    callers.push(this);
  }

  async url(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/done`;
  }

  close(): void {
    this.#server.close();
  }
}

const callers: Caller[] = [];

afterEach(() => {
  for (const caller of callers.splice(0)) caller.close();
});

async function asked(scene: Scene, url: string, raw: Record<string, unknown> = {}) {
  return scene.engine.ask(scene.input(raw, MCP), AGENT, { run: { callback: { url, secret: SECRET } } });
}

/** Reads a delivery as the public library does, which checks its signature. */
function verified({ body, headers }: Received, now: string): unknown {
  const realNow = Date.now;
  Date.now = () => Date.parse(now);
  try {
    return new Webhook(SECRET).verify(body, headers);
  } finally {
    Date.now = realNow;
  }
}

test("an answer is brought by a signed request, and the run is complete when it was taken", async () => {
  const scene = new Scene();
  const caller = new Caller();
  const { question } = await asked(scene, await caller.url());
  expect((await scene.engine.answer(question.id, said("1"), ADA)).run.status).toBe("resuming");
  await scene.pass(0);
  expect(verified(caller.received[0] as Received, scene.now)).toMatchObject({
    type: "question.answered",
    data: { question: { id: question.id }, answer: "Redis", answered_by: "ada", outcome: "answer" },
  });
  expect(await scene.engine.read(question.id)).toMatchObject({
    question: { handover: { state: "given", witness: "callback" } },
    run: { status: "completed" },
  });
});

test("the title of a question leaves without the secrets of its asker", async () => {
  const scene = new Scene();
  const caller = new Caller();
  const callback = { url: await caller.url(), secret: SECRET };
  const input = scene.input({ question: "Is hunter2hunter2 in the log fine?" }, MCP);
  const { question } = await scene.engine.ask(input, AGENT, { run: { callback }, secrets: ["hunter2hunter2"] });
  await scene.engine.answer(question.id, said("1"), ADA);
  await scene.pass(0);
  expect(verified(caller.received[0] as Received, scene.now)).toMatchObject({
    data: { question: { title: "Is [redacted] in the log fine?" } },
  });
});

test("a timeout and a cancellation are told too", async () => {
  const scene = new Scene();
  const caller = new Caller();
  const url = await caller.url();
  await asked(scene, url, { timeout: "1h" });
  await scene.pass(3_600_000);
  const second = await asked(scene, url);
  await scene.engine.cancel(second.question.id, { reason: "not needed" }, ADA);
  await scene.pass(0);
  const third = await asked(scene, url);
  await scene.engine.cancel(third.question.id, { resume: "do not deploy now" }, ADA);
  await scene.pass(0);
  const told = caller.received.map((received) => verified(received, scene.now));
  expect(told).toMatchObject([
    { type: "question.timed_out", data: { policy: "fail", answer: null } },
    { type: "question.cancelled", data: { reason: "not needed" } },
    { type: "question.cancelled", data: { answer: null, note: "do not deploy now" } },
  ]);
});

test("a refused delivery is tried again later with the same id, and a redirect is a refusal", async () => {
  const scene = new Scene();
  const caller = new Caller(500, 302);
  const { question } = await asked(scene, await caller.url());
  await scene.engine.answer(question.id, said("1"), ADA);
  await scene.pass(0);
  await scene.pass(6_000);
  expect(caller.received).toHaveLength(2);
  expect((await scene.engine.read(question.id)).question).toMatchObject({ handover: { state: "owed" } });
  await scene.pass(6 * 60_000);
  expect(new Set(caller.received.map(({ headers }) => headers["webhook-id"])).size).toBe(1);
  expect((await scene.engine.read(question.id)).run.status).toBe("completed");
});

test("an address that says it is gone is not called again; the answer stays and the failure is written down", async () => {
  const scene = new Scene();
  const caller = new Caller(410);
  const { question } = await asked(scene, await caller.url());
  await scene.engine.answer(question.id, said("1"), ADA);
  await scene.pass(0);
  await scene.pass(100_000_000);
  expect(caller.received).toHaveLength(1);
  expect(await scene.engine.read(question.id)).toMatchObject({
    question: { status: "answered", handover: { state: "void", reason: "callback_failed" } },
    run: { status: "failed", reason: "callback_failed" },
  });
  expect((await scene.engine.verify()).problems).toEqual([]);
});

test.each([
  [{ url: "ftp://example.org", secret: SECRET }, /not an http/],
  [{ url: "nonsense", secret: SECRET }, /not an http/],
  [{ url: "https://ada:pw@example.org", secret: SECRET }, /user name or password/],
  [{ url: "https://example.org", secret: "short" }, /callback secret/],
])("a callback that could not work is refused when it is asked: %#", async (callback, message) => {
  const scene = new Scene();
  await expect(scene.engine.ask(scene.input(), AGENT, { run: { callback } })).rejects.toThrow(message);
});
