import type { Socket } from "node:net";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { PageVisit } from "../../test/page-visit.ts";
import type { Got } from "../../test/served.ts";
import { ADA, AGENT } from "../../test/builders.ts";
import { said } from "../../test/scene.ts";
import { SYSTEM } from "../core/people/actor.ts";
import type { QuestionId, RunId, WorkerId } from "../core/id.ts";
import { linkPath } from "../core/question/link.ts";

let visit: PageVisit;
/** The runs above whoever is at the other end of every connection. */
let above: string[];
/** The runs in whose agent's session it is. */
let sessions: string[];
let runId: RunId;

beforeEach(async () => {
  above = [];
  sessions = [];
  visit = await PageVisit.start({ runsOfCaller: async () => above, sessionRunsOfCaller: async () => sessions });
  runId = (await visit.at.scene.startedRun()).id;
});
afterEach(() => visit.stop());

async function ask(raw: Record<string, unknown> = {}): Promise<QuestionId> {
  return (await visit.at.scene.ask(raw)).question.id;
}

async function read(id: QuestionId) {
  return (await visit.at.scene.engine.read(id)).question;
}

async function lastEvent(id: QuestionId) {
  const chain = await visit.at.scene.engine.readChain((await read(id)).runId);
  return chain.findLast(({ event }) => event.questionId === id)?.event;
}

/** Every door that takes an answer with a person's credential. */
const DOORS: Record<string, (id: QuestionId) => Promise<Got>> = {
  "an admin's token": async (id) =>
    visit.at.send("POST", `/api/v1/questions/${id}/answer`, {
      token: await visit.at.token({ scope: "admin" }),
      body: { answer: "1", confirmed: true },
    }),
  "a person's token": async (id) =>
    visit.at.send("POST", `/api/v1/questions/${id}/answer`, { token: await visit.at.token(), body: { answer: "1" } }),
  "a token that names others": async (id) =>
    visit.at.send("POST", `/api/v1/questions/${id}/answer`, {
      token: await visit.at.token({ onBehalf: true }),
      body: { answer: "1", answered_by: "lena" },
    }),
  "the routes of a session": async (id) =>
    visit.at.send("POST", `/sessions/${(await read(id)).runId}/answer`, {
      token: await visit.at.token(),
      body: { question_id: id, answer: "1" },
    }),
  "a cookie and the header of our script": async (id) =>
    visit.at.send("POST", `/api/v1/questions/${id}/answer`, {
      headers: { cookie: `askd_session=${await visit.at.token()}`, "x-askd": "1" },
      body: { answer: "1" },
    }),
  "a form of the inbox": (id) => visit.post(`/q/${id}/answer`, { do: "answer", "i.0": "0" }),
  "an answer link": async (id) =>
    visit.at.send("POST", linkPath((await visit.at.scene.engine.issueLink(id, "lena", SYSTEM)).text), {
      body: "do=answer&i.0=0",
      headers: {
        accept: "text/html",
        origin: visit.at.url,
        "content-type": "application/x-www-form-urlencoded",
      },
    }),
};

describe.each(Object.keys(DOORS))("with %s", (door) => {
  const come = (id: QuestionId) => DOORS[door]!(id);

  test("a process below a live run answers nothing, and that it tried is in the trail", async () => {
    above = [runId];
    for (const question of ["First?", "Second?"]) {
      const id = await ask({ question });
      expect((await come(id)).status).toBe(403);
      expect(await read(id)).toMatchObject({ status: "pending" });
      expect(await read(id)).not.toHaveProperty("settling");
      expect(await lastEvent(id)).toMatchObject({
        type: "question.refused",
        by: { scope: "agent", strength: "none", runId },
      });
    }
    expect((await visit.at.scene.engine.verify()).problems).toEqual([]);
  });

  test("so does one whose run was cancelled and whose agent lingers, until the agent is gone", async () => {
    above = [runId];
    const id = await ask();
    const run = (await visit.at.scene.engine.findRun(runId))!;
    await visit.at.scene.store.commit({ runs: [{ ...run, status: "cancelled", worker: "w_1" as WorkerId }] });
    expect((await come(id)).status).toBe(403);
    const { worker: _gone, ...left } = (await visit.at.scene.engine.findRun(runId))!;
    await visit.at.scene.store.commit({ runs: [left] });
    expect((await come(id)).status).toBeLessThan(400);
  });

  test("a process that an agent left behind answers nothing, also after the agent and its run have ended", async () => {
    sessions = ["nonsense", runId];
    const id = await ask();
    await visit.at.scene.engine.cancelRun(runId, SYSTEM);
    const { worker: _gone, ...ended } = (await visit.at.scene.engine.findRun(runId))!;
    await visit.at.scene.store.commit({ runs: [ended] });
    expect((await come(id)).status).toBe(403);
    expect(await read(id)).toMatchObject({ status: "pending" });
    expect(await lastEvent(id)).toMatchObject({ type: "question.refused", by: { scope: "agent", runId } });
  });

  test("a process below no run, or below one that this store does not know, is the person whose credential it has", async () => {
    above = ["r_00000000000000000000000000", "nonsense"];
    const id = await ask();
    expect((await come(id)).status).toBeLessThan(400);
    expect(await lastEvent(id)).toMatchObject({ by: { scope: expect.stringMatching(/human|admin/) } });
  });
});

