import { SYSTEM } from "../../core/people/actor.ts";
import type { DecisionContext, Changes, QuestionSnapshot } from "../../core/changes.ts";
import { jumpedMs, deadlineDelayMs } from "../../core/run/clock-jump.ts";
import { watchHold } from "../../core/question/hold.ts";
import { later } from "../../core/instant.ts";
import { type ClaimedJob, type JobKind, jobKey } from "../../core/run/job.ts";
import { isPending } from "../../core/question/question.ts";
import { Refusal } from "../../core/refusal.ts";
import { settle } from "../../core/question/settle.ts";
import { expire, remind } from "../../core/question/timeout.ts";
import { changeToken, parseToken, tokenStatus } from "../../core/people/token.ts";
import { callback } from "./callback-job.ts";
import type { AddressOptions } from "../outbound/public-address.ts";
import type { ClockKnown } from "./clock-watch.ts";
import { type FindAnchorTargets, sealJob } from "./seal-job.ts";
import { type Handler, type JobContext, finishing } from "./worker.ts";

/** How each kind of job is done. */
export function jobHandlers(options: {
  post: AddressOptions;
  anchors?: FindAnchorTargets | undefined;
}): Partial<Record<JobKind, Handler>> {
  return {
    expire: decision(expire),
    remind: decision(remind),
    settle: decision(settle),
    watch: decision(watchHold),
    callback: callback(options.post),
    seal: sealJob(options.anchors),
    expire_token: expireToken,
  };
}

/** A job whose whole effect is one decision: its changes and its end are one commit. */
function decision(decide: (read: QuestionSnapshot, at: DecisionContext) => Changes): Handler {
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

/** A job that only a clock jump made due waits until the clock can be trusted. */
function putOffBy(
  { question }: QuestionSnapshot,
  { row, sight }: ClockKnown,
  { rules }: DecisionContext,
): number | undefined {
  return isPending(question) ? deadlineDelayMs(question, row, sight, rules) : undefined;
}

/** A deadline that came sooner than the time that was given says so, and by how much. */
function flagJumps(changes: Changes, { question }: QuestionSnapshot, clock: ClockKnown | undefined): Changes {
  const aheadMs = clock && isPending(question) ? jumpedMs(question, clock.row) : 0;
  if (aheadMs === 0) return changes;
  const events = changes.events?.map((event) =>
    event.questionId === question.id ? { ...event, detail: { ...event.detail, clock_ahead_ms: aheadMs } } : event,
  );
  return { ...changes, ...(events && { events }) };
}

/** Ends a token at its time; one that was renewed is looked at again then. */
async function expireToken(job: ClaimedJob, { store, decider, now }: JobContext): Promise<void> {
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
