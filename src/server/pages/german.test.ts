import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { SYSTEM } from "../../core/people/actor.ts";
import type { QuestionId } from "../../core/id.ts";
import { HOUR_MS, later } from "../../core/instant.ts";
import { linkPath } from "../../core/question/link.ts";
import type { TrailMismatch } from "../../core/trail/trail-mismatch.ts";
import type { AtHand } from "../../web/card/card-view.ts";
import { deRefusal } from "../../core/text/de-refusal.ts";
import { flawWords } from "../../web/words/refusal-words.ts";
import { ADA, AGENT } from "../../../test/builders.ts";
import { findEnglish, foreign } from "../../../test/english.ts";
import { PageVisit } from "../../../test/page-visit.ts";
import { said } from "../../../test/scene.ts";

const LENA = { scope: "human", id: "lena", channel: "slack", strength: "person" } as const;
const WEB = { ...ADA, channel: "web" };
const HERE: AtHand = {
  work: async () => ({
    stat: " a.ts | 1 +\n 1 file changed, 1 insertion(+)\n",
    diff: `+x\n${"+x\n".repeat(40_000)}`,
    untracked: ["b.ts"],
  }),
  takeover: async () => "cd /work && claude --resume abc",
  log: async () => ({
    entries: [
      { kind: "start", text: "2" },
      { kind: "result", text: `${foreign("It is there")}\n${foreign("and more")}` },
    ],
    next: "1.10.0",
    isCut: true,
  }),
};
const CHANNELS = [{ name: "slack", settings: [["channel", "#agents"]] as const }];
const SHORT = { timeout: "1h" };

let human: PageVisit;
let admin: PageVisit;
let empty: PageVisit;
/** Addresses by what is to be seen there, for somebody who is signed in. */
const PATHS: Record<string, string> = {};
const LINKS: Record<string, string> = {};

beforeAll(async () => {
  empty = await PageVisit.start();
  human = await PageVisit.start({ atHand: HERE, channels: CHANNELS });
  admin = await PageVisit.start({}, { scope: "admin" });
  await settle(admin);
  await fill(human);
}, 60_000);
afterAll(() => Promise.all([empty.stop(), human.stop(), admin.stop()]));

const engineOf = (visit: PageVisit) => visit.at.scene.engine;

async function settle(visit: PageVisit): Promise<void> {
  await engineOf(visit).putPerson({ id: "lena", version: 0, name: foreign("Lena L"), groups: ["api"] }, SYSTEM);
  await engineOf(visit).issueToken({ scope: "agent", subject: "ci" }, SYSTEM);
}

async function ask(visit: PageVisit, raw: Record<string, unknown> = {}): Promise<QuestionId> {
  const options = [
    { label: foreign("Redis"), description: foreign("It is fast."), recommended: true },
    foreign("None"),
  ];
  const all = { question: foreign("Redis or Memcached?"), options, context: foreign("It is needed."), ...raw };
  return (await visit.at.scene.ask(all, { via: "mcp" })).question.id;
}

/** Everything that a question can become, and every state of a run. */
async function fill(visit: PageVisit): Promise<void> {
  const engine = engineOf(visit);
  const { scene } = visit.at;
  for (const doing of ["fail", "skip", "default", "proceed", "defer"]) {
    PATHS[`timed out: ${doing}`] = `/q/${await ask(visit, { ...SHORT, on_timeout: doing, default_answer: "1" })}`;
  }
  const forced = await ask(visit, { ...SHORT, on_timeout: "fail" });
  await scene.pass(2 * HOUR_MS);
  await engine.answer(forced, said("1", { force: true }), LENA);
  PATHS["forced"] = `/q/${forced}`;
  await closeSome(visit);
  await runSome(visit);
  await waitSome(visit);
}

