import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { HOUR_MS, MINUTE_MS } from "../core/instant.ts";
import { SYSTEM } from "../core/people/actor.ts";
import { signInPath } from "../core/people/sign-in-link.ts";
import { feedOf } from "../../test/remote.ts";
import { ServedScene } from "../../test/served.ts";
import { buildHttp } from "./server.ts";

let at: ServedScene;
beforeEach(async () => {
  at = await ServedScene.start();
});
afterEach(() => at.stop());

async function signIn(code: string, headers: Record<string, string> = {}) {
  const form = { "content-type": "application/x-www-form-urlencoded", ...headers };
  return at.send("POST", "/login", { body: `code=${encodeURIComponent(code)}`, headers: form });
}

function cookieOf({ headers }: { headers: Headers }): string {
  return (headers.get("set-cookie") ?? "").split(";")[0] ?? "";
}

test("the page of the form runs no script and sends the form nowhere else", async () => {
  const { status, headers, body } = await at.send("GET", "/login");
  expect(status).toBe(200);
  expect(headers.get("content-security-policy")).toBe(
    "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
  );
  expect(body["text"]).toContain('<form method="post" action="/login">');
});

test("a code signs in once, with a cookie that scripts and other sites cannot use", async () => {
  const code = await at.token({ scope: "login" });
  const first = await signIn(code);
  expect(first.status).toBe(303);
  const cookie = first.headers.get("set-cookie") ?? "";
  expect(cookie).toMatch(/^askd_session=askd_h_[\w-]+; Max-Age=43200; Path=\/; HttpOnly; SameSite=Strict$/);
  expect((await at.send("GET", "/api/v1/me", { headers: { cookie: cookieOf(first) } })).body).toMatchObject({
    id: "ada",
  });
  expect(await signIn(code)).toMatchObject({ status: 401 });
  expect((await signIn(code)).headers.get("set-cookie")).toBeNull();
});

test("a code is worth nothing after ten minutes, and a session after twelve hours", async () => {
  const late = await at.token({ scope: "login" });
  const cookie = cookieOf(await signIn(await at.token({ scope: "login" })));
  await at.scene.pass(11 * MINUTE_MS);
  expect((await signIn(late)).status).toBe(401);
  expect((await at.send("GET", "/api/v1/me", { headers: { cookie } })).status).toBe(200);
  await at.scene.pass(12 * HOUR_MS);
  expect((await at.send("GET", "/api/v1/me", { headers: { cookie } })).status).toBe(401);
});

test("behind TLS the cookie is tied to the very host and never travels in the clear", async () => {
  const doors = { hosts: new Set([""]), origins: new Set<string>() };
  const { engine, store, rules } = at.scene;
  const { app } = buildHttp(
    { engine, rules, version: "0.0.0", log: () => undefined, feed: feedOf(store) },
    { doors: () => doors, isSecure: true, stopping: new AbortController().signal },
  );
  const body = new URLSearchParams({ code: await at.token({ scope: "login" }) });
  const response = await app.fetch(new Request("https://askd.example/login", { method: "POST", body }));
  expect(response.headers.get("set-cookie")).toMatch(
    /^__Host-askd_session=askd_h_[\w-]+; Max-Age=43200; Path=\/; HttpOnly; Secure; SameSite=Strict$/,
  );
});

test("a session ends with the next sign-in, and with signing out", async () => {
  const first = cookieOf(await signIn(await at.token({ scope: "login" })));
  const second = cookieOf(await signIn(await at.token({ scope: "login" }), { cookie: first }));
  const isGood = async (cookie: string) => (await at.send("GET", "/api/v1/me", { headers: { cookie } })).status === 200;
  expect([await isGood(first), await isGood(second)]).toEqual([false, true]);
  const out = await at.send("POST", "/logout", { headers: { cookie: second } });
  expect(out.status).toBe(303);
  expect(await isGood(second)).toBe(false);
});

test("a form of another site signs nobody in", async () => {
  const code = await at.token({ scope: "login" });
  expect((await signIn(code, { origin: "https://evil.example" })).status).toBe(403);
  expect((await signIn(code, { "sec-fetch-site": "cross-site" })).status).toBe(403);
  expect((await signIn(code)).status).toBe(303);
});

