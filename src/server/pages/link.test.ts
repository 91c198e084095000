import { randomBytes } from "node:crypto";
import { get } from "node:http";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { SYSTEM } from "../../core/people/actor.ts";
import type { QuestionId } from "../../core/id.ts";
import { MINUTE_MS, HOUR_MS } from "../../core/instant.ts";
import { linkPath, newLink } from "../../core/question/link.ts";
import type { Question } from "../../core/question/question.ts";
import { tokenEntry, tokenId } from "../../core/people/token.ts";
import { ADA } from "../../../test/builders.ts";
import { type Got, ServedScene } from "../../../test/served.ts";
import { said } from "../../../test/scene.ts";
import { type } from "../../../test/typed.ts";

let at: ServedScene;
let written: string[];

beforeEach(async () => {
  written = [];
  at = await ServedScene.start({ log: (...line) => void written.push(JSON.stringify(line)) });
});
afterEach(() => at.stop());

async function ask(raw: Record<string, unknown> = {}): Promise<QuestionId> {
  return (await at.scene.ask(raw)).question.id;
}

async function linkTo(id: QuestionId, person = "lena"): Promise<string> {
  return (await at.scene.engine.issueLink(id, person, SYSTEM)).text;
}

async function open(text: string, query = "") {
  const got = await at.send("GET", linkPath(text) + query, { headers: { accept: "text/html" } });
  return { ...got, html: htmlOf(got) };
}

async function post(text: string, fields: Record<string, string>, headers: Record<string, string> = {}) {
  const got = await at.send("POST", linkPath(text), {
    body: new URLSearchParams(fields).toString(),
    headers: {
      accept: "text/html",
      origin: at.url,
      "content-type": "application/x-www-form-urlencoded",
      ...headers,
    },
  });
  return { ...got, html: htmlOf(got) };
}

function htmlOf({ body }: Got): string {
  return typeof body["text"] === "string" ? body["text"] : "";
}

async function read(id: QuestionId) {
  return (await at.scene.engine.read(id)).question;
}

function answeredOf(question: Question): Extract<Question, { status: "answered" }> {
  if (question.status !== "answered") throw new Error(`the question is ${question.status}`);
  return question;
}

/** Everything that is kept, as text. */
async function kept(id: QuestionId): Promise<string> {
  const question = await read(id);
  const chain = await at.scene.engine.readChain(question.runId);
  const tokens = await at.scene.engine.listTokens(SYSTEM);
  const entries = await at.scene.store.listEntries("token");
  return JSON.stringify({ question, chain, tokens, entries, jobs: await at.scene.store.listJobs(1000) });
}

