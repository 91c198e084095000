import { afterEach, beforeEach, expect, test } from "vitest";
import { ADA, AGENT } from "../../test/builders.ts";
import { beat } from "../../test/machines.ts";
import { HOUR_MS } from "../core/instant.ts";
import { said } from "../../test/scene.ts";
import { ServedScene } from "../../test/served.ts";
import { hear } from "../../test/sse.ts";

let at: ServedScene;
let token: string;
beforeEach(async () => {
  at = await ServedScene.start();
  token = await at.token();
});
afterEach(() => at.stop());

async function parked() {
  const run = await at.scene.startedRun({ session: "s-1", externalId: "T-7" });
  const { question } = await at.scene.engine.ask(at.scene.input({ timeout: "2h" }), AGENT, { runId: run.id });
  await at.scene.engine.endRun(run.id, { status: "completed" }, AGENT);
  await beat(at.scene.store, run.host);
  return { run, question };
}

test("a session waits, is answered, and resumes by itself", async () => {
  const { run, question } = await parked();
  const pending = {
    question_id: question.id,
    session_id: "s-1",
    status: "pending",
    created_at: "2026-01-01T12:00:00.000Z",
    expires_at: "2026-01-01T14:00:00.000Z",
    questions: [
      {
        question: "Redis or Memcached?",
        header: "",
        multiSelect: false,
        options: [
          { label: "Redis", description: "" },
          { label: "Memcached", description: "" },
        ],
      },
    ],
  };
  for (const name of [run.id, String(run.number), "T-7", "s-1"]) {
    expect((await at.send("GET", `/sessions/${name}`, { token })).body).toMatchObject({
      id: run.id,
      status: "waiting_for_input",
      pending_question: pending,
    });
  }
  expect((await at.send("GET", "/sessions/s-1/pending-question", { token })).body).toEqual(pending);
  expect(await at.send("POST", "/sessions/s-1/task", { token })).toMatchObject({ status: 409 });
  const body = { question_id: question.id, answer: "Redis" };
  const answered = await at.send("POST", "/sessions/s-1/answer", { token, body });
  expect(answered.body).toEqual({ success: true, message: "Answer stored; the session resumes", can_resume: true });
  expect((await at.send("GET", "/sessions/s-1/pending-question", { token })).body).toBeNull();
  expect((await at.send("POST", "/sessions/s-1/task", { token })).body).toMatchObject({ success: true });
  expect((await at.send("GET", "/sessions/s-1", { token })).body["status"]).toBe("resuming");
  expect((await at.send("POST", "/sessions/s-1/answer", { token, body })).status).toBe(409);
});

test("a question whose deadline passed is expired, in the words of sessions", async () => {
  const { question } = await parked();
  expect((await at.send("GET", "/sessions/s-1", { token })).body["last_question"]).toMatchObject({ status: "pending" });
  await at.scene.pass(3 * HOUR_MS);
  expect((await at.send("GET", "/sessions/s-1", { token })).body).toMatchObject({
    status: "failed",
    pending_question: null,
    last_question: {
      question_id: question.id,
      session_id: "s-1",
      status: "expired",
      answer: null,
      answered_at: null,
      created_at: "2026-01-01T12:00:00.000Z",
      expires_at: "2026-01-01T14:00:00.000Z",
    },
  });
});

test("a session whose machine is away is not said to resume before that is back", async () => {
  const { question } = await parked();
  await at.scene.pass(HOUR_MS);
  const body = { question_id: question.id, answer: "Redis" };
  const answered = await at.send("POST", "/sessions/s-1/answer", { token, body });
  expect(answered.body).toMatchObject({ message: "Answer stored; the session resumes when here is back" });
  const resumed = await at.send("POST", "/sessions/s-1/task", { token });
  expect(resumed.body).toMatchObject({ message: "The session is resuming, and waits for here" });
});

test("a question is answered only through its own session, and never by an agent", async () => {
  const { run, question } = await parked();
  await at.scene.startedRun({ session: "s-2" });
  const body = { question_id: question.id, answer: "Redis" };
  expect((await at.send("POST", "/sessions/s-2/answer", { token, body })).status).toBe(404);
  const agent = await at.token({ scope: "agent", subject: "claude", runId: run.id });
  expect((await at.send("GET", "/sessions/s-1", { token: agent })).status).toBe(200);
  expect((await at.send("GET", "/sessions/s-2", { token: agent })).status).toBe(404);
  expect((await at.send("POST", "/sessions/s-1/answer", { token: agent, body })).status).toBe(403);
  const path = `/api/v1/questions/${question.id}/answer`;
  expect((await at.send("POST", path, { token: agent, body: { answer: "Redis" } })).status).toBe(403);
  const tried = (await at.scene.engine.readChain(run.id)).slice(-2).map(({ event }) => event);
  const refused = { type: "question.refused", by: { scope: "agent", id: "claude" }, detail: { tried: "answer" } };
  expect(tried).toMatchObject([refused, refused]);
  expect((await at.send("GET", "/sessions/nobody", { token })).status).toBe(404);
});

test("the stream of a session speaks of its questions in its own words", async () => {
  const { question } = await parked();
  await at.scene.engine.answer(question.id, said("1"), ADA);
  const { heard } = await hear(`${at.url}/sessions/s-1/events`, {
    token,
    after: "0",
    enough: (found) => found.length >= 2,
  });
  expect(heard.map(({ event, data }) => ({ event, data }))).toEqual([
    {
      event: "question_pending",
      data: {
        type: "question_pending",
        data: { question_id: question.id, questions: [expect.objectContaining({ question: "Redis or Memcached?" })] },
      },
    },
    {
      event: "question_answered",
      data: { type: "question_answered", data: { question_id: question.id, answer: "Redis" } },
    },
  ]);
});

test("a body that is not UTF-8 is refused, and nothing is answered", async () => {
  const { question } = await parked();
  const body = Buffer.from(`{"question_id":"${question.id}","answer":"F\u00fcr sp\u00e4ter"}`, "latin1");
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  const reply = await fetch(`${at.url}/sessions/s-1/answer`, { method: "POST", headers, body });
  expect(reply.status).toBe(400);
  expect(await reply.json()).toMatchObject({ detail: expect.stringContaining("The request is not UTF-8 text") });
  expect((await at.scene.engine.read(question.id)).question.status).toBe("pending");
});