test.each([
  ["POST", "/api/v1/tokens", { scope: "human", subject: "ada" }],
  ["POST", "/api/v1/tokens", { scope: "login", subject: "ada" }],
  ["PUT", "/api/v1/people/eve", { name: "Eve" }],
])("below a live run the admin's token does no %s %s with %j", async (method, path, body) => {
  above = [runId];
  const token = await visit.at.token({ scope: "admin" });
  const before = (await visit.at.scene.engine.listTokens(SYSTEM)).length;
  expect((await visit.at.send(method, path, { token, body })).status).toBe(403);
  expect(await visit.at.scene.engine.listTokens(SYSTEM)).toHaveLength(before);
  expect(await visit.at.scene.engine.listPeople()).toEqual([]);
});

test.each([
  ["start", {}],
  ["end", { status: "completed" }],
  ["cancel", {}],
])("below a live run the admin's token does not %s a run, its own or another", async (verb, body) => {
  const { engine } = visit.at.scene;
  const other = await visit.at.scene.startedRun();
  above = [runId];
  const token = await visit.at.token({ scope: "admin" });
  for (const id of [runId, other.id]) {
    const before = await engine.findRun(id);
    expect((await visit.at.send("POST", `/api/v1/runs/${id}/${verb}`, { token, body })).status).toBe(403);
    expect(await engine.findRun(id)).toEqual(before);
  }
});

test("below a live run a program asks and reads as before", async () => {
  above = [runId];
  const token = await visit.at.token();
  const asked = await visit.at.send("POST", "/api/v1/questions", { token, body: { question: "Which?" } });
  expect(asked.status).toBe(201);
  expect((await visit.at.send("GET", `/api/v1/questions/${asked.body.id}`, { token })).status).toBe(200);
});

test("below a live run the admin's token takes the outcome of its own question, and of no other", async () => {
  const { engine } = visit.at.scene;
  const other = await visit.at.scene.startedRun();
  const theirs = await engine.ask(visit.at.scene.input(), { ...AGENT, runId: other.id }, { runId: other.id });
  await engine.answer(theirs.question.id, said("1"), ADA);
  above = [runId];
  const token = await visit.at.token({ scope: "admin" });
  const asked = await visit.at.send("POST", "/api/v1/questions", { token, body: { question: "Which?" } });
  const own = asked.body["id"] as QuestionId;
  await engine.answer(own, said("this one"), ADA);
  const take = async (id: QuestionId) =>
    Promise.all(
      Object.entries({ hold: { window: "1s" }, "hand-over": {}, given: { witness: "read" } }).map(
        async ([verb, body]) =>
          (await visit.at.send("POST", `/api/v1/questions/${id}/${verb}`, { token, body })).status,
      ),
    );
  expect(await take(theirs.question.id)).toEqual([404, 404, 404]);
  expect(await read(theirs.question.id)).toMatchObject({ handover: { state: "owed" } });
  expect(await take(own)).not.toContain(404);
});

test("below a live run the admin's token has nothing done at once, and tells nobody that a person is there", async () => {
  above = [runId];
  const token = await visit.at.token({ scope: "admin" });
  for (const path of ["/due", "/presence"])
    expect((await visit.at.send("POST", `/api/v1${path}`, { token, body: {} })).status).toBe(403);
});

test("each connection is looked at once, and only where it writes with a person's credential", async () => {
  const looked: Socket[] = [];
  const counted = await PageVisit.start({ runsOfCaller: async (socket) => (looked.push(socket), []) });
  const token = await counted.at.token();
  const agent = await counted.at.token({ scope: "agent", subject: "claude" });
  await counted.at.send("GET", "/api/v1/questions", { token });
  const body = { question: "Which?" };
  const { body: asked } = await counted.at.send("POST", "/api/v1/questions", { token: agent, body });
  expect(looked).toHaveLength(0);
  for (const text of ["one", "two", "three"]) {
    await counted.at.send("POST", `/api/v1/questions/${asked.id}/comment`, { token, body: { text } });
  }
  expect(looked.length).toBeGreaterThan(0);
  expect(new Set(looked).size).toBe(looked.length);
  await counted.stop();
});
