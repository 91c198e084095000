import { describe, expect, test } from "vitest";
import { later } from "../../src/core/instant.ts";
import type { ClaimedJob, Job, JobKind } from "../../src/core/run/job.ts";
import { IDS, aJob } from "../builders.ts";
import type { ClaimFilter, Store } from "../../src/store/store.ts";
import { eachWithStore, keep, type Open, type Opened } from "./opened.ts";

export function jobSuite(open: Open): void {
  describe("a job", () => {
    const at = eachWithStore(open);
    handingOut(at);
    failing(at);
    filtering(at);
  });
}

/** A job that is due now, or that many milliseconds from now. */
export async function dueJob(store: Store, kind: JobKind, over: Partial<Job> & { inMs?: number } = {}): Promise<Job> {
  const { inMs = 0, ...more } = over;
  const dueAt = later(await store.now(), inMs);
  return aJob(kind, { id: IDS.question(), runId: IDS.run() }, { dueAt, ...more });
}

/** Claims due jobs as a worker of this host. */
export async function claim(store: Store, over: Partial<ClaimFilter> = {}): Promise<ClaimedJob[]> {
  const filter: ClaimFilter = {
    worker: IDS.worker(),
    kinds: ["expire", "remind", "resume", "watch", "seal"],
    host: "here",
    agents: ["claude"],
    leaseMs: 60_000,
    limit: 100,
    ...over,
  };
  return (await store.claimJobs(filter)).jobs;
}

function handingOut(at: Opened): void {
  test("is handed out once it is due, the longest due first, as it was scheduled", async () => {
    const fromLater: object = { hue: "blue" }; // a field that only a newer program knows
    const late = await dueJob(at.store, "expire", { inMs: -2000, ...fromLater });
    const [due, future] = [
      await dueJob(at.store, "remind", { inMs: -1000 }),
      await dueJob(at.store, "expire", { inMs: 60_000 }),
    ];
    await keep(at.store, { scheduled: [due, future, late] });
    const jobs = await claim(at.store);
    expect(jobs).toEqual([
      { ...late, attempt: expect.any(Number) },
      { ...due, attempt: expect.any(Number) },
    ]);
    expect(await claim(at.store)).toEqual([]);
  });

  test("comes with the store's time", async () => {
    await keep(at.store, { scheduled: [await dueJob(at.store, "seal")] });
    const before = await at.store.now();
    const filter = { worker: IDS.worker(), kinds: ["seal"], host: "here", agents: [], leaseMs: 9, limit: 1 } as const;
    const { now, jobs } = await at.store.claimJobs(filter);
    expect(jobs).toHaveLength(1);
    expect(now >= before && now <= (await at.store.now())).toBe(true);
  });

  test("goes to one of many that want it", async () => {
    const jobs = await Promise.all(Array.from({ length: 60 }, () => dueJob(at.store, "remind")));
    await keep(at.store, { scheduled: jobs });
    const other = await at.another();
    const claims = await Promise.all(
      Array.from({ length: 20 }, (_, index) => claim(index % 2 ? other : at.store, { limit: 5 })),
    );
    expect(claims.every((claimed) => claimed.length <= 5)).toBe(true);
    const rest = await claim(at.store);
    const keys = [...claims.flat(), ...rest].map((job) => job.key);
    expect(keys.toSorted()).toEqual(jobs.map((job) => job.key).toSorted());
  });

  test("is gone when it is finished or dropped", async () => {
    const [one, two] = [await dueJob(at.store, "watch"), await dueJob(at.store, "expire", { inMs: 60_000 })];
    await keep(at.store, { scheduled: [one, two] });
    await keep(at.store, { finished: await claim(at.store), dropped: [two.key, "expire:nobody"] });
    expect(await at.store.listJobs(10)).toEqual([]);
  });

  test("is listed with its attempt and lease", async () => {
    const [one, two] = [await dueJob(at.store, "watch"), await dueJob(at.store, "expire", { inMs: 120_000 })];
    await keep(at.store, { scheduled: [two, one] });
    const [claimed] = await claim(at.store, { leaseMs: 60_000 });
    const listed = await at.store.listJobs(10);
    expect(listed.map((job) => [job.key, job.leaseUntil !== undefined])).toEqual([
      [one.key, true],
      [two.key, false],
    ]);
    expect(listed[0]?.attempt).toBe(claimed?.attempt);
    expect(await at.store.listJobs(1)).toHaveLength(1);
  });
}

