import { describe, expect, test } from "vitest";
import { ADA, AGENT } from "../../test/builders.ts";
import { Scene, said } from "../../test/scene.ts";
import { engineOn } from "../app.ts";
import type { Actor } from "../core/people/actor.ts";
import type { QuestionId } from "../core/id.ts";
import { epochMs } from "../core/instant.ts";
import type { Engine } from "./engine.ts";

const LENA: Actor = { ...ADA, id: "lena" };

/** The events of a question after it was asked. */
async function eventsOf(scene: Scene, id: QuestionId): Promise<string[]> {
  const { run } = await scene.engine.read(id);
  const events = await scene.engine.readChain(run.id);
  return events
    .map(({ event }) => event.type)
    .filter((type) => type.startsWith("question.") && type !== "question.asked");
}

describe.each(["local", "remote"] as const)("a change that is sent again by a %s engine", (engines) => {
  const aScene = (): Scene => {
    Scene.engines = engines;
    const scene = new Scene();
    Scene.engines = "local";
    return scene;
  };

  test("counts once if it is an answer, and is said to be there", async () => {
    const scene = aScene();
    const { question } = await scene.ask();
    const first = await scene.engine.answer(question.id, said("1", { key: "k" }), ADA);
    const again = await scene.engine.answer(question.id, said("1", { key: "k" }), ADA);
    expect([first.isNew, again.isNew]).toEqual([true, false]);
    expect(again.question).toEqual(first.question);
    expect(await eventsOf(scene, question.id)).toEqual(["question.answered"]);
  });

  test("stays undone when it was undone", async () => {
    const scene = aScene();
    const { question } = await scene.ask();
    const input = said("1", { key: "k", undoMs: 5_000 });
    await scene.engine.answer(question.id, input, ADA);
    await scene.engine.answer(question.id, input, ADA);
    await scene.engine.undo(question.id, ADA);
    await scene.engine.answer(question.id, input, ADA);
    expect((await scene.engine.read(question.id)).question).toMatchObject({ status: "pending" });
    expect(await eventsOf(scene, question.id)).toEqual(["question.settling", "question.undone"]);
  });

  test.each<[string, (engine: Engine, id: QuestionId) => Promise<unknown>]>([
    ["commented", (engine, id) => engine.comment(id, "what we run already", ADA, { key: "k" })],
    ["extended", (engine, id) => engine.extend(id, 3_600_000, ADA, { key: "k" })],
    ["claimed", (engine, id) => engine.claim(id, ADA, { key: "k" })],
    ["cancelled", (engine, id) => engine.cancel(id, { reason: "moot", key: "k" }, ADA)],
  ])("counts once if it makes it %s", async (name, change) => {
    const scene = aScene();
    const { question } = await scene.ask();
    await change(scene.engine, question.id);
    await change(scene.engine, question.id);
    const events = await eventsOf(scene, question.id);
    expect(events.filter((type) => type === `question.${name}`)).toHaveLength(1);
    expect(events).not.toContain("question.refused");
  });

  test("is refused under a key that was used for something else, and is another person's own", async () => {
    const scene = aScene();
    const { question } = await scene.ask();
    await scene.engine.comment(question.id, "first", ADA, { key: "k" });
    const other = scene.engine.comment(question.id, "second", ADA, { key: "k" });
    await expect(other).rejects.toMatchObject({ code: "key_reused" });
    const { question: commented } = await scene.engine.comment(question.id, "first", LENA, { key: "k" });
    expect(commented.comments.map(({ by }) => by.id)).toEqual(["ada", "lena"]);
  });

  test("is refused again when it was refused", async () => {
    const scene = aScene();
    const { question } = await scene.ask({ options: ["Redis", "Memcached"], allow_text: false });
    const input = said("Postgres", { key: "k" });
    await expect(scene.engine.answer(question.id, input, ADA)).rejects.toMatchObject({ code: "no_such_option" });
    await expect(scene.engine.answer(question.id, input, ADA)).rejects.toMatchObject({ code: "no_such_option" });
    expect(await scene.engine.answer(question.id, said("1", { key: "k" }), ADA)).toMatchObject({ isNew: true });
  });
});

test("an answer that arrives twice at once, at two servers, counts once and is refused to neither", async () => {
  const scene = new Scene();
  const other = engineOn(scene.store, { rules: scene.rules, nowMs: () => epochMs(scene.now) });
  const { question } = await scene.ask();
  const input = said("1", { key: "k" });
  const all = await Promise.all(
    [scene.engine, other, scene.engine, other].map((engine) => engine.answer(question.id, input, ADA)),
  );
  expect(all.map(({ question: { status } }) => status)).toEqual(all.map(() => "answered"));
  expect(all.filter(({ isNew }) => isNew)).toHaveLength(1);
  expect(await eventsOf(scene, question.id)).toEqual(["question.answered"]);
});

test("without a key the second answer is late, as ever", async () => {
  const scene = new Scene();
  const { question } = await scene.ask({}, undefined, AGENT);
  await scene.engine.answer(question.id, said("1"), ADA);
  await expect(scene.engine.answer(question.id, said("1"), ADA)).rejects.toMatchObject({ code: "not_pending" });
});
