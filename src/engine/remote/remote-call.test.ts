import { afterEach, beforeEach, expect, test } from "vitest";
import { ADA, AGENT } from "../../../test/builders.ts";
import { said } from "../../../test/scene.ts";
import { ServedScene } from "../../../test/served.ts";
import type { Actor } from "../../core/people/actor.ts";
import type { Route } from "../../core/api/route.ts";
import { ROUTES } from "../../core/api/table.ts";
import { MINUTE_MS, later } from "../../core/instant.ts";
import { NO_TROUBLES } from "../../core/run/failing-job.ts";
import type { Engine } from "../engine.ts";
import { readMachines } from "../machines.ts";
import { createRemoteEngine } from "./remote-engine.ts";

let at: ServedScene;
beforeEach(async () => {
  at = await ServedScene.start();
});
afterEach(() => at.stop());

let keys = 0;
function engineWith(token: string, over: { url?: string; fetch?: typeof fetch; longestReplyMs?: number } = {}): Engine {
  return createRemoteEngine({ url: at.url, tokenFor: () => token, newKey: () => `key-${(keys += 1)}`, ...over });
}

/** The reply of a proxy, in its own words. */
function page(status: number, headers: Record<string, string> = {}): Response {
  return new Response("<html><h1>Sorry</h1></html>", { status, headers: { "content-type": "text/html", ...headers } });
}

/** Sends everything, and loses the reply to the first change. */
function losing(lose: () => Promise<Response>): typeof fetch {
  let isLost = false;
  return async (url, init) => {
    const response = await fetch(url, init);
    if (isLost || init?.method !== "POST") return response;
    isLost = true;
    await response.text();
    return lose();
  };
}

test("waiting survives restarts of the server", async () => {
  const engine = engineWith(await at.token({ scope: "admin" }));
  const { question } = await engine.ask(at.scene.input({ hold: "3m" }), AGENT);
  const waiting = engine.wait(question.id, { until: later(at.scene.now, 180_000) });
  await at.restart();
  await at.restart();
  await at.scene.engine.answer(question.id, said("1"), ADA);
  expect((await waiting).question.status).toBe("answered");
});

test("a reply that never ends is given up for, and the change counts once", async () => {
  const { question } = await at.scene.ask();
  const never = () => Promise.resolve(new Response(new ReadableStream()));
  const engine = engineWith(await at.token(), { fetch: losing(never), longestReplyMs: 200 });
  const answered = await engine.answer(question.id, said("1"), ADA);
  expect(answered.question.status).toBe("answered");
  const chain = await at.scene.engine.readChain(question.runId);
  expect(chain.filter(({ event }) => event.type === "question.answered")).toHaveLength(1);
});

/** A server that takes calls and never replies; it counts the calls that are still waited for. */
function silent() {
  const calls = { made: 0, open: 0 };
  const given: typeof fetch = (_url, init) => {
    calls.made += 1;
    calls.open += 1;
    return new Promise((_resolve, reject) => {
      init?.signal?.addEventListener("abort", () => {
        calls.open -= 1;
        reject(new Error("aborted"));
      });
    });
  };
  return { calls, fetch: given };
}

test("a verification that takes too long is given up once, and said to be slow", async () => {
  const { calls, fetch: never } = silent();
  const engine = engineWith(await at.token({ scope: "admin" }), { fetch: never, longestReplyMs: 1_000 });
  await expect(engine.verify()).rejects.toMatchObject({
    code: "store_unreachable",
    message: `The server at ${at.url} did not reply within 1s`,
    hint: "Try again, or type the same on the server's machine, without ASKD_URL",
  });
  expect(calls).toEqual({ made: 1, open: 0 });
});

test("a verification may take longer than any other reply", () => {
  expect(ROUTES.verify.longestReplyMs).toBeGreaterThan(2 * MINUTE_MS);
  const others = Object.values(ROUTES).filter((row: Route) => row.longestReplyMs !== undefined);
  expect(others).toEqual([ROUTES.verify]);
});

