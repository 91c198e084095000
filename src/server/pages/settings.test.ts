import { afterEach, describe, expect, test } from "vitest";
import { SYSTEM } from "../../core/people/actor.ts";
import { Board } from "../../../test/channels/board-channel.ts";
import { PageVisit } from "../../../test/page-visit.ts";
import { Scene } from "../../../test/scene.ts";

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

  test("have preferences: channels, language, digest and budget", async () => {
    await signIn("admin");
    const wishes = { channels: "telegram, ntfy", muted: "desktop", language: "de", digest: "15m", interruptions: "6" };
    await visit.post("/settings/people", { id: "lena", ...wishes });
    expect(await engine().listPeople()).toMatchObject([
      {
        channels: ["telegram", "ntfy"],
        muted: ["desktop"],
        language: "de",
        digest: "15m",
        interruptionsPerHour: 6,
      },
    ]);
    const { html } = await visit.open("/settings/people");
    expect(html).toContain("prefers telegram, ntfy");
    expect(html).toMatch(/<option value="de" selected/);
    for (const [field, value] of [
      ["digest", "soon"],
      ["interruptions", "many"],
      ["language", "xx"],
    ] as const) {
      expect((await visit.post("/settings/people", { id: "mika", [field]: value })).status).toBe(422);
    }
  });

  test("say themselves that they are away and who gets their questions; nobody says it of others", async () => {
    await signIn();
    await engine().putPerson({ id: "ada", version: 0, groups: [] }, SYSTEM);
    await engine().putPerson({ id: "lena", version: 0, groups: [] }, SYSTEM);
    const { html } = await visit.open("/settings/people");
    expect(html).toContain('action="/settings/people/ada/away"');
    expect(html).not.toContain('action="/settings/people/lena/away"');
    const away = { until: "2027-01-01", delegate: "lena" };
    expect((await visit.post("/settings/people/ada/away", away)).location).toBe("/settings/people");
    expect((await engine().findPerson("ada"))?.away).toEqual({ until: "2027-01-01T00:00:00.000Z", delegate: "lena" });
    expect((await visit.open("/settings/people")).html).toContain("away until 2027-01-01 (lena)");
    await visit.post("/settings/people/ada/away", { back: "1" });
    expect((await engine().findPerson("ada"))?.away).toBeUndefined();
    expect((await visit.post("/settings/people/lena/away", away)).status).toBe(403);
    const strange = await visit.post("/settings/people/ada/away", { until: "tomorrow", delegate: "" });
    expect(strange.status).toBe(422);
  });

  test("choose themselves how they are told, and nothing else of them changes; nobody chooses it for others", async () => {
    await signIn();
    await engine().putPerson({ id: "ada", version: 0, email: "ada@example.com", groups: ["platform"] }, SYSTEM);
    await engine().putPerson({ id: "lena", version: 0, groups: [] }, SYSTEM);
    const { html } = await visit.open("/settings/people");
    expect(html).toContain('action="/settings/people/ada/preferences"');
    expect(html).not.toContain('action="/settings/people/lena/preferences"');
    const wishes = { channels: "telegram, ntfy", muted: "desktop", language: "de", digest: "15m", interruptions: "6" };
    const own = { ...wishes, quiet: "22:00-07:00", email: "eve@example.com", groups: "admins" };
    expect((await visit.post("/settings/people/ada/preferences", own)).location).toBe("/settings/people");
    expect(await engine().findPerson("ada")).toMatchObject({
      email: "ada@example.com",
      groups: ["platform"],
      quiet: "22:00-07:00 UTC",
      channels: ["telegram", "ntfy"],
      muted: ["desktop"],
      language: "de",
      digest: "15m",
      interruptionsPerHour: 6,
    });
    await visit.post("/settings/people/ada/preferences", {});
    const { quiet, digest, language, interruptionsPerHour } = (await engine().findPerson("ada")) ?? {};
    expect([quiet, digest, language, interruptionsPerHour]).toEqual([undefined, undefined, undefined, undefined]);
    expect((await visit.post("/settings/people/lena/preferences", wishes)).status).toBe(403);
    const bad = await visit.post("/settings/people/ada/preferences", { interruptions: "many" });
    expect([bad.status, bad.html.includes("Interruptions an hour")]).toEqual([422, true]);
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

  test("show what each of them would get of a question", async () => {
    await signIn();
    const { run } = await visit.at.scene.ask();
    expect((await visit.open(`/channels?question=${run.number}`)).html).toContain("Nobody would be told of it.");
    expect((await visit.open("/channels?question=q-zzzz")).html).toContain("There is no such question.");
  });

  test("show the message that a channel would get, the deliveries that arrived, and the one that failed with its reason", async () => {
    const board = new Board("board");
    const slack = new Board("slack");
    slack.refuse = () => ({ ok: false, why: "channel_not_found", isFinal: true });
    const reach = [board, slack].map(({ name }) => ({ name, person: undefined, isPersonal: false }));
    const openChannel = (name: string) => Promise.resolve(name === "slack" ? slack : board);
    visit = await PageVisit.start({}, {}, new Scene({ rules: { reach }, openChannel }));
    const { run, question } = await visit.at.scene.ask({ question: "Which <cache>?" });
    const preview = (await visit.open(`/channels?question=${run.number}`)).html;
    expect(preview).toMatch(/<h3>board[^]*Which &lt;cache&gt;\?[^]*<h3>slack/);
    expect(board.calls).toEqual([]);
    await visit.at.scene.pass(0);
    const { html } = await visit.open("/channels");
    const rows = html.slice(html.indexOf('<ol class="rows trail">')).split("</li>");
    const rowOf = (chip: string) => rows.find((row) => row.includes(`class="chip ${chip}"`)) ?? "";
    expect(rowOf("ok")).toMatch(/>sent<\/span> board, message/);
    expect(rowOf("bad")).toMatch(/>failed<\/span> slack[^]*channel_not_found/);
    for (const chip of ["ok", "bad"]) expect(rowOf(chip)).toContain(`href="/q/${question.id}"`);
  });

  test("say when each last sent something, which fails and why, who hears replies, and which reaches nobody", async () => {
    const board = new Board("board");
    const slack = new Board("slack");
    slack.refuse = () => ({ ok: false, why: "token_revoked", isRefused: true });
    const reach = [
      { name: "board", person: undefined, isPersonal: false },
      { name: "slack", person: "lena", isPersonal: false },
      { name: "telegram", person: undefined, isPersonal: true },
    ];
    const openChannel = (name: string) => Promise.resolve(name === "slack" ? slack : board);
    visit = await PageVisit.start({}, {}, new Scene({ rules: { reach }, openChannel }));
    const { scene } = visit.at;
    const stateOf = async (name: string) => {
      const { html } = await visit.open("/channels");
      return html.split("<li").find((row) => row.includes(`<b>${name}</b>`)) ?? "";
    };
    expect(await stateOf("board")).toContain("Nothing sent yet");
    expect(await stateOf("telegram")).toMatch(/reaches nobody[^]*askd setup telegram/);
    await scene.ask();
    await scene.pass(0);
    for (let count = 0; count < 600; count += 1) await scene.engine.createRun({}, SYSTEM);
    expect(await stateOf("board")).toMatch(/Last sent <time datetime="2026-01-01T12:00:00.000Z"/);
    expect(await stateOf("slack")).toMatch(
      />failing<\/span> \(lena\) since <time[^]*token_revoked[^]*1 message waiting/,
    );
    const { html } = await visit.open("/channels");
    expect(html).toMatch(/>sent<\/span> board, message/);
    expect(html).toMatch(/>failed<\/span> slack \(lena\)/);
    await scene.engine.putPerson({ id: "lena", version: 0, groups: [], telegram: "7" }, SYSTEM);
    expect(await stateOf("telegram")).toContain("Reaches 1 person");
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
