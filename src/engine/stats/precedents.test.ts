import { describe, expect, test } from "vitest";
import { HOUR_MS } from "../../core/instant.ts";
import { ADA, AGENT } from "../../../test/builders.ts";
import { Scene, said } from "../../../test/scene.ts";

const CACHE = { question: "Redis or Memcached for the caching layer?", options: ["Redis", "Memcached"] };

async function asked(scene: Scene, raw: Record<string, unknown>, repo = "acme/api") {
  const run = await scene.engine.createRun({ repo }, ADA);
  return (await scene.engine.ask(scene.input(raw), AGENT, { runId: run.id })).question.id;
}

async function answered(scene: Scene, raw: Record<string, unknown>, words = "1", repo?: string) {
  const id = await asked(scene, raw, repo);
  await scene.engine.answer(id, said(words), ADA);
  return id;
}

describe("past answers", () => {
  test("to the same question are found, with who and when", async () => {
    const scene = new Scene();
    const past = await answered(scene, CACHE);
    await scene.pass(HOUR_MS);
    const found = await scene.engine.findSimilar(await asked(scene, CACHE), 3);
    expect(found).toEqual([
      expect.objectContaining({ id: past, answer: "Redis", by: ADA, isSameRepo: true, score: 1, repo: "acme/api" }),
    ]);
  });

  test("to questions like it come with the same repository first", async () => {
    const scene = new Scene();
    const elsewhere = await answered(scene, CACHE, "2", "acme/web");
    const here = await answered(scene, {
      question: "Should the job queue run on Redis or Postgres?",
      options: ["Redis", "Postgres"],
    });
    await answered(scene, { question: "Which licence applies to the docs folder?", options: ["MIT", "CC-BY"] });
    const found = await scene.engine.findSimilar(await asked(scene, CACHE), 3);
    expect(found.map(({ id }) => id)).toEqual([here, elsewhere].filter((id) => found.some((each) => each.id === id)));
    expect(found.map(({ id }) => id)).toContain(elsewhere);
  });

  test("to unrelated questions are never shown, whatever small words they share", async () => {
    const scene = new Scene();
    const unrelated = [
      { question: "Should I use tabs or spaces for the indentation?", options: ["Tabs", "Spaces"] },
      { question: "May I delete the old branch?", options: ["Yes", "No"] },
      { question: "Welche Farbe soll der Knopf haben?", options: ["Rot", "Blau"] },
      { question: "Proceed?", options: ["Yes", "No"] },
      { question: "What is the name of the layer?", options: [] },
    ];
    for (const raw of unrelated) await answered(scene, raw, raw.options.length > 0 ? "1" : "core");
    expect(await scene.engine.findSimilar(await asked(scene, CACHE), 3)).toEqual([]);
  });

  test("in German are found over endings and accents", async () => {
    const scene = new Scene();
    const past = await answered(
      scene,
      { question: "Welchen Schlüssel sollen die Nutzer-Tabellen haben?", options: [] },
      "UUID",
    );
    const found = await scene.engine.findSimilar(
      await asked(scene, { question: "Welcher Schlussel fur die Tabelle der Nutzer?", options: [] }),
      3,
    );
    expect(found.map(({ id }) => id)).toEqual([past]);
  });

  test("are those of people only: a policy's, a decision left to the agent and one asked back are left out", async () => {
    const scene = new Scene();
    await asked(scene, { ...CACHE, timeout: "1h", on_timeout: "default", default_answer: "Redis" });
    await scene.pass(2 * HOUR_MS);
    const decided = await asked(scene, CACHE);
    await scene.engine.answer(decided, said("", { outcome: "decide" }), ADA);
    const back = await asked(scene, CACHE);
    await scene.engine.answer(back, said("Which load?", { outcome: "clarify" }), ADA);
    expect(await scene.engine.findSimilar(await asked(scene, CACHE), 3)).toEqual([]);
  });

  test("of an approval are not shown for a question", async () => {
    const scene = new Scene();
    const approval = await asked(scene, { ...CACHE, options: ["Approve", "Deny"], kind: "approval" });
    await scene.engine.answer(approval, said("1"), ADA);
    expect(await scene.engine.findSimilar(await asked(scene, CACHE), 3)).toEqual([]);
  });

  test("show no secret that the question had", async () => {
    const scene = new Scene();
    const secret = "hunter2-hunter2-hunter2";
    const raw = { question: `Redis or Memcached for caching, with ${secret}?`, options: ["Redis", "Memcached"] };
    const run = { repo: "acme/api" };
    const { question } = await scene.engine.ask(scene.input(raw), AGENT, { run, secrets: [secret] });
    await scene.engine.answer(question.id, said("1"), ADA);
    const found = await scene.engine.findSimilar(await asked(scene, CACHE), 3);
    expect(found).toHaveLength(1);
    expect(JSON.stringify(found)).not.toContain(secret);
  });

  test("are no more than wanted", async () => {
    const scene = new Scene();
    for (let n = 0; n < 5; n += 1) await answered(scene, CACHE);
    expect(await scene.engine.findSimilar(await asked(scene, CACHE), 2)).toHaveLength(2);
  });
});