test("of a call that is repeated because no reply comes, no earlier try stays open", async () => {
  const { calls, fetch: never } = silent();
  const engine = engineWith(await at.token(), { fetch: never, longestReplyMs: 50 });
  await expect(engine.now()).rejects.toMatchObject({ code: "store_unreachable" });
  expect(calls.made).toBeGreaterThan(1);
  expect(calls.open).toBe(0);
});

test("what the server refuses is refused here in the same words", async () => {
  const engine = engineWith(await at.token());
  const { question } = await at.scene.ask();
  await at.scene.engine.answer(question.id, said("1"), ADA);
  const there = await at.scene.engine.answer(question.id, said("2"), ADA).catch((error: unknown) => error);
  const here = await engine.answer(question.id, said("2"), ADA).catch((error: unknown) => error);
  expect(here).toMatchObject({ code: "not_pending", exitCode: 6 });
  expect(String(here)).toBe(String(there));
});

test("nobody there and no valid token are told apart", async () => {
  const token = await at.token();
  const gone = await ServedScene.start();
  await gone.stop();
  const nowhere = engineWith(token, { url: gone.url });
  await expect(nowhere.now()).rejects.toMatchObject({ code: "store_unreachable", exitCode: 3 });
  await expect(engineWith("askd_h_000000000000000000000").now()).rejects.toMatchObject({
    code: "sign_in",
    exitCode: 4,
  });
  expect(await engineWith(token).authenticate("askd_h_000000000000000000000", "cli")).toBeUndefined();
});

test("of a server that is older than this program no troubles are known, and of no machine that it is away", async () => {
  const { id } = await at.scene.engine.createRun({ agent: "claude", host: "build-7", giveBack: "worker" }, AGENT);
  const engine = engineWith(await at.token(), {
    fetch: (url, init) => fetch(new Request(url, init).url.replace(/(troubles|machines)$/, "not-yet"), init),
  });
  expect(await engine.findTroubles()).toEqual(NO_TROUBLES);
  const run = await engine.findRun(id);
  expect((await readMachines(engine, run ? [run] : [])).known).toBeUndefined();
});

test("an ask whose reply was lost is sent again and is one question", async () => {
  let lost = 2;
  const engine = engineWith(await at.token({ scope: "admin" }), {
    fetch: async (url, init) => {
      const response = await fetch(url, init);
      await response.clone().text();
      if ((lost -= 1) >= 0) throw new TypeError("connection reset");
      return response;
    },
  });
  const done = await engine.ask(at.scene.input(), AGENT);
  expect(done.isNew).toBe(false);
  expect(await at.scene.engine.countQuestions("pending")).toBe(1);
});

test("an answer whose reply was lost is sent again and counts once", async () => {
  const engine = engineWith(await at.token(), { fetch: losing(() => Promise.reject(new TypeError("terminated"))) });
  const { question, run } = await at.scene.ask();
  expect((await engine.answer(question.id, said("1"), ADA)).question).toMatchObject({ status: "answered" });
  const types = (await at.scene.engine.readChain(run.id)).map(({ event }) => event.type);
  expect(types.filter((type) => /answered|late_reply/.test(type))).toEqual(["question.answered"]);
});

test("what must not be done twice is not sent again where it may have arrived, and that is said", async () => {
  let sent = 0;
  const engine = engineWith(await at.token({ scope: "admin" }), {
    fetch: async () => {
      sent += 1;
      return page(502);
    },
  });
  const made = engine.issueToken({ scope: "human", subject: "lena" }, ADA);
  await expect(made).rejects.toMatchObject({
    code: "store_unreachable",
    message: `The server at ${at.url} is away: the proxy before it replied 502; it is not known whether it did what it was asked`,
    hint: expect.stringContaining("Look before you do it again: askd status"),
  });
  expect(sent).toBe(1);
});

