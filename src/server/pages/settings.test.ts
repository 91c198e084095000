import { afterEach, describe, expect, test } from "vitest";
import { SYSTEM } from "../../core/people/actor.ts";
import { PageVisit } from "../../../test/page-visit.ts";

let visit: PageVisit;
afterEach(() => visit.stop());

const signIn = async (scope: "human" | "admin" = "human", over: Parameters<typeof PageVisit.start>[0] = {}) => {
  visit = await PageVisit.start(over, { scope });
};
const engine = () => visit.at.scene.engine;

describe("what somebody sets for themselves", () => {
  test("is kept: theme, language and keys", async () => {
    await signIn();
    const got = await visit.post("/settings", { theme: "dark", language: "de", keys: "off", "key.m": "b" });
    expect([got.status, got.location]).toEqual([303, "/settings"]);
    const cookies = got.headers.getSetCookie().map((cookie) => cookie.split(";")[0] ?? "");
    expect(cookies).toEqual(["askd_language=de", "askd_theme=dark", "askd_keymap=m%3Db", "askd_keys=off"]);
    const { html } = await visit.open("/settings", { cookie: cookies.join("; ") });
    expect(html).toContain('<html lang="de" data-theme="dark">');
    expect(html).toContain('data-keys="off" data-keymap="{&quot;m&quot;:&quot;b&quot;}"');
  });

  test.each([{ "key.m": "1" }, { "key.m": "g" }, { "key.m": "j" }])("%j is no way to change keys", async (keys) => {
    await signIn();
    const got = await visit.post("/settings", { theme: "auto", language: "", keys: "on", ...keys });
    expect([got.status, got.html.includes("Use one character")]).toEqual([422, true]);
    expect(got.html).toContain(`“${keys["key.m"]}” cannot be the key for “ask back”`);
    expect(got.html).toMatch(/name="key\.m"[^>]*aria-invalid="true"/);
    expect(got.html.match(/aria-invalid/g)).toHaveLength(1);
  });

  test("is still in the form where one key of it is refused", async () => {
    await signIn();
    const got = await visit.post("/settings", {
      theme: "dark",
      language: "de",
      keys: "off",
      "key.m": "1",
      "key.n": "b",
    });
    expect(got.status).toBe(422);
    for (const kept of ['value="dark" selected', 'value="de" lang="de" selected', 'value="off" checked']) {
      expect(got.html).toContain(kept);
    }
    expect(got.html).toMatch(/name="key\.n"[^>]*value="b"/);
  });

  test("two keys can be exchanged", async () => {
    await signIn();
    const got = await visit.post("/settings", { theme: "auto", language: "", keys: "on", "key.j": "k", "key.k": "j" });
    expect(got.status).toBe(303);
  });

  test("and what is set for everybody is shown", async () => {
    await signIn();
    const { html } = await visit.open("/settings/policies");
    for (const words of [
      "questions.live_window",
      "3m",
      "24h".slice(0, 0),
      "answers.undo_window.web",
      "5s",
      "50%, 90%",
      "1 day",
    ])
      expect(html).toContain(words);
  });
});

describe("people", () => {
  test("are seen by everybody and changed by an admin only", async () => {
    await signIn();
    await engine().putPerson({ id: "lena", version: 0, name: "Lena L", groups: ["platform"] }, SYSTEM);
    const { html } = await visit.open("/settings/people");
    expect(html).toContain("Lena L");
    expect(html).toContain("askd login --admin");
    expect(html).not.toContain('action="/settings/people"');
    const refused = await visit.post("/settings/people", { id: "eve", groups: "" });
    expect(refused.status).toBe(403);
    expect(await engine().listPeople()).toHaveLength(1);
  });

  test("are added and edited, and a bad entry comes back with its words", async () => {
    await signIn("admin");
    const added = { id: "mika", name: "Mika", email: "mika@example.com", groups: "platform, @api" };
    expect((await visit.post("/settings/people", added)).location).toBe("/settings/people");
    const twice = await visit.post("/settings/people", { ...added, name: "Other" });
    expect([twice.status, twice.html.includes("change the entry above")]).toEqual([409, true]);
    await visit.post("/settings/people", { change: "mika", name: "Mika K", groups: "api" });
    expect(await engine().listPeople()).toMatchObject([{ id: "mika", name: "Mika K", groups: ["api"] }]);
    const bad = await visit.post("/settings/people", { id: "no spaces", name: "Kept <b>" });
    expect([bad.status, bad.html.includes("Kept &lt;b&gt;")]).toEqual([422, true]);
  });

  test("have quiet hours, in the time zone of who writes them unless they name one", async () => {
    await signIn("admin");
    await visit.post("/settings/people", { id: "mika", quiet: "22:00-07:00" });
    await visit.post("/settings/people", { id: "lena", quiet: "22:00-07:00 Europe/Berlin" });
    const quiet = Object.fromEntries((await engine().listPeople()).map((person) => [person.id, person.quiet]));
    expect(quiet).toEqual({ mika: "22:00-07:00 UTC", lena: "22:00-07:00 Europe/Berlin" });
    const bad = await visit.post("/settings/people", { id: "eve", quiet: "at night" });
    expect([bad.status, bad.html.includes("Quiet hours")]).toEqual([422, true]);
  });

  test("are invited by an admin, with a link that is shown once and signs them in once", async () => {
    await signIn("admin");
    await engine().putPerson({ id: "lena", version: 0, groups: [] }, SYSTEM);
    const { status, html } = await visit.post("/settings/people/lena/invite", {});
    expect(status).toBe(200);
    const code = /\/login\?code=([\w-]+)&amp;as=lena/.exec(html)?.[1] ?? "";
    expect((await visit.open("/settings/people")).html).not.toContain("code=");
    expect((await engine().redeemLogin(code, SYSTEM)).token).toMatchObject({ subject: "lena", scope: "human" });
    expect((await visit.post("/settings/people/nobody/invite", {})).status).toBe(403);
  });

  test("are not invited by anybody else", async () => {
    await signIn();
    await engine().putPerson({ id: "lena", version: 0, groups: [] }, SYSTEM);
    const { status, html } = await visit.post("/settings/people/lena/invite", {});
    expect([status, html.includes("code=")]).toEqual([403, false]);
  });
});

