import { get } from "node:http";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { QuestionId } from "../../core/id.ts";
import { ADA, AGENT } from "../../../test/builders.ts";
import { type Got, ServedScene } from "../../../test/served.ts";

const OPTIONS = ["Redis", "Memcached"];
let at: ServedScene;
let cookie: string;

beforeEach(async () => {
  at = await ServedScene.start();
  cookie = `askd_session=${await at.token()}`;
});
afterEach(() => at.stop());

async function open(path: string, headers: Record<string, string> = {}) {
  const got = await at.send("GET", path, { headers: { cookie, accept: "text/html", ...headers } });
  return { ...got, html: htmlOf(got) };
}

function htmlOf({ body }: Got): string {
  const text = body["text"];
  return typeof text === "string" ? text : "";
}

/** Sends a form as the page at an address would. */
async function post(path: string, fields: Record<string, string>, headers: Record<string, string> = {}) {
  const csrf = /name="csrf" value="(\w+)"/.exec((await open("/settings")).html)?.[1] ?? "";
  const got = await at.send("POST", path, {
    body: new URLSearchParams({ csrf, ...fields }).toString(),
    headers: {
      cookie,
      accept: "text/html",
      origin: at.url,
      "content-type": "application/x-www-form-urlencoded",
      ...headers,
    },
  });
  return { ...got, html: htmlOf(got), location: got.headers.get("location") };
}

/** Opens an address with exactly these headers; `fetch` has its own about where it comes from. */
function follow(path: string, headers: Record<string, string>): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    get(`${at.url}${path}`, { headers: { cookie, accept: "text/html", ...headers } }, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (part: string) => (text += part));
      response.on("end", () => resolve({ status: response.statusCode ?? 0, text }));
    }).on("error", reject);
  });
}

async function ask(raw: Record<string, unknown> = {}): Promise<QuestionId> {
  return (await at.scene.ask({ question: "Redis or Memcached?", options: OPTIONS, ...raw })).question.id;
}

async function read(id: QuestionId) {
  return (await at.scene.engine.read(id)).question;
}

describe("a page", () => {
  test("is shown to nobody who is not signed in, and leads to where that is done", async () => {
    const id = await ask();
    const got = await at.send("GET", `/q/${id}`, { headers: { accept: "text/html" } });
    expect(got.status).toBe(303);
    expect(got.headers.get("location")).toBe(`/login?next=${encodeURIComponent(`/q/${id}`)}`);
    expect((await at.send("GET", "/", {})).status).toBe(401);
  });

  test("runs our own script only, is in nobody's frame, and is kept nowhere", async () => {
    const { headers } = await open("/");
    expect(headers.get("content-security-policy")).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; manifest-src 'self'; form-action 'self'; " +
        "base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types askd; report-uri /csp-report",
    );
    expect(headers.get("cache-control")).toBe("no-store");
    expect(headers.get("x-content-type-options")).toBe("nosniff");
    expect(headers.get("referrer-policy")).toBe("same-origin");
  });

  test("escapes whatever anybody wrote", async () => {
    const bad = '<script>alert("x")</script><img src=x onerror=alert(1)>';
    const id = await ask({
      question: `Really? ${bad}`,
      context: bad,
      options: [{ label: bad, description: bad, preview: bad }, "b"],
    });
    await at.scene.engine.comment(id, bad, { scope: "human", id: "eve", channel: bad.slice(0, 60), strength: "local" });
    for (const path of [
      "/",
      `/q/${id}`,
      `/?find=${encodeURIComponent(bad)}`,
      `/q/${id}?choose=${encodeURIComponent(bad)}`,
    ]) {
      expect((await open(path)).html).not.toMatch(/<script>|<img/);
    }
  });

  test("is in the language that the reader prefers or chose", async () => {
    await ask();
    expect((await open("/", { "accept-language": "de-DE,en;q=0.5" })).html).toContain("Warten auf Sie (1)");
    const chosen = { cookie: `${cookie}; askd_language=en`, "accept-language": "de" };
    expect((await open("/", chosen)).html).toContain("Waiting for you (1)");
  });

  test("shows times in the reader's zone, and says so where it is not known", async () => {
    const id = await ask({ timeout: "1h" });
    expect((await open(`/q/${id}`)).html).toContain("13:00 UTC");
    expect((await open(`/q/${id}`, { cookie: `${cookie}; askd_zone=Asia%2FTokyo` })).html).toContain("22:00<");
  });

  test("that is not there says so as a page", async () => {
    const got = await open("/q/q_00000000000000000000000000");
    expect(got.status).toBe(404);
    expect(got.html).toContain("There is no page at this address.");
  });

  test("shows what the same run asked before, and what was said to it", async () => {
    const { engine } = at.scene;
    const run = await at.scene.startedRun();
    const first = await engine.ask(at.scene.input({ question: "Which cache?" }), AGENT, { runId: run.id });
    await engine.answer(first.question.id, { ...INPUT, outcome: "clarify", note: "Which do you mean?" }, ADA);
    const second = await engine.ask(at.scene.input({ question: "The one for sessions: which?" }), AGENT, {
      runId: run.id,
    });
    const { html } = await open(`/q/${second.question.id}`);
    expect(html).toContain(`<a href="/q/${first.question.id}">Which cache?</a> “Ask back: Which do you mean?”`);
  });

  test("may tell what it was kept from doing", async () => {
    const headers = { "content-type": "application/csp-report" };
    expect((await at.send("POST", "/csp-report", { body: "{}", headers })).status).toBe(204);
  });

  test("finds a question by its short name", async () => {
    const id = await ask();
    const got = await open(`/q/q-${id.slice(12, 18)}`);
    expect([got.status, got.headers.get("location")]).toEqual([303, `/q/${id}`]);
  });
});

