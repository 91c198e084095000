import { OUTAGE_MS } from "../../core/channel/outage.ts";
import { DAY_MS, later, msBetween } from "../../core/instant.ts";
import { ClockRow, CONFIRM_JUMP_MS, hasNoJump } from "../../core/run/clock-jump.ts";
import { machineName } from "../../core/run/machine.ts";
import type { FailingJob, JumpedClock, Troubles } from "../../core/run/failing-job.ts";
import { listOutages } from "../reach/outage.ts";
import type { KeptJob, Store } from "../../store/store.ts";

const MOST_FAILING = 20;

/** Reads the problems that keep questions and runs from continuing, as noted by the processes of this store. */
export async function findTroubles(store: Store): Promise<Troubles> {
  const damage = await store.findDamage("quick");
  const [jobs, clocks] = await Promise.all([store.listFailingJobs(MOST_FAILING), listJumpedClocks(store)]);
  const runs = await store.readRuns(jobs.flatMap(({ runId }) => runId ?? []));
  const byId = new Map(runs.map((run) => [run.id, run]));
  const failing = jobs.flatMap((job) => toFailing(job, job.runId && byId.get(job.runId)) ?? []);
  const outages = await listLastingOutages(store);
  return { failing, clocks, damage, outages, unreadable: store.listUnreadable() };
}

/** Channels that have failed for so long that people are told of it. */
async function listLastingOutages(store: Pick<Store, "listEntries" | "now">): Promise<Troubles["outages"]> {
  const outages = await listOutages(store);
  if (outages.length === 0) return [];
  const latest = later(await store.now(), -OUTAGE_MS);
  return outages.filter(({ since }) => since <= latest);
}

/** Clocks that jumped within a day. */
export async function listJumpedClocks(store: Pick<Store, "listEntries" | "now">): Promise<JumpedClock[]> {
  // Most clocks never jump, and then nothing of what it takes to read a jump is loaded.
  const entries = (await store.listEntries("clock")).filter(({ body }) => !hasNoJump(body));
  if (entries.length === 0) return [];
  const now = await store.now();
  return entries.flatMap(({ id: machine, body }) => {
    const { doubted, past } = ClockRow.safeParse(body).data ?? { past: [] };
    const jump = doubted ?? past.at(-1);
    if (!jump || (!doubted && Math.abs(msBetween(jump.to, now)) > DAY_MS)) return [];
    const until = doubted && { doubtedUntil: later(doubted.to, CONFIRM_JUMP_MS) };
    return [{ machine: machineName(machine), aheadMs: jump.aheadMs, at: jump.to, ...until }];
  });
}

function toFailing(
  { key, kind, tries, failure, dueAt, questionId }: KeptJob,
  run: FailingJob["run"],
): FailingJob | undefined {
  if (!failure) return undefined;
  return {
    key,
    kind,
    tries,
    why: failure.why,
    failedAt: failure.at,
    nextAt: dueAt,
    ...(run && { run: { id: run.id, number: run.number, name: run.name } }),
    questionId,
  };
}
