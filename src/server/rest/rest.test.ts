import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { BY_HEADER } from "../../core/api/route.ts";
import { fingerprintOf } from "../../core/question/approval.ts";
import { ROUTES, VERBS } from "../../core/api/table.ts";
import { DEFAULT_LIMITS } from "../../core/rules.ts";
import type { Engine } from "../../engine/engine.ts";
import { Scene } from "../../../test/scene.ts";
import { ServedScene } from "../../../test/served.ts";

const ASK = { question: "Redis or Memcached?", options: ["Redis", "Memcached"] };

let at: ServedScene;
beforeEach(async () => {
  at = await ServedScene.start();
});
afterEach(() => at.stop());

test("a number that is no option is refused, unless it is said to be the answer", async () => {
  const token = await at.token();
  const { body } = await at.send("POST", "/api/v1/questions", { token, body: ASK });
  const path = `/api/v1/questions/${body["id"]}/answer`;
  for (const answer of [{ answer: "99" }, { items: { 1: { text: "99" } } }]) {
    const refused = await at.send("POST", path, { token, body: answer });
    expect(refused).toMatchObject({ status: 422, body: { code: "no_such_option" } });
    expect(String(refused.body["hint"])).toContain("verbatim");
  }
  expect(await at.send("POST", path, { token, body: { answer: "99", verbatim: true } })).toMatchObject({ status: 200 });
});

