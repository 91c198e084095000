import { afterEach, beforeEach, expect, test } from "vitest";
import { ADA, AGENT } from "../../test/builders.ts";
import { said } from "../../test/scene.ts";
import { ServedScene } from "../../test/served.ts";
import { later } from "../core/instant.ts";
import { RemoteEngine } from "./remote.ts";

let at: ServedScene;
beforeEach(async () => {
  at = await ServedScene.start();
});
afterEach(() => at.stop());

let keys = 0;
function engineWith(token: string, over: { url?: string; fetch?: typeof fetch } = {}): RemoteEngine {
  return new RemoteEngine({ url: at.url, tokenFor: () => token, newKey: () => `key-${(keys += 1)}`, ...over });
}

test("waiting survives restarts of the server", async () => {
  const engine = engineWith(await at.token({ scope: "admin" }));
  const { question } = await engine.ask(at.scene.input({ hold: "3m" }), AGENT);
  const waiting = engine.wait(question.id, { until: later(at.scene.now, 180_000) });
  await at.restart();
  await at.restart();
  await at.scene.engine.answer(question.id, said("1"), ADA);
  expect((await waiting).question.status).toBe("answered");
});

test("what the server refuses is refused here in the same words", async () => {
  const engine = engineWith(await at.token());
  const { question } = await at.scene.ask();
  await at.scene.engine.answer(question.id, said("1"), ADA);
  const there = await at.scene.engine.answer(question.id, said("2"), ADA).catch((error: unknown) => error);
  const here = await engine.answer(question.id, said("2"), ADA).catch((error: unknown) => error);
  expect(here).toMatchObject({ code: "not_pending", exitCode: 6 });
  expect(String(here)).toBe(String(there));
});

test("nobody there and no valid token are told apart", async () => {
  const token = await at.token();
  const gone = await ServedScene.start();
  await gone.stop();
  const nowhere = engineWith(token, { url: gone.url });
  await expect(nowhere.now()).rejects.toMatchObject({ code: "store_unreachable", exitCode: 3 });
  await expect(engineWith("askd_h_000000000000000000000").now()).rejects.toMatchObject({
    code: "sign_in",
    exitCode: 4,
  });
  expect(await engineWith(token).authenticate("askd_h_000000000000000000000", "cli")).toBeUndefined();
});

test("an ask whose reply was lost is sent again and is one question", async () => {
  let lost = 2;
  const engine = engineWith(await at.token({ scope: "admin" }), {
    fetch: async (url, init) => {
      const response = await fetch(url, init);
      await response.clone().text();
      if ((lost -= 1) >= 0) throw new TypeError("connection reset");
      return response;
    },
  });
  const done = await engine.ask(at.scene.input(), AGENT);
  expect(done.isNew).toBe(false);
  expect(await at.scene.engine.countQuestions("pending")).toBe(1);
});

test("an answer whose reply was lost is not sent again", async () => {
  let sent = 0;
  const engine = engineWith(await at.token(), {
    fetch: async (url, init) => {
      sent += 1;
      await fetch(url, init);
      throw new TypeError("connection reset");
    },
  });
  const { question } = await at.scene.ask();
  await expect(engine.answer(question.id, said("1"), ADA)).rejects.toMatchObject({ code: "store_unreachable" });
  expect(sent).toBe(1);
});

test("a program that acts as an agent answers nothing, whatever its token", async () => {
  const engine = engineWith(await at.token({ scope: "admin" }));
  const { question } = await at.scene.ask();
  await expect(engine.answer(question.id, said("1"), AGENT)).rejects.toMatchObject({ code: "not_permitted" });
  await expect(engine.issueToken({ scope: "human", subject: "ada" }, AGENT)).rejects.toMatchObject({
    code: "not_permitted",
  });
});
