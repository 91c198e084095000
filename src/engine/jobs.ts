import { SYSTEM } from "../core/actor.ts";
import type { At, Changes, Read, Seal } from "../core/changes.ts";
import { jumpedMs, putOffMs } from "../core/clock-jump.ts";
import { watch } from "../core/hold.ts";
import { HOUR_MS, later } from "../core/instant.ts";
import { type ClaimedJob, type Job, type JobKind, jobKey } from "../core/job.ts";
import { isPending } from "../core/question.ts";
import { Refusal } from "../core/refusal.ts";
import { readSeal, seal } from "../core/seal.ts";
import { settle } from "../core/settle.ts";
import { expire, remind } from "../core/timeout.ts";
import { changeToken, parseToken, tokenStatus } from "../core/token.ts";
import type { Store } from "../store/store.ts";
import { callback } from "./callback-job.ts";
import type { Decider } from "./decide.ts";
import type { PostOptions } from "./outbound.ts";
import type { ClockKnown } from "./clock-watch.ts";
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
    expire_token: expireToken,
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
  return async (job, { decider, clock }) => {
    if (job.questionId === undefined) throw new Error(`job ${job.key} names no question`);
    try {
      await decider.changeQuestion(job.questionId, SYSTEM, (read, at) => {
        const delayMs = clock && putOffBy(read, clock, at);
        if (delayMs !== undefined)
          return { postponed: [{ job, dueAt: later(clock?.sight.now ?? at.now, delayMs), tries: 0 }] };
        return finishing(job, flagJumps(decide(read, at), read, clock));
      });
    } catch (error) {
      if (!(error instanceof Refusal) || error.code !== "not_found") throw error;
      await decider.commit({ finished: [job] });
    }
  };
}

/** What only a jump of the clock made due waits until the clock can be believed. */
function putOffBy({ question }: Read, { row, sight }: ClockKnown, { rules }: At): number | undefined {
  return isPending(question) ? putOffMs(question, row, sight, rules) : undefined;
}

/** A deadline that came sooner than the time that was given says so, and by how much. */
function flagJumps(changes: Changes, { question }: Read, clock: ClockKnown | undefined): Changes {
  const aheadMs = clock && isPending(question) ? jumpedMs(question, clock.row) : 0;
  if (aheadMs === 0) return changes;
  const events = changes.events?.map((event) =>
    event.questionId === question.id ? { ...event, detail: { ...event.detail, clock_ahead_ms: aheadMs } } : event,
  );
  return { ...changes, ...(events && { events }) };
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

/** Ends a token at its time; one that was renewed is looked at again then. */
async function expireToken(job: ClaimedJob, { store, decider, now }: Work): Promise<void> {
  await decider.retry(async () => {
    const entry = await store.findEntry("token", job.key.slice(jobKey("expire_token", "").length));
    const token = entry && parseToken(entry);
    const dueAt = token && tokenStatus(token) === "usable" ? token.expiresAt : undefined;
    const ended = token && changeToken("expired", token, { ...token, expiredAt: now }, { now, by: SYSTEM });
    const changes = dueAt === undefined || !ended ? {} : ended;
    const isEarly = dueAt !== undefined && dueAt > now;
    const committed = await decider.commit(
      isEarly ? { postponed: [{ job, dueAt, tries: 0 }] } : finishing(job, changes),
    );
    return committed.ok || undefined;
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
