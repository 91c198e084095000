import { SYSTEM } from "../core/actor.ts";
import type { At, Changes, Read, Seal } from "../core/changes.ts";
import { watch } from "../core/hold.ts";
import { HOUR_MS, later } from "../core/instant.ts";
import type { ClaimedJob, Job, JobKind } from "../core/job.ts";
import { Refusal } from "../core/refusal.ts";
import { readSeal, seal } from "../core/seal.ts";
import { settle } from "../core/settle.ts";
import { expire, remind } from "../core/timeout.ts";
import type { Store } from "../store/store.ts";
import { callback } from "./callback-job.ts";
import type { Decider } from "./decide.ts";
import type { PostOptions } from "./outbound.ts";
import { type Handler, type Work, finishing } from "./worker.ts";

const SEAL_EVERY_MS = HOUR_MS;
const SEALED_AT_ONCE = 5_000;
const SEALS_READ_AT_ONCE = 500;

/** How each kind of job is done. */
export function jobHandlers(options: { post: PostOptions }): Partial<Record<JobKind, Handler>> {
  return {
    expire: decision(expire),
    remind: decision(remind),
    settle: decision(settle),
    watch: decision(watch),
    callback: callback(options.post),
    seal: sealTrail,
  };
}

/** Has the trail sealed from now on, if nobody has arranged for it yet. */
export async function scheduleSeals(store: Store, decider: Decider): Promise<void> {
  const arranged = await store.nextJobAt({ kinds: ["seal"], host: "", agents: [] });
  if (arranged !== undefined) return;
  const job: Job = { key: "seal", kind: "seal", dueAt: later(await store.now(), SEAL_EVERY_MS), tries: 0 };
  await decider.commit({ scheduled: [job] });
}

/** A job whose whole effect is one decision: its changes and its end are one commit. */
function decision(decide: (read: Read, at: At) => Changes): Handler {
  return async (job, { decider }) => {
    if (job.questionId === undefined) throw new Error(`job ${job.key} names no question`);
    try {
      await decider.changeQuestion(job.questionId, SYSTEM, (read, at) => finishing(job, decide(read, at)));
    } catch (error) {
      if (!(error instanceof Refusal) || error.code !== "not_found") throw error;
      await decider.commit({ finished: [job] });
    }
  };
}

async function sealTrail(job: ClaimedJob, { store, decider, now }: Work): Promise<void> {
  const last = await lastSeal(store);
  const events = await store.readFeed(last ? readSeal(last).cursor : "", SEALED_AT_ONCE);
  const isAll = events.length < SEALED_AT_ONCE;
  await decider.commit({
    ...(events.length > 0 && { seals: [seal(last, events, now)] }),
    postponed: [{ job, dueAt: later(now, isAll ? SEAL_EVERY_MS : 0), tries: 0 }],
  });
}

async function lastSeal(store: Store): Promise<Seal | undefined> {
  let last: Seal | undefined;
  for (;;) {
    const page = await store.listSeals(last?.n ?? 0, SEALS_READ_AT_ONCE);
    if (page.length === 0) return last;
    last = page.at(-1);
  }
}