test("a page in front reports that its reader is there; one without a session does not", async () => {
  await signIn();
  expect((await visit.post("/here", {})).status).toBe(204);
  expect(await visit.at.scene.store.findEntry("presence", "ada")).toMatchObject({ kind: "presence" });
  expect((await visit.post("/here", {}, { cookie: "" })).status).not.toBe(204);
});

describe("tokens", () => {
  test("of agents are issued by anybody, shown once, and listed by an admin only", async () => {
    await signIn();
    const got = await visit.post("/settings/tokens", { scope: "agent", subject: "ci", expires: "30d" });
    const text = /askd_a_[\w-]+/.exec(got.html)?.[0] ?? "";
    expect((await engine().authenticate(text, "api"))?.actor).toMatchObject({ scope: "agent", id: "ci" });
    const { html } = await visit.open("/settings/tokens");
    expect(html).not.toContain(text);
    expect(html).toContain("Only an admin can see and revoke all tokens and sessions");
    for (const fields of [
      { scope: "admin", subject: "ada" },
      { scope: "human", subject: "lena" },
    ]) {
      const refused = await visit.post("/settings/tokens", fields);
      expect([refused.status, refused.html.includes("can only be made by an admin")]).toEqual([403, true]);
    }
    expect((await visit.post("/settings/tokens", { scope: "agent", subject: "" })).status).toBe(422);
  });

  test("and sessions are revoked by an admin", async () => {
    await signIn("admin");
    const { token, text } = await engine().issueToken({ scope: "human", subject: "lena" }, SYSTEM);
    const { html } = await visit.open("/settings/tokens");
    expect(html).toContain(`action="/settings/tokens/${token.id}/revoke"`);
    expect(html.match(/This is your current session/g)).toHaveLength(1);
    expect((await visit.post(`/settings/tokens/${token.id}/revoke`, {})).location).toBe("/settings/tokens");
    expect(await engine().authenticate(text, "api")).toBeUndefined();
    await visit.stop();
    await signIn();
    const other = await engine().issueToken({ scope: "human", subject: "lena" }, SYSTEM);
    expect((await visit.post(`/settings/tokens/${other.token.id}/revoke`, {})).status).toBe(403);
  });

  test("a code for an admin gives the session of one, and only an admin makes it", async () => {
    await signIn();
    const ada = { scope: "human", id: "ada", channel: "web", strength: "local" } as const;
    await expect(engine().issueToken({ scope: "login", subject: "ada", grants: "admin" }, ada)).rejects.toThrow(
      "can only be made by an admin",
    );
    const { text } = await engine().issueToken({ scope: "login", subject: "ada", grants: "admin" }, SYSTEM);
    const session = await engine().redeemLogin(text, SYSTEM);
    expect(session.token).toMatchObject({ scope: "admin", subject: "ada", isSession: true });
    await expect(engine().redeemLogin(text, SYSTEM)).rejects.toThrow("not valid any more");
  });
});

describe("channels", () => {
  test("that are not there: the page says what to write where", async () => {
    await signIn();
    const { html } = await visit.open("/channels");
    expect(html).toContain("No channel is configured");
    expect(html).toContain("[channels.slack]");
  });

  test("are listed with what was sent, what failed, and what is still to be sent", async () => {
    await signIn("human", { channels: [{ name: "slack", settings: [["channel", "#agents"]] }] });
    const { scene } = visit.at;
    const callback = { url: "https://127.0.0.1:1/hook", secret: `whsec_${Buffer.alloc(24, 1).toString("base64")}` };
    const run = await scene.engine.createRun({ name: "hooked", giveBack: "callback", callback }, SYSTEM);
    const { question } = await scene.engine.ask(scene.input(), SYSTEM, { runId: run.id });
    await scene.engine.cancelRun(run.id, SYSTEM);
    const { html } = await visit.open("/channels");
    expect(html).toContain("#agents");
    expect(html).toMatch(new RegExp(`callback[^]*href="/q/${question.id}"`));
    expect(html).not.toContain("whsec_");
  });
});
