import { describe, expect, test } from "vitest";
import { later } from "../../src/core/instant.ts";
import { IDS, aRun } from "../builders.ts";
import { claim, dueJob } from "./job.suite.ts";
import { eachWithStore, keep, type Open, type Opened } from "./opened.ts";

const LOST = { ok: false, why: "job_lost" };

export function leaseSuite(open: Open): void {
  describe("a claimed job", () => {
    const at = eachWithStore(open);
    fencing(at);
    scheduling(at);
    bornClaimed(at);
  });
}

function fencing(at: Opened): void {
  test("is free when its lease ends, and then only the later claim may finish it", async () => {
    await keep(at.store, { scheduled: [await dueJob(at.store, "resume")] });
    const first = await claim(at.store, { leaseMs: 1000 });
    expect(await claim(at.store)).toEqual([]);
    await at.pass(1010);
    const second = await claim(at.store);
    expect(second.map((job) => job.key)).toEqual(first.map((job) => job.key));
    expect(second[0]!.attempt).toBeGreaterThan(first[0]!.attempt);
    const run = aRun();
    expect(await at.store.commit({ runs: [run], finished: first })).toEqual(LOST);
    expect(await at.store.findRun(run.id)).toBeUndefined();
    await keep(at.store, { runs: [run], finished: second });
    expect(await at.store.commit({ finished: second })).toEqual(LOST);
  });

  test("is never finished by an attempt from before it was dropped and scheduled anew", async () => {
    const job = await dueJob(at.store, "resume");
    await keep(at.store, { scheduled: [job] });
    const old = await claim(at.store);
    await keep(at.store, { dropped: [job.key] });
    expect(await at.store.commit({ finished: old })).toEqual(LOST);
    await keep(at.store, { scheduled: [job] });
    expect(await at.store.commit({ finished: old })).toEqual(LOST);
    const now = await claim(at.store);
    expect(await at.store.commit({ finished: old })).toEqual(LOST);
    await keep(at.store, { finished: now });
  });

  test("can be put off, and is then nobody's", async () => {
    const job = await dueJob(at.store, "watch");
    await keep(at.store, { scheduled: [job] });
    const [claimed] = await claim(at.store);
    const dueAt = later(await at.store.now(), 1000);
    await keep(at.store, { postponed: [{ job: claimed!, dueAt, tries: 3 }] });
    expect(await at.store.commit({ postponed: [{ job: claimed!, dueAt, tries: 4 }] })).toEqual(LOST);
    expect(await claim(at.store)).toEqual([]);
    await at.pass(1010);
    expect(await claim(at.store)).toEqual([{ ...job, dueAt, tries: 3, attempt: expect.any(Number) }]);
  });
}

function scheduling(at: Opened): void {
  test("that is scheduled again is free again, and what was in flight cannot swallow it", async () => {
    const job = await dueJob(at.store, "resume");
    await keep(at.store, { scheduled: [job] });
    const inFlight = await claim(at.store);
    const moved = { ...job, dueAt: later(job.dueAt, -5000), agent: "claude" };
    const { attempts } = await keep(at.store, { scheduled: [moved] });
    expect(await at.store.commit({ finished: inFlight })).toEqual(LOST);
    const again = await claim(at.store);
    expect(again).toEqual([{ ...moved, attempt: expect.any(Number) }]);
    expect(again[0]!.attempt).toBeGreaterThan(attempts.get(job.key)!);
  });

  test("can be finished and scheduled anew in one commit, as can one that is dropped", async () => {
    const [one, two] = [await dueJob(at.store, "watch"), await dueJob(at.store, "remind")];
    await keep(at.store, { scheduled: [one, two] });
    const claimed = await claim(at.store);
    const next = { ...one, dueAt: later(one.dueAt, -1) };
    await keep(at.store, {
      finished: claimed.filter((job) => job.key === one.key),
      dropped: [two.key],
      scheduled: [next, two],
    });
    expect((await claim(at.store)).map((job) => job.key)).toEqual([one.key, two.key]);
  });
}

function bornClaimed(at: Opened): void {
  test("by the commit that schedules it is not handed out, and its attempt is known", async () => {
    const job = await dueJob(at.store, "watch", { claim: { worker: IDS.worker(), leaseMs: 60_000 } });
    const { attempts } = await keep(at.store, { scheduled: [job] });
    expect(await claim(at.store)).toEqual([]);
    await keep(at.store, { finished: [{ ...job, attempt: attempts.get(job.key)! }] });
    expect(await at.store.listJobs(1)).toEqual([]);
  });

  test("by a commit that moves a claimed one takes it over", async () => {
    const job = await dueJob(at.store, "watch");
    await keep(at.store, { scheduled: [job] });
    const old = await claim(at.store);
    const born = { ...job, claim: { worker: IDS.worker(), leaseMs: 60_000 } };
    const { attempts } = await keep(at.store, { scheduled: [born] });
    expect(await claim(at.store)).toEqual([]);
    expect(await at.store.commit({ finished: old })).toEqual(LOST);
    await keep(at.store, { finished: [{ ...born, attempt: attempts.get(job.key)! }] });
  });

  test("is handed out when that lease ends, without its old claim", async () => {
    const job = await dueJob(at.store, "watch");
    await keep(at.store, { scheduled: [{ ...job, claim: { worker: IDS.worker(), leaseMs: 40 } }] });
    await at.pass(60);
    expect(await claim(at.store)).toEqual([{ ...job, attempt: expect.any(Number) }]);
  });
}