async function closeSome(visit: PageVisit): Promise<void> {
  const engine = engineOf(visit);
  const answered = await ask(visit);
  LINKS["answered"] = linkPath((await engine.issueLink(answered, "lena", SYSTEM)).text);
  await engine.comment(answered, foreign("We have that."), LENA);
  await engine.answer(answered, said("1", { note: foreign("It is best.") }), LENA);
  await engine.amend(answered, foreign("Not that one."), LENA);
  PATHS["answered"] = `/q/${answered}`;
  for (const outcome of ["decide", "clarify"] as const) {
    const id = await ask(visit);
    await engine.answer(id, said(foreign("Which of them?"), { outcome }), LENA);
    PATHS[outcome] = `/q/${id}`;
  }
  const [mine, theirs, none] = [await ask(visit), await ask(visit), await ask(visit)];
  LINKS["cancelled"] = linkPath((await engine.issueLink(theirs, "lena", SYSTEM)).text);
  await engine.cancel(mine, { reason: "stopped on the web" }, LENA);
  await engine.cancel(theirs, { reason: foreign("it is over") }, AGENT);
  await engine.cancel(none, {}, LENA);
  Object.assign(PATHS, { stopped: `/q/${mine}`, withdrawn: `/q/${theirs}`, "no reason": `/q/${none}` });
}

async function runSome(visit: PageVisit): Promise<void> {
  const engine = engineOf(visit);
  const { scene } = visit.at;
  const parent = await scene.startedRun({ name: "parent", repo: "acme/api", branch: "main", labels: ["a"], dir: "/w" });
  PATHS["run working"] = `/r/${parent.id}`;
  for (const reason of [
    "agent_error",
    "agent_killed",
    "tools_lost",
    "worker_lost",
    "start_failed",
    "error_max_turns",
  ]) {
    const run = await scene.startedRun({ name: reason.replaceAll("_", "-"), parentId: parent.id });
    await engine.endRun(run.id, { status: "failed", reason, summary: foreign("It was so.") }, SYSTEM);
    PATHS[`run failed: ${reason}`] = `/r/${run.id}`;
  }
  const stored = await scene.startedRun({ name: "stored" });
  const asked = await engine.ask(scene.input({ question: foreign("Is it?") }), AGENT, { runId: stored.id });
  await engine.endRun(stored.id, { status: "completed" }, SYSTEM);
  PATHS["run waiting"] = `/r/${stored.id}`;
  const kept = await scene.startedRun({ name: "kept" });
  const second = await engine.ask(scene.input({ question: foreign("Is it now?") }), AGENT, { runId: kept.id });
  await engine.endRun(kept.id, { status: "completed" }, SYSTEM);
  await engine.answer(second.question.id, said("1", { resume: false }), LENA);
  PATHS["run answered, not resumed"] = `/r/${kept.id}`;
  const session = { agent: "gemini", giveBack: "poll", host: "§h§", session: "mcp:0c87" } as const;
  const third = await engine.ask(scene.input({ question: foreign("Is it then?") }), AGENT, { run: session });
  await engine.answer(third.question.id, said("1"), LENA);
  PATHS["run answered, waiting for a person"] = `/r/${third.run.id}`;
  PATHS["answer that waits for a person"] = `/q/${third.question.id}`;
  PATHS["work of a run"] = `/r/${stored.id}/work`;
  PATHS["work"] = `/q/${asked.question.id}/work`;
}

