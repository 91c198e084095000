import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { ADA, AGENT } from "../../../test/builders.ts";
import { Scene, said } from "../../../test/scene.ts";
import { MirrorWatch } from "./mirror-watch.ts";

function watched() {
  const scene = new Scene();
  const dir = mkdtempSync(join(tmpdir(), "askd-mirror-"));
  onTestFinished(() => rmSync(dir, { recursive: true }));
  const notes: string[] = [];
  const watch = new MirrorWatch({ store: scene.store, host: "here", note: (_run, text) => notes.push(text) });
  return { scene, dir, watch, notes };
}

test("a question that somebody else asked is in the mirror, and gone from it when it is answered", async () => {
  const { scene, dir, watch, notes } = watched();
  const run = await scene.startedRun({ dir });
  const { question } = await scene.engine.ask(scene.input({ hold: "1m" }), AGENT, { runId: run.id });
  await watch.stop();
  const file = join(dir, ".askd/runs/1/state.json");
  expect(JSON.parse(readFileSync(file, "utf8"))).toMatchObject({
    status: "running",
    pending_question: { question: "Redis or Memcached?" },
  });
  const again = new MirrorWatch({ store: scene.store, host: "here", note: (_run, text) => notes.push(text) });
  await scene.engine.answer(question.id, said("1"), ADA);
  await again.stop();
  expect(JSON.parse(readFileSync(file, "utf8"))).toMatchObject({ pending_question: null });
  expect(notes).toEqual([]);
});

test("runs of other hosts, and those that nobody resumes, are left alone", async () => {
  const { scene, dir, watch } = watched();
  const there = await scene.startedRun({ dir, host: "there" });
  const polled = await scene.startedRun({ dir, giveBack: "poll" });
  for (const { id } of [there, polled]) await scene.engine.ask(scene.input({ hold: "1m" }), AGENT, { runId: id });
  await watch.stop();
  expect(existsSync(join(dir, ".askd"))).toBe(false);
});