describe("a link from another site", () => {
  const elsewhere = { "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document" };

  test("comes in by a step that shows nothing", async () => {
    const id = await ask();
    const { status, text } = await follow(`/q/${id}`, elsewhere);
    expect(status).toBe(200);
    expect(text).toContain(`content="0;url=/q/${id}"`);
    expect(text).not.toContain("Memcached");
  });

  test("reaches pages only, and by a browser's window only", async () => {
    const id = await ask();
    expect((await follow(`/api/v1/questions/${id}`, elsewhere)).status).toBe(403);
    expect((await follow(`/q/${id}`, { ...elsewhere, "sec-fetch-dest": "iframe" })).status).toBe(403);
    expect((await follow(`/q/${id}`, { ...elsewhere, "sec-fetch-mode": "no-cors" })).status).toBe(403);
  });

  test("cannot send anybody elsewhere after signing in", async () => {
    const code = await at.token({ scope: "login" });
    for (const next of ["//evil.example", "/\\evil.example", "https://evil.example", "javascript:alert(1)"]) {
      const { html } = await open(`/login?next=${encodeURIComponent(next)}`);
      expect(html).toContain('name="next" value="/"');
    }
    const form = { "content-type": "application/x-www-form-urlencoded" };
    const got = await at.send("POST", "/login", { body: `code=${code}&next=%2Fsettings`, headers: form });
    expect(got.headers.get("location")).toBe("/settings");
  });
});

