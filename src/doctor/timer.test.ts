import { expect, test } from "vitest";
import { timerKey } from "../core/question/question-timer.ts";
import { HOUR_MS } from "../core/instant.ts";
import { ADA } from "../../test/builders.ts";
import { Scene, said } from "../../test/scene.ts";
import { checkTimers } from "./timer.ts";

test("a pending question without its timer is found and mended, and the deadline is met", async () => {
  const scene = new Scene();
  const { question } = await scene.ask({ timeout: "1h" });
  const { question: closed } = await scene.ask({ timeout: "1h", question: "Which log?" });
  const timer = (await scene.store.listJobs(100)).find(({ key }) => key === timerKey(closed));
  await scene.engine.answer(closed.id, said("1"), ADA);
  const mend: Parameters<typeof checkTimers>[2] = async ({ scheduled, dropped }) => {
    await scene.store.commit({ scheduled: [...scheduled], dropped: [...dropped] });
  };
  expect(await checkTimers(scene.store, scene.rules, mend)).toEqual([]);
  const { attempt: _attempt, leaseUntil: _leaseUntil, ...left } = timer!;
  await scene.store.commit({ dropped: [timerKey(question)], scheduled: [left] });
  const found = await checkTimers(scene.store, scene.rules, mend);
  expect(found.map(({ code, level }) => `${code} ${level}`)).toEqual([
    "timer_missing problem",
    "timer_orphaned warning",
  ]);
  for (const { repair } of found) await repair?.();
  expect(await checkTimers(scene.store, scene.rules, mend)).toEqual([]);
  expect((await scene.engine.verify()).problems).toEqual([]);
  await scene.pass(2 * HOUR_MS);
  expect(await scene.engine.countQuestions("timeout")).toBe(1);
});