test("a field of an ask that nobody reads is refused, whichever object it is in", async () => {
  const token = await at.token();
  for (const more of [{ riks: "high" }, { approvals: { needs: 2 } }, { options: [{ label: "a", recomended: true }] }]) {
    const refused = await at.send("POST", "/api/v1/questions", { token, body: { ...ASK, ...more } });
    expect(refused).toMatchObject({ status: 400, body: { hint: expect.stringMatching(/^Write "/) } });
  }
});

test("an address that an asker gives counts only if the settings name it, and the reply says so", async () => {
  await at.stop();
  at = await ServedScene.start(
    {},
    new Scene({ rules: { addresses: { slack: ["#agents"], email: ["ada@example.com"] } } }),
  );
  const notify = [
    { type: "slack", channel: "#evil" },
    { type: "webhook", address: "https://evil.example/hook" },
    { type: "email", recipients: ["Ada@example.com", "eve@evil.example"] },
    { type: "slack", channel: "#agents" },
  ];
  const { status, body } = await at.send("POST", "/api/v1/questions", {
    token: await at.token(),
    body: { ...ASK, notify },
  });
  expect({ status, notify: body["notify"] }).toEqual({
    status: 201,
    notify: [
      { channel: "slack", address: null, address_ignored: true, mention: [] },
      { channel: "webhook", address: null, address_ignored: true, mention: [] },
      { channel: "email", address: "Ada@example.com", address_ignored: true, mention: [] },
      { channel: "slack", address: "#agents", address_ignored: false, mention: [] },
    ],
  });
});

test("every verb of the engine is a route, except those that only make sense where the store is", () => {
  type Local = "work" | "stop" | "listUnreadable" | "refuse" | "readMany" | "findPerson" | "seal";
  const remote: Record<Exclude<keyof Engine, Local>, true> = {
    ask: true,
    wait: true,
    answer: true,
    preview: true,
    undo: true,
    amend: true,
    claim: true,
    release: true,
    assign: true,
    snooze: true,
    extend: true,
    comment: true,
    escalate: true,
    cancel: true,
    endHold: true,
    handOver: true,
    given: true,
    createRun: true,
    startRun: true,
    endRun: true,
    cancelRun: true,
    followRun: true,
    resumeRun: true,
    issueToken: true,
    authenticate: true,
    redeemLogin: true,
    revokeToken: true,
    handOverToken: true,
    removePerson: true,
    listTokens: true,
    putPerson: true,
    listPeople: true,
    read: true,
    findRun: true,
    lookUp: true,
    listQuestions: true,
    usageOf: true,
    listRuns: true,
    countQuestions: true,
    readChain: true,
    readFeed: true,
    verify: true,
    now: true,
    doDue: true,
    putTemplate: true,
    listTemplates: true,
    removeTemplate: true,
    findAsked: true,
    hold: true,
    findSimilar: true,
    readNewest: true,
    listDeliveries: true,
    listRunDeliveries: true,
    listAttention: true,
    previewMessages: true,
    listChannels: true,
    reportPresence: true,
    setAway: true,
    setPreferences: true,
    findFeedEnd: true,
    stats: true,
    issueLink: true,
    findTroubles: true,
    listMachines: true,
  };
  expect([...VERBS].sort()).toEqual(Object.keys(remote).sort());
  const addresses = VERBS.map((verb) => `${ROUTES[verb].method} ${ROUTES[verb].path}`);
  expect(new Set(addresses).size).toBe(VERBS.length);
});

describe("a question over HTTP", () => {
  test("is asked, claimed, answered and read", async () => {
    const agent = await at.token({ scope: "agent", subject: "ci" });
    const ada = await at.token();
    const asked = await at.send("POST", "/api/v1/questions", { token: agent, body: ASK });
    expect(asked).toMatchObject({ status: 201, body: { status: "pending", asked_by: "ci", via: "api", answer: null } });
    const path = `/api/v1/questions/${asked.body.id}`;
    expect((await at.send("GET", path, { token: agent })).body).toEqual(asked.body);
    expect((await at.send("POST", `${path}/claim`, { token: ada })).body).toMatchObject({ claimed_by: "ada" });
    await at.send("POST", `${path}/comment`, { token: ada, body: { text: "prefer what we run already" } });
    const waiting = at.send("GET", `${path}/wait`, { token: agent });
    const answered = await at.send("POST", `${path}/answer`, { token: ada, body: { answer: "1", note: "pub/sub" } });
    expect(answered).toMatchObject({ status: 200, body: { status: "answered", answer: "Redis", note: "pub/sub" } });
    expect(answered.body).toMatchObject({ answered_by: "ada", run_status: "resuming", comments: [{ by: "ada" }] });
    expect((await waiting).body).toMatchObject({ status: "answered", comments: [] });
    const given = await at.send("POST", `${path}/given`, { token: agent, body: { witness: "read" } });
    expect(given.body).toMatchObject({ run_status: "completed", comments: [] });
    const late = await at.send("POST", `${path}/answer`, { token: ada, body: { answer: "2" } });
    expect(late).toMatchObject({ status: 409, body: { code: "not_pending", type: "urn:askd:problem:not_pending" } });
    expect(late.headers.get("content-type")).toBe("application/problem+json");
  });

  test("says which of its facts only the asker says", async () => {
    const agent = await at.token({ scope: "agent", subject: "ci" });
    const run = {
      agent: "claude",
      repo: "acme/api",
      labels: ["urgent"],
      sources: { repo: "measured" },
      measured: ["repo"],
    };
    const body = { ...ASK, risk: "low", run };
    const asked = await at.send("POST", "/api/v1/questions", { token: agent, body });
    expect(asked).toMatchObject({
      status: 201,
      body: { risk: "low", risk_source: "asker", unverified: ["agent", "repo", "labels", "risk"] },
    });
    const ada = await at.token();
    const claimed = await at.send("GET", `/api/v1/runs/${asked.body.run_id}`, { token: ada });
    expect(claimed.body).toMatchObject({ sources: { agent: "asker", repo: "asker", labels: "asker" } });
    const made = await at.send("POST", "/api/v1/runs", { token: ada, body: run });
    expect(made.body).toMatchObject({ sources: { agent: "person", repo: "person", labels: "person" } });
  });

  test("takes no fingerprint and no lower risk for an approval from its asker", async () => {
    const agent = await at.token({ scope: "agent", subject: "ci" });
    const use = { name: "Bash", input: { command: "rm -r build" } };
    const made = { kind: "approval", tool: use, fingerprint: "0".repeat(64) };
    expect(await at.send("POST", "/api/v1/questions", { token: agent, body: made })).toMatchObject({
      status: 400,
      body: { code: "bad_input", detail: expect.stringContaining("fingerprint: askd computes it") },
    });
    const body = { kind: "approval", tool: use, risk: "low" };
    const asked = await at.send("POST", "/api/v1/questions", { token: agent, body });
    expect(asked.body).toMatchObject({
      title: 'May the agent use Bash to run "rm -r build"?',
      risk: "high",
      risk_source: "measured",
      unverified: [],
      fingerprint: fingerprintOf({ tool: use.name, input: use.input }),
    });
  });

  test("is the same for the same key, and another payload is refused", async () => {
    const token = await at.token({ scope: "agent", subject: "ci" });
    const headers = { "idempotency-key": "deploy-7" };
    const first = await at.send("POST", "/api/v1/questions", { token, body: ASK, headers });
    const again = await at.send("POST", "/api/v1/questions", { token, body: ASK, headers });
    expect([first.status, again.status, again.body.id]).toEqual([201, 200, first.body.id]);
    const other = await at.send("POST", "/api/v1/questions", { token, body: { question: "What else?" }, headers });
    expect(other).toMatchObject({ status: 409, body: { code: "key_reused" } });
    const two = { ...ASK, key: "deploy-8" };
    expect((await at.send("POST", "/api/v1/questions", { token, body: two, headers })).status).toBe(400);
  });

  test("is answered only as it was last seen, where the caller says so", async () => {
    const token = await at.token();
    const asked = await at.send("POST", "/api/v1/questions", { token, body: ASK });
    const path = `/api/v1/questions/${asked.body.id}`;
    const etag = asked.headers.get("etag") ?? "";
    expect(etag).toBe('"1"');
    await at.send("POST", `${path}/claim`, { token });
    const stale = { token, body: { answer: "1" }, headers: { "if-match": etag } };
    expect(await at.send("POST", `${path}/answer`, stale)).toMatchObject({
      status: 412,
      body: { code: "version_changed" },
    });
    expect((await at.send("POST", `${path}/release`, { token, headers: { "if-match": etag } })).status).toBe(412);
    const fresh = (await at.send("GET", path, { token })).headers.get("etag") ?? "";
    expect((await at.send("POST", `${path}/answer`, { ...stale, headers: { "if-match": fresh } })).status).toBe(200);
  });

  test("names somebody else as the one who answered only with a token that may", async () => {
    const plain = await at.token();
    const proxy = await at.token({ subject: "bot", onBehalf: true });
    const answer = async (token: string): Promise<string> => {
      const { body } = await at.send("POST", "/api/v1/questions", { token: plain, body: ASK });
      const path = `/api/v1/questions/${body.id}/answer`;
      return (await at.send("POST", path, { token, body: { answer: "1", answered_by: "lena" } })).body.answered_by;
    };
    expect(await answer(plain)).toBe("ada");
    expect(await answer(proxy)).toBe("lena");
  });

  test("knows of an answer in somebody's name no more than that it was said so, by the body and by the header", async () => {
    const person = await at.token();
    const proxy = await at.token({ subject: "bot", onBehalf: true });
    const inHeader = { scope: "human", id: "bot", channel: "cli", strength: "person", onBehalfOf: "lena" };
    const ways = [
      { body: { answer: "1", confirmed: true, answered_by: "lena" } },
      {
        body: { answer: "1", confirmed: true },
        headers: { [BY_HEADER]: encodeURIComponent(JSON.stringify(inHeader)) },
      },
    ];
    for (const way of ways) {
      for (const risk of ["high", "medium"]) {
        const asked = await at.send("POST", "/api/v1/questions", { token: person, body: { ...ASK, risk } });
        const path = `/api/v1/questions/${asked.body.id}`;
        const { status } = await at.send("POST", `${path}/answer`, { token: proxy, ...way });
        expect(status).toBe(risk === "high" ? 403 : 200);
        const { body } = await at.send("GET", `/api/v1/runs/${asked.body.run_id}/events`, { token: person });
        const { by } = body.events.findLast(({ type }) => /answered|refused/.test(type))!;
        expect(by).toMatchObject({ id: "bot", on_behalf_of: "lena", strength: "bearer" });
      }
    }
  });

  test.each([
    ["cli", "person", "local"],
    ["cli", "local", "local"],
    ["cli", "bearer", "bearer"],
    ["mcp:cursor", "person", "bearer"],
  ])("takes a caller by %s who says %s as %s: never for more than its token", async (channel, said, taken) => {
    await at.scene.know("ada");
    const token = await at.token();
    const claimed = { scope: "human", id: "x", channel, strength: said };
    const headers = { [BY_HEADER]: encodeURIComponent(JSON.stringify(claimed)) };
    const asked = await at.send("POST", "/api/v1/questions", { token, body: ASK });
    await at.send("POST", `/api/v1/questions/${asked.body.id}/answer`, { token, headers, body: { answer: "1" } });
    const { body } = await at.send("GET", `/api/v1/runs/${asked.body.run_id}/events`, { token });
    const { by } = body.events.find(({ type }) => type === "question.answered")!;
    expect(by).toMatchObject({ id: "ada", channel, strength: taken });
  });

  test("never shows where a callback goes or how it is signed", async () => {
    const token = await at.token();
    const secret = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;
    const run = { callback_url: "https://example.com/hook", callback_secret: secret };
    const asked = await at.send("POST", "/api/v1/questions", { token, body: { ...ASK, run } });
    const rows = { accept: "application/vnd.askd.rows+json" };
    for (const headers of [{}, rows]) {
      for (const path of [`questions/${asked.body.id}`, "questions", `runs/${asked.body.run_id}`, "runs", "events"]) {
        const { status, body } = await at.send("GET", `/api/v1/${path}`, { token, headers });
        expect(status).toBe(200);
        expect(JSON.stringify(body)).not.toMatch(/whsec|example\.com/);
      }
    }
  });
});

describe("lists", () => {
  test("come in pages that can be followed to the end", async () => {
    const token = await at.token();
    const ids: string[] = [];
    for (let index = 0; index < 5; index += 1) {
      ids.push((await at.scene.ask({ question: `Q${index}?` })).question.id);
      await at.scene.pass(1);
    }
    const seen: string[] = [];
    let path: string | undefined = "/api/v1/questions?order=oldest&limit=2";
    while (path) {
      const { headers, body } = await at.send("GET", path, { token });
      seen.push(...body.questions.map(({ id }) => id));
      path = /^<(.+)>; rel="next"$/.exec(headers.get("link") ?? "")?.[1];
      expect(body.next_cursor === null).toBe(path === undefined);
    }
    expect(seen).toEqual(ids);
  });

  test("take the states that other systems know", async () => {
    const token = await at.token();
    const { question } = await at.scene.ask({ timeout: "1s" });
    await at.scene.pass(2_000);
    const { body } = await at.send("GET", "/api/v1/questions?status=expired", { token });
    expect(body.questions).toMatchObject([{ id: question.id, status: "timeout" }]);
    expect((await at.send("GET", "/api/v1/runs?status=open,waiting_input,closed", { token })).status).toBe(200);
    expect((await at.send("GET", "/api/v1/runs?status=asleep", { token })).status).toBe(400);
    expect((await at.send("GET", "/api/v1/questions?limit=201", { token })).status).toBe(400);
  });

  test("show an agent its own run and nothing else", async () => {
    const mine = await at.scene.startedRun();
    const others = await at.scene.startedRun({ session: "s2" });
    const token = await at.token({ scope: "agent", subject: "claude", runId: mine.id });
    for (const run of [mine, others]) await at.scene.engine.ask(at.scene.input(), AGENT_OF, { runId: run.id });
    const { body } = await at.send("GET", "/api/v1/questions", { token });
    expect(body.questions.map(({ run_id }) => run_id)).toEqual([mine.id]);
    expect((await at.send("GET", "/api/v1/runs", { token })).body.runs).toMatchObject([{ id: mine.id }]);
    const events = (await at.send("GET", "/api/v1/events", { token })).body.events;
    expect(new Set(events.map(({ run_id }) => run_id))).toEqual(new Set([mine.id]));
    expect((await at.send("GET", `/api/v1/questions?run=${others.id}`, { token })).status).toBe(404);
  });
});

const AGENT_OF = { scope: "agent", id: "claude", channel: "mcp", strength: "none" } as const;

describe("limits", () => {
  test("hold for requests of one token, and say when to come back", async () => {
    const rules = { limits: { ...DEFAULT_LIMITS, requestsPerMinute: 3 } };
    const few = await ServedScene.start({}, new Scene({ rules }));
    const token = await few.token();
    const other = await few.token({ subject: "lena" });
    const statuses = [];
    for (let index = 0; index < 4; index += 1) {
      const { status, headers } = await few.send("GET", "/api/v1/now", { token });
      statuses.push(status);
      if (status === 429) expect(Number(headers.get("retry-after"))).toBeGreaterThan(0);
    }
    expect(statuses).toEqual([200, 200, 200, 429]);
    expect((await few.send("GET", "/api/v1/now", { token: other })).status).toBe(200);
    await few.stop();
  });

  test("hold for how deep JSON is nested and how long it is", async () => {
    const token = await at.token();
    const deep = `{"question":"x?","details":${"[".repeat(100_000)}${"]".repeat(100_000)}}`;
    expect((await at.send("POST", "/api/v1/questions", { token, body: deep })).body.code).toBe("too_large");
    const long = { question: "x?", context: "x".repeat(1024 * 1024) };
    expect((await at.send("POST", "/api/v1/questions", { token, body: long })).status).toBe(413);
    expect((await at.send("POST", "/api/v1/questions", { token, body: "{" })).status).toBe(400);
  });
});

test("everybody may look up the names of people, and only an admin their addresses", async () => {
  const admin = await at.token({ scope: "admin" });
  const lena = { name: "Lena", email: "lena@example.org", groups: ["ops"] };
  await at.send("PUT", "/api/v1/people/lena", { token: admin, body: lena });
  const listed = async (token: string) => (await at.send("GET", "/api/v1/people", { token })).body.people;
  expect(await listed(admin)).toEqual([expect.objectContaining({ id: "lena", email: "lena@example.org" })]);
  const nothing = {
    email: null,
    slack: null,
    github: null,
    chat: null,
    quiet: null,
    digest: null,
    interruptions_per_hour: null,
    bounced: null,
    ntfy: null,
    language: null,
  };
  expect(await listed(await at.token())).toEqual([
    { id: "lena", name: "Lena", groups: ["ops"], channels: [], muted: [], away: null, ...nothing },
  ]);
  const agent = await at.token({ scope: "agent" });
  expect((await at.send("GET", "/api/v1/people", { token: agent })).status).toBe(403);
});