async function waitSome(visit: PageVisit): Promise<void> {
  const engine = engineOf(visit);
  const claimed = await ask(visit);
  await engine.claim(claimed, LENA);
  const snoozed = await ask(visit, { on_timeout: "wait" });
  await engine.snooze(snoozed, later(visit.at.scene.now, HOUR_MS), WEB);
  const [mine, theirs] = [await ask(visit), await ask(visit)];
  await engine.answer(mine, said("1", { undoMs: HOUR_MS }), WEB);
  await engine.answer(theirs, said("1", { undoMs: HOUR_MS }), LENA);
  const voted = await ask(visit, { risk: "high", approvals: { need: 2, from: ["ada", "lena"] } });
  await engine.answer(voted, said("1", { confirmed: true }), LENA);
  const invited = await ask(visit, { approvals: { need: 2, from: ["ada", "lena"] } });
  LINKS["vote"] = linkPath((await engine.issueLink(invited, "lena", SYSTEM)).text);
  await engine.answer(invited, said("1"), { ...LENA, channel: "link", strength: "bearer" });
  const schema = { type: "object", properties: { on: { type: "boolean" }, n: { type: "number" } }, required: ["n"] };
  const items = [{ text: foreign("Which size?"), header: foreign("Size"), options: [foreign("S"), foreign("L")] }];
  const several = [...items, { text: foreign("How is it set?"), schema }];
  const easy = await ask(visit, {
    risk: "low",
    timeout: "1h",
    on_timeout: { do: "escalate", steps: [{ after: "1h", to: ["lena"] }] },
    confidence: 0.6,
  });
  await engine.putTemplate({ name: "tried", choose: ["1"], text: foreign("It is so."), match: { repo: "*" } }, LENA);
  Object.assign(PATHS, {
    claimed: `/q/${claimed}`,
    snoozed: `/q/${snoozed}`,
    "own answer settles": `/q/${mine}`,
    "their answer settles": `/q/${theirs}`,
    voted: `/q/${voted}`,
    "easy to change": `/q/${easy}`,
    several: `/q/${await ask(visit, { question: undefined, options: undefined, items: several })}`,
    "no access": `/q/${await ask(visit, { approvals: { need: 1, from: ["lena"] } })}`,
    words: `/q/${await ask(visit, { options: undefined, risk: "low" })}`,
    inbox: "/",
    all: "/?from=1",
    found: `/?find=${encodeURIComponent("§")}`,
    nothing: "/?find=zzz",
    runs: "/runs",
    "failed runs": "/runs?state=failed",
    "no runs": "/runs?state=ended&after=r_00000000000000000000000000",
    activity: "/activity",
    "nothing happened": "/activity?person=nobody",
    templates: "/templates",
    trial: `/templates?try=tried&on=${claimed}`,
    edited: "/templates?edit=tried",
    settings: "/settings",
    policies: "/settings/policies",
    people: "/settings/people",
    tokens: "/settings/tokens",
    channels: "/channels",
    batch: "/batch",
    insights: "/insights?for=24h",
    months: "/insights?for=90d",
    missing: "/q/q_00000000000000000000000000",
    nowhere: "/nowhere",
    "more events": "/activity?before=99999",
  });
  LINKS["open"] = linkPath((await engine.issueLink(claimed, "lena", SYSTEM)).text);
  LINKS["settling"] = linkPath((await engine.issueLink(mine, "lena", SYSTEM)).text);
  LINKS["bad"] = "/a/askd_l_000000000000000000000000000";
}

/** The English texts on a page for a reader of German. */
async function englishAt(visit: PageVisit, path: string, headers: Record<string, string> = {}): Promise<string[]> {
  const [de, en] = [
    await visit.open(path, { "accept-language": "de", ...headers }),
    await visit.open(path, { "accept-language": "en", ...headers }),
  ];
  const isGerman = de.html.includes('<html lang="de"');
  return [...(isGerman ? [] : [`${path} is no page in German`]), ...findEnglish(de.html, en.html)];
}

test("English would be found on any of them", async () => {
  for (const path of Object.values(PATHS)) {
    const { html } = await human.open(path);
    expect(findEnglish(html, html)).not.toEqual([]);
  }
  const mixed = "<p>Das ging nicht: the agent is away</p>";
  expect(findEnglish(mixed, "")).toEqual(["Das ging nicht: the agent is away"]);
});

