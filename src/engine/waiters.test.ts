import { expect, test } from "vitest";
import { ADA, AGENT } from "../../test/builders.ts";
import { MemoryStore } from "../../test/memory-store/memory.ts";
import { Scene, said } from "../../test/scene.ts";
import type { Changes } from "../core/changes.ts";
import type { QuestionId } from "../core/id.ts";
import { later } from "../core/instant.ts";
import type { CommitResult } from "../store/store.ts";

/** A store whose commits pass through more async functions than the engine knows of; it counts reads of questions. */
class RoundaboutStore extends MemoryStore {
  reads = 0;

  override async commit(changes: Changes): Promise<CommitResult> {
    const committed = await super.commit(changes);
    for (let turn = 0; turn < 5; turn += 1) await Promise.resolve();
    return committed;
  }

  override async findQuestion(id: QuestionId) {
    this.reads += 1;
    return super.findQuestion(id);
  }
}

test("whoever waits in the process that answers is woken without another read", async () => {
  let store: RoundaboutStore | undefined;
  const scene = new Scene({ store: (now) => (store = new RoundaboutStore(now)) });
  const run = await scene.startedRun();
  const { question } = await scene.engine.ask(scene.input({ hold: "3m" }), AGENT, { runId: run.id });
  const waiting = scene.engine.wait(question.id, { until: later(scene.now, 180_000) });
  await scene.engine.answer(question.id, said("1"), ADA);
  expect((await waiting).question.status).toBe("answered");
  expect(store?.reads).toBe(0);
});