test("what never arrived is sent again, whatever it is", async () => {
  const refused = Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" });
  const both = new AggregateError([refused, refused]);
  const fails = [new TypeError("fetch failed", { cause: refused }), new TypeError("fetch failed", { cause: both })];
  const engine = engineWith(await at.token({ scope: "admin" }), {
    fetch: (url, init) => {
      const error = fails.shift();
      return error ? Promise.reject(error) : fetch(url, init);
    },
  });
  const by: Actor = { ...ADA, scope: "admin" };
  expect((await engine.issueToken({ scope: "human", subject: "lena" }, by)).token.subject).toBe("lena");
});

test.each([502, 503, 504])("a proxy that replies %i is tried again like a server that is not there", async (status) => {
  const replies = [page(status), page(status)];
  const engine = engineWith(await at.token(), { fetch: async (url, init) => replies.shift() ?? fetch(url, init) });
  expect(await engine.now()).toBe(at.scene.now);
});

test("a server whose own store is away is tried again, and in the end speaks for itself", async () => {
  const detail = "No PostgreSQL can be reached at db:5432.";
  let sent = 0;
  const away = (left: number) =>
    engineWith("askd_h_000000000000000000000", {
      fetch: async (url, init) => {
        sent += 1;
        if (sent > left) return fetch(url, init);
        return Response.json({ code: "store_unreachable", detail, hint: "Start it" }, { status: 503 });
      },
    });
  await expect(away(1).now()).rejects.toMatchObject({ code: "sign_in" });
  expect(sent).toBe(2);
  await expect(away(100).now()).rejects.toMatchObject({ code: "store_unreachable", message: detail, hint: "Start it" });
});

test("nobody is asked again sooner than they wish", async () => {
  let sent = 0;
  const engine = engineWith(await at.token(), {
    fetch: async () => {
      sent += 1;
      return page(503, { "retry-after": "20" });
    },
  });
  await expect(engine.now()).rejects.toMatchObject({ code: "store_unreachable", retryAfterMs: 20_000 });
  expect(sent).toBe(1);
});

test("somebody who waits rides out an absence once the server was there, and not after they left", async () => {
  const leaving = new AbortController();
  const told: string[] = [];
  let isAway = true;
  let sent = 0;
  const waiter = createRemoteEngine({
    url: at.url,
    newKey: () => "key",
    patience: { until: leaving.signal, onAway: (text) => told.push(text) },
    tokenFor: () => token,
    fetch: async (url, init) => {
      sent += 1;
      if (sent === 12) isAway = false;
      return isAway ? page(502) : fetch(url, init);
    },
  });
  const token = await at.token();
  await expect(waiter.now()).rejects.toMatchObject({ code: "store_unreachable" });
  expect(sent).toBeLessThan(12);
  isAway = false;
  await waiter.now();
  [isAway, sent] = [true, 6];
  expect(await waiter.now()).toBe(at.scene.now);
  expect(told).toEqual([`The server at ${at.url} is away; looking for it again for at most 2m`]);
  leaving.abort();
  [isAway, sent] = [true, 20];
  await expect(waiter.now()).rejects.toMatchObject({ code: "store_unreachable" });
});

test("a page in place of the server's reply is not taken for one", async () => {
  const engine = engineWith(await at.token(), { fetch: async () => page(200) });
  await expect(engine.now()).rejects.toMatchObject({
    code: "store_unusable",
    message: `What replies at ${at.url} is not askd`,
  });
});

test("a program that acts as an agent answers nothing, whatever its token", async () => {
  const engine = engineWith(await at.token({ scope: "admin" }));
  const { question } = await at.scene.ask();
  await expect(engine.answer(question.id, said("1"), AGENT)).rejects.toMatchObject({ code: "not_permitted" });
  await expect(engine.issueToken({ scope: "human", subject: "ada" }, AGENT)).rejects.toMatchObject({
    code: "not_permitted",
  });
});
