import { expect, test } from "vitest";
import { timerKey } from "../core/question/question-timer.ts";
import { WorkerId } from "../core/id.ts";
import { HOUR_MS } from "../core/instant.ts";
import { ADA } from "../../test/builders.ts";
import { ROOMY, Scene, said } from "../../test/scene.ts";
import { Board } from "../../test/channels/board-channel.ts";
import { WorkflowStage } from "../../test/workflow/stage.ts";
import { jobKey } from "../core/run/job.ts";
import type { Store } from "../store/store.ts";
import { checkTimers } from "./missing-job.ts";

const BOARD = [{ name: "board", person: undefined, isPersonal: false }];

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

const mendIn =
  (store: Store): Parameters<typeof checkTimers>[2] =>
  async ({ scheduled, dropped }) => {
    await store.commit({ scheduled: [...scheduled], dropped: [...dropped] });
  };

test("a message that was not sent and one that still offers buttons get their jobs back", async () => {
  const board = new Board();
  const scene = new Scene({ rules: { reach: BOARD }, openChannel: board.open });
  const { store, rules } = scene;
  const sent = await scene.ask({ question: "Which log?" });
  await scene.pass(0);
  await scene.engine.answer(sent.question.id, said("1"), ADA);
  await scene.ask({ question: "Which queue?" });
  expect(await checkTimers(store, rules, mendIn(store))).toEqual([]);
  const jobs = (await store.listJobs(100)).filter(({ kind }) => kind === "deliver");
  await store.commit({ dropped: jobs.map(({ key }) => key) });
  const [found] = await checkTimers(store, rules, mendIn(store));
  expect(found).toMatchObject({ code: "timer_missing", text: expect.stringContaining("2 jobs missing") as string });
  await found?.repair?.();
  await scene.pass(0);
  expect([...board.messages.values()].map(({ buttons }) => buttons.length)).toEqual([0, 2]);
  expect(await checkTimers(store, rules, mendIn(store))).toEqual([]);
  expect((await scene.engine.verify()).problems).toEqual([]);
});

test("a workflow whose trigger has lost its job starts again at its next time", async () => {
  const stage = new WorkflowStage();
  await stage.approveFile(`
name: nightly
triggers: [{ schedule: "0 * * * *" }]
steps: [{ id: say, tool: shell, input: { argv: [say] } }]
`);
  const { store } = stage;
  const look = () => checkTimers(store, ROOMY, mendIn(store));
  expect(await look()).toEqual([]);
  const jobs = (await store.listJobs(100)).filter(({ kind }) => kind === "trigger");
  await store.commit({ dropped: jobs.map(({ key }) => key) });
  const [found] = await look();
  expect(found).toMatchObject({ code: "timer_missing" });
  await found?.repair?.();
  expect(await look()).toEqual([]);
  expect((await stage.engine.verify()).problems).toEqual([]);
  await stage.pass(2 * HOUR_MS);
  expect((await stage.runs()).length).toBeGreaterThan(0);
});

test("a cancelled run whose agent may be alive gets back the job that stops it", async () => {
  const scene = new Scene();
  const { store, rules } = scene;
  const run = await scene.startedRun();
  const worker = WorkerId.parse("w_00000000000000000000000001");
  await store.commit({ runs: [{ ...run, worker }] });
  await scene.engine.cancelRun(run.id, ADA);
  const keys = [jobKey("stop", run.id), jobKey("carry", run.id)];
  await store.commit({ dropped: keys });
  const [found] = await checkTimers(store, rules, mendIn(store));
  expect(found).toMatchObject({ code: "timer_missing" });
  await found?.repair?.();
  expect((await store.listJobs(100)).map(({ key }) => key)).toEqual(expect.arrayContaining(keys));
});