describe("no English is on a page in German", () => {
  test("of questions, runs and everything beside them, in every state", async () => {
    const found: Record<string, string[]> = {};
    for (const [name, path] of [...Object.entries(PATHS), ...Object.entries(LINKS)]) {
      const texts = await englishAt(human, path);
      if (texts.length > 0) found[name] = texts;
    }
    expect(found).toEqual({});
    expect(Object.keys(PATHS).length + Object.keys(LINKS).length).toBeGreaterThan(50);
  }, 60_000);

  test("where there is nothing yet", async () => {
    for (const path of [
      "/",
      "/runs",
      "/activity",
      "/templates",
      "/settings/people",
      "/channels",
      "/insights",
      "/batch",
    ])
      expect(await englishAt(empty, path)).toEqual([]);
  });

  test("for an admin, and for somebody who is not signed in", async () => {
    for (const path of ["/settings/people", "/settings/tokens", "/nowhere"])
      expect(await englishAt(admin, path)).toEqual([]);
    const [de, en] = [await logIn("de"), await logIn("en")];
    expect(findEnglish(de, en)).toEqual([]);
    expect(findEnglish(await logIn("de", "code=wrong"), await logIn("en", "code=wrong"))).toEqual([]);
  });

  test("after a form", async () => {
    const id = await ask(human, { question: foreign("Which one now?") });
    const forms: ReadonlyArray<readonly [string, Record<string, string>]> = [
      ["/batch/check", {}],
      ["/batch/check", { q: id, said: "1", note: foreign("It is so.") }],
      ["/activity/verify", {}],
      ["/settings", { theme: "auto", language: "", keys: "on", "key.m": "1" }],
      [`/q/${id}/answer`, { do: "answer" }],
      [`/q/${id}/preview`, { do: "answer" }],
      [`/q/${id}/preview`, { do: "answer", "i.0": "0" }],
      [`/q/${await ask(human, { risk: "high" })}/answer`, { do: "answer", "i.0": "0" }],
      ["/templates", { name: "Not a name!", text: "" }],
      ["/settings/tokens", { scope: "agent", subject: "" }],
      ["/settings/tokens", { scope: "agent", subject: "ci", expires: "30d" }],
    ];
    for (const [path, fields] of forms) expect(await englishAfter(human, path, fields)).toEqual([]);
    const person = { id: "not a name", email: "x".repeat(400), groups: "" };
    expect(await englishAfter(admin, "/settings/people", person)).toEqual([]);
    expect(await englishAfter(admin, "/settings/people", { id: "lena", groups: "" })).toEqual([]);
  });

  test("where something went wrong that nobody expected", async () => {
    const broken = Object.assign(Object.create(engineOf(empty)) as typeof human.at.scene.engine, {
      listRuns: () => Promise.reject(new TypeError("x is not a function")),
    });
    const visit = await PageVisit.start({ engine: broken }, {}, empty.at.scene);
    const got = await visit.open("/runs", { "accept-language": "de" });
    expect([got.status, got.html.includes("interner Fehler")]).toEqual([500, true]);
    expect(findEnglish(got.html, (await visit.open("/runs")).html)).toEqual([]);
    await visit.at.served.close();
  });

  test("of what is wrong with a trail", () => {
    const flaws: readonly TrailMismatch[] = [
      { is: "line_missing", run: 1, line: 2 },
      { is: "line_changed", run: 1, line: 2 },
      { is: "line_unknown", id: "r_1", line: 2 },
      { is: "trail_cut", run: 1, line: 2, last: 3 },
      { is: "store_trail", line: 2 },
      { is: "run_differs", run: 1, status: "running", told: "completed" },
      { is: "untold", question: "q-abc" },
      { is: "question_differs", question: "q-abc", status: "pending", version: 1, told: "answered", toldVersion: 2 },
      { is: "row_changed", row: "q_1" },
      { is: "row_missing", row: "q_1" },
      { is: "row_unknown", row: "q_1" },
      { is: "rows_unknown", rows: "q_1", count: 2 },
      { is: "column_differs", row: "q_1", column: "key" },
      { is: "job_moved", job: "clock:q_1", due: "2026-01-01", told: "2026-01-02" },
      { is: "number_changed", seal: 1, id: "r_1", number: 2, told: 3 },
      { is: "seal_changed", seal: 1 },
      { is: "lines_changed", seal: 1 },
      { is: "seals_cut", seal: 1, last: 2 },
      { is: "anchor_differs", seal: 1 },
      { is: "schema_differs", what: "q_1", how: "added" },
      { is: "damaged", what: "Tree 4 page 9" },
      { is: "rewritten", seal: 1, id: "r_1", line: 2 },
      { is: "more", count: 2 },
    ];
    expect(flaws.map(({ is }) => is)).toEqual(Object.keys(deRefusal.flaws));
    for (const flaw of flaws) {
      const [de, en] = (["de", "en"] as const).map((language) => `<p>${flawWords({ language }, flaw)}</p>`);
      expect(findEnglish(de ?? "", en ?? "")).toEqual([]);
    }
  });
});

async function englishAfter(visit: PageVisit, path: string, fields: Record<string, string>): Promise<string[]> {
  const [de, en] = [
    await visit.post(path, fields, { "accept-language": "de" }),
    await visit.post(path, fields, { "accept-language": "en" }),
  ];
  const isGerman = de.html.includes('<html lang="de"');
  return [...(isGerman ? [] : [`${path} is no page in German`]), ...findEnglish(de.html, en.html)];
}

async function logIn(language: string, body?: string): Promise<string> {
  const headers = { accept: "text/html", "accept-language": language, origin: human.at.url };
  const form = { "content-type": "application/x-www-form-urlencoded" };
  const got = await human.at.send(body === undefined ? "GET" : "POST", "/login", {
    ...(body !== undefined && { body }),
    headers: { ...headers, ...(body !== undefined && form) },
  });
  return String(got.body["text"]);
}
