import { expect, test } from "vitest";
import { AGENT, IDS } from "../../../test/builders.ts";
import { Scene } from "../../../test/scene.ts";
import { Decider } from "../../engine/decide.ts";
import { saveSession } from "./starter.ts";

test("a session stays with the run that has it; another run goes on without", async () => {
  const scene = new Scene();
  const { store, rules } = scene;
  const work = { store, decider: new Decider({ store, rules, ids: IDS, now: () => scene.now }) };
  const first = await scene.engine.createRun({ agent: "claude", host: "here", giveBack: "worker" }, AGENT);
  const second = await scene.engine.createRun({ agent: "claude", host: "here", giveBack: "worker" }, AGENT);
  expect(await saveSession(first.id, "s-1", 0, work)).toBe(true);
  expect(await saveSession(first.id, "s-1", 0, work)).toBe(true);
  expect(await saveSession(second.id, "s-1", 0, work)).toBe(false);
  expect(await store.findRun(first.id)).toMatchObject({ session: "s-1" });
  expect((await store.findRun(second.id))?.session).toBeUndefined();
  await expect(saveSession(first.id, "s-2", 7, work)).rejects.toMatchObject({ code: "stale_epoch" });
});