describe("an answer link", () => {
  test("shows its question to one person by name, and answers as that person", async () => {
    const id = await ask();
    const text = await linkTo(id);
    const page = await open(text);
    expect(page.status).toBe(200);
    expect(page.html).toContain("Redis or Memcached?");
    expect(page.html).toContain("You answer as lena.");
    expect((await post(text, { "i.0": "1", note: "two nodes", do: "answer" })).status).toBe(303);
    expect(await read(id)).toMatchObject({
      settling: { answer: { note: "two nodes", by: { scope: "human", id: "lena", channel: "link" } } },
    });
    await at.scene.pass(MINUTE_MS);
    expect(await read(id)).toMatchObject({ status: "answered", answer: { by: { id: "lena", channel: "link" } } });
    expect((await open(text)).html).toContain("this link cannot be used again");
  });

  test("does nothing at all when it is opened, however often and by whatever", async () => {
    const id = await ask();
    const text = await linkTo(id);
    const before = await kept(id);
    for (const query of ["", "?choose=Redis", "?do=answer&i.0=0", "?choose=1&note=x"]) await open(text, query);
    await at.send("HEAD", linkPath(text));
    expect(await kept(id)).toBe(before);
    expect((await open(text, "?choose=b")).html).toMatch(/value="1" checked/);
  });

  test("asks back", async () => {
    const id = await ask({ accepts: ["answer", "decide", "clarify"] });
    const text = await linkTo(id);
    const refused = await post(text, { back: "Why now?", do: "answer" });
    expect(refused.html).toContain("Why now?</textarea>");
    expect((await post(text, { back: "Why now?", do: "clarify" })).status).toBe(303);
    expect(await read(id)).toMatchObject({ settling: { answer: { outcome: "clarify", note: "Why now?" } } });
  });

  test("says what became of the question first, who one is only while one can answer, and how long one can undo", async () => {
    const id = await ask();
    const text = await linkTo(id);
    const before = (await open(text)).html;
    expect(before).toMatch(/<\/h1>[^]*You answer as lena\.[^]*Answer “Redis”/);
    expect(before).not.toContain('href="/r/');
    await post(text, { "i.0": "0", do: "answer" });
    const sent = (await open(text)).html;
    expect(sent).toMatch(/<\/h1><form[^>]*><p>Answered “Redis”. You can undo this for 5s.<\/p>/);
    await at.scene.pass(MINUTE_MS);
    const after = (await open(text)).html;
    expect(after).toMatch(/<\/h1><div class="banner ok done"><p>lena chose “Redis”/);
    for (const html of [sent, after]) expect(html).not.toContain("You answer as");
  });

  test("says what its person voted for and has it chosen, whatever the address names", async () => {
    const id = await ask({ approvals: { need: 2, from: ["lena", "ada"] } });
    const text = await linkTo(id);
    expect((await open(text)).html).toContain("Approvals 0 of 2");
    await post(text, { "i.0": "0", note: "as ever", do: "answer" });
    const { html } = await open(text, "?choose=b");
    expect(html).toContain("You chose “Redis”: 1 of 2.");
    expect(html).toMatch(/value="0" checked/);
    expect(html).toContain("as ever</textarea>");
  });

  test("can be taken back by the one who answered, for as long as answers on pages can", async () => {
    const id = await ask();
    const text = await linkTo(id);
    await post(text, { "i.0": "0", do: "answer" });
    expect((await open(text)).html).toContain(`${linkPath(text)}/undo`);
    const form = { accept: "text/html", origin: at.url, "content-type": "application/x-www-form-urlencoded" };
    await at.send("POST", `${linkPath(text)}/undo`, { body: "", headers: form });
    expect(await read(id)).toMatchObject({ status: "pending" });
    expect((await read(id)).status === "pending" && "settling" in (await read(id))).toBe(false);
  });

  test("is for its own question and person only, and no credential anywhere else", async () => {
    const [one, other] = [await ask({ question: "One?" }), await ask({ question: "Other?" })];
    const text = await linkTo(one);
    await post(text, { "i.0": "0", do: "answer", id: other, question: other, by: "ada" });
    expect(await read(other)).toMatchObject({ status: "pending" });
    for (const path of [
      `/q/${other}`,
      `/q/${one}`,
      "/",
      `/api/v1/questions/${one}`,
      "/api/v1/me",
      `/q/${other}/answer`,
    ]) {
      const bearer = await at.send("GET", path, { token: text });
      const cookie = await at.send("GET", path, { headers: { cookie: `askd_session=${text}` } });
      expect([bearer.status, cookie.status]).toEqual([401, 401]);
    }
    const answered = await at.send("POST", `/api/v1/questions/${other}/answer`, { token: text, body: { answer: "1" } });
    expect(answered.status).toBe(401);
    const human = await at.token();
    expect((await open(human)).status).toBe(404);
  });

  test("stands nowhere: not in the store, the trail, the log or what is sent elsewhere", async () => {
    const id = await ask();
    const text = await linkTo(id);
    const { headers } = await open(text);
    await post(text, { "i.0": "9", do: "answer" });
    await post(text, { "i.0": "0", do: "answer" }, { origin: "https://evil.example" });
    await open(text.slice(0, -1) + "A");
    const secret = text.slice("askd_l_".length);
    expect(await kept(id)).not.toContain(secret);
    expect(await kept(id)).toContain(tokenId(text));
    expect(written.join("\n")).not.toContain(secret.slice(0, 20));
    expect(written.join("\n")).toContain("/a/…");
    expect(headers.get("referrer-policy")).toBe("same-origin");
    expect(headers.get("x-robots-tag")).toContain("noindex");
    expect(headers.get("cache-control")).toBe("no-store");
    expect(headers.get("content-security-policy")).not.toContain("script-src");
  });

  test("says who answered, that time is over, or that it does not work", async () => {
    const [taken, late, gone] = [
      await ask({ question: "Taken?" }),
      await ask({ question: "Late?", timeout: "1h" }),
      await ask({ question: "Gone?" }),
    ];
    const [one, two, three] = [await linkTo(taken), await linkTo(late), await linkTo(gone)];
    await at.scene.engine.answer(taken, said("1"), ADA);
    await at.scene.engine.cancel(gone, { reason: "not needed" }, ADA);
    await at.scene.pass(2 * HOUR_MS);
    expect((await open(one)).html).toContain("ada chose “Redis”");
    expect((await open(two)).html).toContain("Nobody answered by");
    expect((await open(three)).html).toContain("Cancelled by ada");
    const lost = await post(one, { "i.0": "other", "t.0": "my own words", do: "answer" });
    expect(lost.status).toBe(409);
    expect(lost.html).toContain("my own words");
    expect((await post(two, { "i.0": "0", do: "answer", force: "1" })).status).toBe(409);
    expect(await read(late)).not.toHaveProperty("forced");
    expect((await open("askd_l_000000000000000000000000000")).status).toBe(404);
    expect((await open("nothing")).html).toContain("This link does not work.");
  });

  test("is worth nothing once it is revoked", async () => {
    const id = await ask();
    const text = await linkTo(id);
    await at.scene.engine.revokeToken(tokenId(text), SYSTEM);
    expect((await open(text)).status).toBe(404);
    expect((await post(text, { "i.0": "0", do: "answer" })).status).toBe(404);
    expect(await read(id)).toMatchObject({ status: "pending" });
  });

  test("takes a form of its own page only, and leads who follows it from a mail", async () => {
    const id = await ask();
    const text = await linkTo(id);
    for (const headers of [{ origin: "https://evil.example" }, { origin: "null" }]) {
      expect((await post(text, { "i.0": "0", do: "answer" }, headers)).status).toBe(403);
    }
    expect(await read(id)).toMatchObject({ status: "pending" });
    const headers = { "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document" };
    const html = await follow(`${linkPath(text)}?choose=b`, headers);
    expect(html).toContain(`url=${linkPath(text)}?choose=b`);
  });

  test("answers as somebody of whom only the link is known, and the trail says so", async () => {
    const id = await ask();
    await post(await linkTo(id), { "i.0": "0", do: "answer" });
    await at.scene.pass(MINUTE_MS);
    const { answer, runId } = answeredOf(await read(id));
    expect(answer.by).toMatchObject({ id: "lena", channel: "link", strength: "bearer" });
    const events = (await at.scene.engine.readChain(runId)).map(({ event }) => event);
    const settled = events.filter(({ type }) => type === "question.settling" || type === "question.answered");
    expect(settled.map(({ by }) => by.strength)).toContain("bearer");
    const typed = await type(at.scene, ["show", id]);
    expect(typed.stdout).toContain("lena (link, not proven)");
  });

  test.each(["answer", "decide", "clarify"])("does not do %s at high risk, however it was come by", async (how) => {
    const id = await ask({ question: "Drop users_v1?", risk: "high", accepts: ["answer", "decide", "clarify"] });
    await expect(linkTo(id)).rejects.toMatchObject({ code: "needs_person" });
    const { text, token } = newLink({ questionId: id, person: "lena", createdAt: at.scene.now }, randomBytes(20));
    await at.scene.store.commit({ entries: [tokenEntry(token)] });
    expect((await open(text, "?choose=b")).html).not.toMatch(/type="radio"[^>]* checked/);
    const before = await read(id);
    expect((await post(text, { "i.0": "0", back: "Why?", word: "users_v1", do: how })).status).toBe(403);
    expect(await read(id)).toEqual(before);
    const { event } = (await at.scene.engine.readChain(before.runId)).at(-1)!;
    expect(event).toMatchObject({ type: "question.refused", by: { id: "lena", channel: "link", strength: "bearer" } });
  });

  test("bears only so many requests a minute", async () => {
    const text = await linkTo(await ask());
    // All at once, as what was used up comes back with time.
    const statusesOf = async (paths: readonly string[]): Promise<Set<number>> =>
      new Set((await Promise.all(paths.map((path) => open(path)))).map(({ status }) => status));
    expect(await statusesOf(Array<string>(60).fill(text))).toEqual(new Set([200, 429]));
    expect(await statusesOf(Array.from({ length: 200 }, (_, count) => `askd_l_wrong${count}`))).toEqual(
      new Set([404, 429]),
    );
  });
});