describe("a form", () => {
  test("counts only with the proof of its own page", async () => {
    const id = await ask();
    const fields = { do: "answer", "i.0": "0" };
    const refused = await Promise.all([
      post(`/q/${id}/answer`, { ...fields, csrf: "" }),
      post(`/q/${id}/answer`, { ...fields, csrf: "0".repeat(40) }),
      post(`/q/${id}/answer`, fields, { origin: "https://evil.example" }),
      post(`/q/${id}/answer`, fields, { "sec-fetch-site": "cross-site" }),
      post(`/q/${id}/answer`, fields, { "content-type": "text/plain" }),
      at.send("POST", `/q/${id}/answer`, { headers: { cookie }, body: fields }),
    ]);
    expect(refused.map(({ status }) => status)).toEqual([403, 403, 403, 403, 400, 403]);
    const { status } = await post(`/q/${id}/answer`, fields, {
      cookie: `askd_session=${await at.token({ scope: "agent" })}`,
    });
    expect(status).toBe(303);
    expect(await read(id)).toMatchObject({ status: "pending" });
    expect(await read(id)).not.toHaveProperty("settling.answer");
  });

  test("answers, and the answer settles for five seconds", async () => {
    const id = await ask();
    const got = await post(`/q/${id}/answer`, { do: "answer", "i.0": "1", note: "small" });
    expect([got.status, got.location]).toEqual([303, `/q/${id}`]);
    expect((await open(`/q/${id}`)).html).toContain("Answered “Memcached”.");
    await at.scene.pass(6_000);
    expect(await read(id)).toMatchObject({
      status: "answered",
      answer: { note: "small", by: { id: "ada", channel: "web" } },
    });
    expect((await open(`/q/${id}`)).html).toContain("ada chose “Memcached” at");
  });

  test("goes on with the next question", async () => {
    const [first, second] = [await ask({ timeout: "1h" }), await ask({ question: "Next?", timeout: "2h" })];
    expect((await post(`/q/${first}/answer`, { do: "answer", "i.0": "0" })).location).toBe(`/q/${second}`);
    const { html } = await open(`/q/${second}`);
    expect(html).toContain(`action="/q/${first}/undo"`);
    expect(html).toContain(`<a href="/q/${first}">#1</a>`); // it stands above another question
    await post(`/q/${first}/undo`, {});
    expect((await read(first)).status).toBe("pending");
    expect(await read(first)).not.toHaveProperty("settling.answer");
  });

  test("that says nothing comes back with its words", async () => {
    const id = await ask();
    const got = await post(`/q/${id}/answer`, { do: "answer", note: "my <note>" });
    expect(got.status).toBe(422);
    expect(got.html).toContain("Choose an option or write an answer");
    expect(got.html).toContain("my &lt;note&gt;");
  });

  test("of somebody who is late shows who was faster, and keeps what was written", async () => {
    const id = await ask();
    await at.scene.engine.answer(
      id,
      { ...INPUT, answer: "Redis" },
      { scope: "human", id: "lena", channel: "slack", strength: "person" },
    );
    const got = await post(`/q/${id}/answer`, { do: "answer", "i.0": "1", note: "please not Redis" });
    expect(got.status).toBe(409);
    expect(got.html).toContain("lena answered “Redis” while you were writing");
    expect(got.html).toContain("please not Redis");
  });

  test("of high risk wants the word typed", async () => {
    await at.scene.know("ada");
    const id = await ask({ question: "Drop users_v1?", risk: "high" });
    const fields = { do: "answer", "i.0": "0" };
    expect((await post(`/q/${id}/answer`, fields)).html).toContain("Type users_v1 to confirm that you have read it");
    expect((await post(`/q/${id}/answer`, { ...fields, word: "users_v1" })).status).toBe(303);
  });

  test("by a number that is no option is refused, and what was written stays in the form", async () => {
    const id = await ask();
    const got = await post(`/q/${id}/answer`, { do: "answer", "i.0": "other", "t.0": "99" });
    expect(got.status).toBe(422);
    expect(got.html).toContain("99");
    expect((await read(id)).status).toBe("pending");
    expect(await read(id)).not.toHaveProperty("settling.answer");
  });

  test("shows what the agent gets without telling it", async () => {
    const id = await ask();
    const { html } = await post(`/q/${id}/preview`, { "i.0": "0", note: "why" });
    expect(html).toContain("A person answered your question.");
    expect(await read(id)).not.toHaveProperty("settling.answer");
  });

  test("does everything else that a person can do", async () => {
    const id = await ask({ timeout: "1h" });
    await post(`/q/${id}/claim`, {});
    expect(await read(id)).toMatchObject({ claim: { by: { id: "ada" } } });
    await post(`/q/${id}/release`, {});
    await post(`/q/${id}/extend`, { by: "4h" });
    await post(`/q/${id}/comment`, { text: "hm" });
    await post(`/q/${id}/snooze`, { for: "1h" });
    await post(`/q/${id}/assign`, { to: "lena, @platform" });
    expect(await read(id)).toMatchObject({
      dueAt: "2026-01-01T17:00:00.000Z",
      snoozedUntil: "2026-01-01T13:00:00.000Z",
      to: ["lena", "platform"],
      comments: [{ text: "hm", by: { id: "ada" } }],
    });
    expect(await read(id)).not.toHaveProperty("claim.by");
    await post(`/q/${id}/stop`, {});
    expect(await read(id)).toMatchObject({ status: "cancelled", reason: "stopped on the web" });
  });

  test("asks back, leaves the choice, and answers after the deadline", async () => {
    const [one, two] = [
      await at.scene.engine.ask(at.scene.input({ question: "One?" }), AGENT),
      await ask({ question: "Two?" }),
    ];
    await post(`/q/${one.question.id}/answer`, { do: "clarify", back: "Why?" });
    await post(`/q/${two}/answer`, { do: "decide" });
    await at.scene.pass(6_000);
    expect(await read(one.question.id)).toMatchObject({ answer: { outcome: "clarify", note: "Why?" } });
    expect(await read(two)).toMatchObject({ answer: { outcome: "decide" } });
    const late = await ask({ question: "Late?", timeout: "1h", on_timeout: "fail" });
    await at.scene.pass(2 * 3_600_000);
    expect((await open(`/q/${late}`)).html).toContain("the run still accepts an answer");
    await post(`/q/${late}/answer`, { do: "answer", "i.0": "0", force: "1" });
    expect(await read(late)).toMatchObject({ status: "timeout", forced: { answer: { by: { id: "ada" } } } });
  });

  test("is never sent by opening an address", async () => {
    const id = await ask();
    for (const verb of ["answer", "claim", "stop", "undo", "look"])
      expect((await open(`/q/${id}/${verb}`)).status).toBe(404);
    await open(`/q/${id}?choose=Redis&do=answer`);
    expect(await read(id)).toMatchObject({ status: "pending", version: 1 });
  });
});

const INPUT = { outcome: "answer", force: false, confirmed: false, undoMs: 0, resume: true } as const;
