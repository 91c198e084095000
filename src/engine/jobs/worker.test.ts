import { expect, test } from "vitest";
import { IDS, NOON, aJob, aQuestion } from "../../../test/builders.ts";
import { timerKey } from "../../core/question/question-timer.ts";
import { HOUR_MS, later, msBetween } from "../../core/instant.ts";
import type { ClaimedJob, JobKind } from "../../core/run/job.ts";
import { Refusal } from "../../core/refusal.ts";
import { DEFAULT_RULES } from "../../core/rules.ts";
import { overriding } from "../../../test/proof/overriding.ts";
import { MemoryStore } from "../../../test/memory-store/memory.ts";
import { Decider } from "../decide.ts";
import { isFailureNews } from "./job-retry.ts";
import { Worker } from "./worker.ts";

test("what time does to the questions of one run is done in its order, other runs do not wait for it", async () => {
  const store = new MemoryStore(() => later(NOON, 60_000));
  const decider = new Decider({ store, ids: IDS, rules: DEFAULT_RULES, now: () => NOON });
  const runId = IDS.run();
  const [first, second, other] = [aQuestion({ runId }), aQuestion({ runId }), aQuestion()];
  const due = [first, second, other].map((question, index) =>
    aJob("expire", question, { key: timerKey(question), dueAt: later(NOON, index) }),
  );
  await decider.commit({ scheduled: due });
  const begun: string[] = [];
  let free = (): void => {};
  const isFree = new Promise<void>((resolve) => (free = resolve));
  const expire = async (job: ClaimedJob): Promise<void> => {
    begun.push(job.key);
    if (job.questionId === first.id) await isFree;
    await decider.commit({ finished: [job] });
    if (job.questionId === other.id) free();
  };
  const worker = new Worker({
    store,
    decider,
    id: () => IDS.worker(),
    host: "here",
    agents: [],
    handlers: { expire },
    syncClock: () => {},
    onFailure: (job, error) => expect.fail(`${job.key}: ${String(error)}`),
  });
  expect(await worker.doDue()).toBe(3);
  expect(begun).toEqual([first, other, second].map(timerKey));
});

/** A worker whose jobs all fail, and what becomes of a job of that kind that has failed so often. */
async function failOnce(kind: JobKind, tries: number) {
  const store = new MemoryStore(() => NOON);
  const decider = new Decider({ store, ids: IDS, rules: DEFAULT_RULES, now: () => NOON });
  await decider.commit({ scheduled: [aJob(kind, aQuestion(), { dueAt: NOON, tries })] });
  const failures: unknown[] = [];
  const worker = new Worker({
    store,
    decider,
    id: () => IDS.worker(),
    host: "here",
    agents: [],
    syncClock: () => {},
    handlers: { [kind]: () => Promise.reject(new Error("disk full, token=askd_h_0123456789abcdefghijklmn")) },
    onFailure: (job, error) => failures.push([job.kind, error]),
  });
  expect(await worker.doDue()).toBe(1);
  const [job] = await store.listFailingJobs(10);
  return { job, delayMs: msBetween(NOON, job?.dueAt ?? NOON), failures };
}

test.each(["resume", "carry", "stop", "watch", "settle", "remind", "expire"] as const)(
  "a %s that fails is tried again within five seconds, however often it failed, and keeps why",
  async (kind) => {
    for (const tries of [0, 1, 5, 1000]) {
      const { job, delayMs, failures } = await failOnce(kind, tries);
      expect(job).toMatchObject({ tries: tries + 1, failure: { why: "disk full, token=[redacted]", at: NOON } });
      expect(delayMs).toBeGreaterThanOrEqual(1000);
      expect(delayMs).toBeLessThanOrEqual(5000);
      expect(failures).toHaveLength(1);
    }
  },
);

test("what brings nobody on is tried ever more rarely", async () => {
  expect((await failOnce("seal", 5)).delayMs).toBeGreaterThanOrEqual(HOUR_MS);
});

test("a failure is news the first times and when its reason changes", () => {
  const failure = { why: "busy", at: NOON };
  const isNews = (tries: number, why: string) => isFailureNews({ tries, failure }, new Error(why));
  const told = Array.from({ length: 1000 }, (_, tries) => isNews(tries, "busy")).filter(Boolean);
  expect(told).toHaveLength(10);
  expect(isNews(998, "disk full")).toBe(true);
});

test("a worker whose store is away waits for it, tells so, and goes on", async () => {
  const store = new MemoryStore(() => NOON);
  const decider = new Decider({ store, ids: IDS, rules: DEFAULT_RULES, now: () => NOON });
  await decider.commit({ scheduled: [aJob("seal", aQuestion(), { dueAt: NOON })] });
  const calls: string[] = [];
  let isAway = true;
  const failing = (name: string): void => {
    calls.push(name);
    if (isAway) throw new Refusal("store_unreachable", "No PostgreSQL can be reached at db:5432.");
  };
  let finish = (): void => {};
  const isDone = new Promise<void>((resolve) => (finish = resolve));
  const worker = new Worker({
    decider,
    id: () => IDS.worker(),
    host: "here",
    agents: [],
    syncClock: () => {},
    onFailure: () => {},
    store: overriding(store, {
      claimJobs: async (filter) => {
        failing("claim");
        return store.claimJobs(filter);
      },
    }),
    handlers: { seal: async (job) => (await decider.commit({ finished: [job] }), finish()) },
    prepare: async () => failing("prepare"),
    begin: async () => failing("begin"),
    onOutage: (error, times) => {
      calls.push(`${String(error)} ${times}`);
      isAway = calls.length < 4;
      // A change, such as a connection that is there again, is looked at before the pause is over.
      void decider.commit({ scheduled: [aJob("expire", aQuestion(), { dueAt: NOON })] });
    },
  });
  const working = worker.work();
  await isDone;
  await worker.stop();
  await working;
  const refused = "Refusal: No PostgreSQL can be reached at db:5432.";
  expect(calls.slice(0, 7)).toEqual(["begin", `${refused} 1`, "begin", `${refused} 2`, "begin", "prepare", "claim"]);
});

test("a worker that is too old for its store ends", async () => {
  const store = overriding(new MemoryStore(() => NOON), {
    claimJobs: () => Promise.reject(new Refusal("newer_schema", "The store was changed by a newer askd")),
  });
  const decider = new Decider({ store, ids: IDS, rules: DEFAULT_RULES, now: () => NOON });
  const worker = new Worker({
    store,
    decider,
    id: () => IDS.worker(),
    host: "here",
    agents: [],
    handlers: {},
    syncClock: () => {},
    onFailure: () => {},
  });
  await expect(worker.work()).rejects.toMatchObject({ code: "newer_schema" });
});