function failing(at: Opened): void {
  test("that failed is listed with what went wrong, until it is done or goes on as before", async () => {
    const [one, other] = [await dueJob(at.store, "watch"), await dueJob(at.store, "resume")];
    await keep(at.store, { scheduled: [one, other] });
    expect(await at.store.listFailingJobs(10)).toEqual([]);
    const now = await at.store.now();
    const failure = { why: 'the disk is full: "failure":{', at: now };
    const postponed = (await claim(at.store)).map((job) => ({ job, dueAt: now, tries: 1, failure }));
    await keep(at.store, { postponed });
    expect(await at.store.listFailingJobs(10)).toMatchObject(
      [
        { key: one.key, tries: 1, failure },
        { key: other.key, tries: 1, failure },
      ].toSorted((left, right) => (left.key < right.key ? -1 : 1)),
    );
    expect(await at.store.listFailingJobs(1)).toHaveLength(1);
    const again = await claim(at.store);
    await keep(at.store, { postponed: again.map((job) => ({ job, dueAt: now, tries: job.kind === "watch" ? 0 : 1 })) });
    expect(await at.store.listFailingJobs(10)).toMatchObject([{ key: other.key, tries: 1, failure }]);
    await keep(at.store, { finished: await claim(at.store) });
    expect(await at.store.listFailingJobs(10)).toEqual([]);
  });
}

function filtering(at: Opened): void {
  test("goes only to a worker of its kind, host and agent", async () => {
    const anywhere = await dueJob(at.store, "remind");
    const here = await dueJob(at.store, "resume", { host: "here", agent: "claude" });
    const there = await dueJob(at.store, "resume", { host: "there", agent: "claude" });
    const codex = await dueJob(at.store, "resume", { host: "here", agent: "codex" });
    await keep(at.store, { scheduled: [anywhere, here, there, codex] });
    const keysOf = (jobs: ClaimedJob[]): string[] => jobs.map((job) => job.key).toSorted();
    expect(await claim(at.store, { kinds: ["seal"] })).toEqual([]);
    expect(keysOf(await claim(at.store, { agents: [], kinds: ["resume", "seal"] }))).toEqual([]);
    expect(keysOf(await claim(at.store))).toEqual([anywhere.key, here.key].toSorted());
    expect(keysOf(await claim(at.store, { host: "there" }))).toEqual([there.key]);
    expect(keysOf(await claim(at.store, { agents: ["claude", "codex"] }))).toEqual([codex.key]);
  });

  test("says when it can be had", async () => {
    const filter = { kinds: ["remind", "resume"], host: "here", agents: ["claude"] } as const;
    expect(await at.store.nextJobAt(filter)).toBeUndefined();
    const [soon, later_] = [await dueJob(at.store, "remind"), await dueJob(at.store, "resume", { inMs: 500_000 })];
    const elsewhere = await dueJob(at.store, "resume", { inMs: -1000, host: "there" });
    await keep(at.store, { scheduled: [later_, soon, elsewhere] });
    expect(await at.store.nextJobAt(filter)).toBe(soon.dueAt);
    await claim(at.store, { leaseMs: 100_000 });
    const leased = (await at.store.listJobs(10)).find((job) => job.key === soon.key);
    expect(await at.store.nextJobAt(filter)).toBe(leased?.leaseUntil);
    expect(await at.store.nextJobAt({ ...filter, kinds: ["resume"] })).toBe(later_.dueAt);
    expect(await at.store.nextJobAt({ ...filter, kinds: ["seal"] })).toBeUndefined();
  });
}
