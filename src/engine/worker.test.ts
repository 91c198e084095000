import { expect, test } from "vitest";
import { IDS, NOON, aJob, aQuestion } from "../../test/builders.ts";
import { clockKey } from "../core/clock.ts";
import { later } from "../core/instant.ts";
import type { ClaimedJob } from "../core/job.ts";
import { DEFAULT_RULES } from "../core/rules.ts";
import { MemoryStore } from "../store/memory.ts";
import { Decider } from "./decide.ts";
import { Worker } from "./worker.ts";

test("what time does to the questions of one run is done in its order, other runs do not wait for it", async () => {
  const store = new MemoryStore(() => later(NOON, 60_000));
  const decider = new Decider({ store, ids: IDS, rules: DEFAULT_RULES, now: () => NOON });
  const runId = IDS.run();
  const [first, second, other] = [aQuestion({ runId }), aQuestion({ runId }), aQuestion()];
  const due = [first, second, other].map((question, index) =>
    aJob("expire", question, { key: clockKey(question), dueAt: later(NOON, index) }),
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
  expect(begun).toEqual([first, other, second].map(clockKey));
});
