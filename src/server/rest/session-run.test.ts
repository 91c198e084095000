import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { ServedScene } from "../../../test/served.ts";
import { QuestionId } from "../../core/id.ts";
import { HOUR_MS, MINUTE_MS, later } from "../../core/instant.ts";

const RUN = { session: "nightly", agent: "script", host: "here" };

let at: ServedScene;
let ci: string;
let ada: string;
beforeEach(async () => {
  at = await ServedScene.start();
  ci = await at.token({ scope: "agent", subject: "ci" });
  ada = await at.token();
});
afterEach(() => at.stop());

/** Asks in the session, as a program does that names it with each question. */
async function ask(question: string, more: object = {}) {
  const { status, body } = await at.send("POST", "/api/v1/questions", {
    token: ci,
    body: { question, options: ["Redis", "Memcached"], run: RUN, ...more },
  });
  expect({ status, body }).toMatchObject({ status: 201 });
  return at.scene.engine.read(QuestionId.parse(body.id));
}

describe("a session over REST that askd did not start", () => {
  const ends: Record<string, (id: string) => Promise<unknown>> = {
    "a person cancelled": (id) =>
      at.send("POST", `/api/v1/questions/${id}/cancel`, { token: ada, body: { reason: "no" } }),
    "its asker withdrew": (id) =>
      at.send("POST", `/api/v1/questions/${id}/cancel`, { token: ci, body: { reason: "not needed" } }),
    "a deadline skipped": () => at.scene.pass(MINUTE_MS),
  };

  test.each(Object.entries(ends))("asks again after a question that %s, in the same run", async (_, end) => {
    const first = await ask("Which cache?", { timeout: "1m", on_timeout: "skip" });
    await end(first.question.id);
    expect((await at.scene.engine.read(first.question.id)).question.status).not.toBe("pending");
    const second = await ask("Which port?");
    expect(second).toMatchObject({ question: { status: "pending" }, run: { id: first.run.id, asked: 2 } });
    const path = `/api/v1/questions/${second.question.id}`;
    await at.send("POST", `${path}/answer`, { token: ada, body: { answer: "Redis" } });
    expect((await at.send("GET", path, { token: ci })).body).toMatchObject({ status: "answered", answer: "Redis" });
  });

  test.each([
    {
      says: "its own time and policy",
      more: { timeout: "8h", on_timeout: "skip" },
      timeMs: 8 * HOUR_MS,
      policy: "skip",
    },
    { says: "no time", more: {}, timeMs: 2 * MINUTE_MS, policy: "proceed" },
  ])(
    "follows up a question that a person asked back about, where it declares $says",
    async ({ more, timeMs, policy }) => {
      const first = await ask("Which cache?", { timeout: "2m", on_timeout: "proceed" });
      await at.scene.pass(2 * MINUTE_MS - 1_000);
      const path = `/api/v1/questions/${first.question.id}`;
      const body = { outcome: "clarify", note: "For how many users?" };
      expect((await at.send("POST", `${path}/answer`, { token: ada, body })).status).toBe(200);
      expect((await at.send("GET", path, { token: ci })).body).toMatchObject({ outcome: "clarify" });
      const second = await ask("Which cache for 1,000 users?", more);
      expect(second).toMatchObject({
        question: {
          status: "pending",
          thread: first.question.id,
          dueAt: later(at.scene.now, timeMs),
          onTimeout: { do: policy },
        },
        run: { id: first.run.id },
      });
    },
  );
});