test("a write with a cookie needs the word of our own page", async () => {
  const cookie = cookieOf(await signIn(await at.token({ scope: "login" })));
  const body = { question: "Really?" };
  expect((await at.send("POST", "/api/v1/questions", { body, headers: { cookie } })).status).toBe(401);
  expect((await at.send("POST", "/api/v1/questions", { body, headers: { cookie, "x-askd": "1" } })).status).toBe(201);
});

test("programs trade a code for a token the same way", async () => {
  const code = await at.token({ scope: "login" });
  const { status, body } = await at.send("POST", "/api/v1/login", { body: { code } });
  expect(status).toBe(200);
  expect((await at.send("GET", "/api/v1/me", { token: String(body["text"]) })).status).toBe(200);
  expect((await at.send("POST", "/api/v1/login", { body: { code } })).status).toBe(401);
});

test("an answer can be taken back as long as is set for where it was given", async () => {
  const cookie = cookieOf(await signIn(await at.token({ scope: "login" })));
  const token = await at.token();
  const statusAfter = async (sent: Parameters<ServedScene["send"]>[2]): Promise<unknown> => {
    const { question } = await at.scene.ask();
    const { body } = await at.send("POST", `/api/v1/questions/${question.id}/answer`, sent);
    return body["status"];
  };
  expect(await statusAfter({ body: { answer: "1" }, headers: { cookie, "x-askd": "1" } })).toBe("pending");
  expect(await statusAfter({ body: { answer: "1" }, token })).toBe("answered");
  expect(await statusAfter({ body: { answer: "1", undo_window: "5s" }, token })).toBe("pending");
  await at.scene.pass(5_000);
  expect(await at.scene.engine.countQuestions("pending")).toBe(0);
});

test("whoever sends a token that is not known is told so, and whoever sends none that one is needed", async () => {
  const me = async (headers: Record<string, string>) => (await at.send("GET", "/api/v1/me", { headers })).body;
  expect(await me({})).toMatchObject({ status: 401, detail: expect.stringContaining("A token is needed") });
  expect(await me({ authorization: "Bearer askd_h_0123456789abcdef0123456789" })).toMatchObject({
    status: 401,
    detail: expect.stringContaining("mistyped, revoked or expired"),
  });
});

describe("a link that signs in", () => {
  const linkFor = async (person: string) => {
    const { text } = await at.scene.engine.issueToken({ scope: "login", subject: person }, SYSTEM);
    return signInPath({ code: text, person, next: "/activity" });
  };

  test("does nothing by itself: mail scanners open links too", async () => {
    const path = await linkFor("lena");
    for (let opened = 0; opened < 3; opened += 1) {
      const { status, body, headers } = await at.send("GET", path);
      expect(status).toBe(200);
      expect(headers.get("set-cookie")).toBeNull();
      expect(body["text"]).toContain("Sign in as lena");
    }
    const code = new URLSearchParams(path.split("?")[1]).get("code") ?? "";
    expect((await signIn(code)).status).toBe(303);
  });

  test("leads on at once if that person is signed in already, and not if somebody else is", async () => {
    const cookie = cookieOf(await signIn(await at.token({ scope: "login", subject: "lena" })));
    const { status, headers } = await at.send("GET", await linkFor("lena"), { headers: { cookie } });
    expect([status, headers.get("location")]).toEqual([303, "/activity"]);
    expect((await at.send("GET", await linkFor("mika"), { headers: { cookie } })).status).toBe(200);
  });

  test("with anything but a code and a name is the usual page", async () => {
    for (const query of [
      "code=x&as=lena",
      "code=<script>alert(1)</script>&as=lena",
      "code=aaaaaaaaaaaaaaaaaaaa&as=%3Cb%3E",
    ]) {
      const { body } = await at.send("GET", `/login?${query}`);
      expect(body["text"]).toContain('type="password"');
      expect(body["text"]).not.toContain("alert(1)");
    }
  });
});