describe("a link is made", () => {
  test("by a person for themselves, by an admin for anybody, and never by an agent", async () => {
    const id = await ask();
    const human = await at.token();
    const path = `/api/v1/questions/${id}/links`;
    expect((await at.send("POST", path, { token: human, body: { person: "ada" } })).body["path"]).toMatch(
      /^\/a\/askd_l_/,
    );
    expect((await at.send("POST", path, { token: human, body: { person: "lena" } })).status).toBe(403);
    const admin = await at.token({ scope: "admin" });
    expect((await at.send("POST", path, { token: admin, body: { person: "lena" } })).status).toBe(200);
    const agent = await at.token({ scope: "agent", subject: "claude", runId: (await read(id)).runId });
    expect((await at.send("POST", path, { token: agent, body: { person: "claude" } })).status).toBe(403);
    expect((await at.send("POST", path, { token: admin, body: { person: "a b" } })).status).toBe(400);
    expect((await at.scene.engine.verify()).problems).toEqual([]);
  });

  test("only for who may answer, and only while the question waits", async () => {
    const id = await ask({ approvals: { need: 1, from: ["lena"] } });
    await expect(linkTo(id, "mika")).rejects.toMatchObject({ code: "not_permitted" });
    await at.scene.engine.cancel(id, {}, ADA);
    await expect(linkTo(id)).rejects.toMatchObject({ code: "not_pending" });
  });
});

/** Opens an address with exactly these headers; `fetch` has its own about where it comes from. */
function follow(path: string, headers: Record<string, string>): Promise<string> {
  return new Promise((resolve, reject) => {
    get(`${at.url}${path}`, { headers: { accept: "text/html", ...headers } }, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (part: string) => (text += part));
      response.on("end", () => resolve(text));
    }).on("error", reject);
  });
}
