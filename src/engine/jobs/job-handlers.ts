import { SYSTEM } from "../../core/people/actor.ts";
import type { DecisionContext, Changes, QuestionSnapshot } from "../../core/changes.ts";
import { jumpedMs, deadlineDelayMs } from "../../core/run/clock-jump.ts";
import { watchHold } from "../../core/question/hold.ts";
import { HOUR_MS, MINUTE_MS, later } from "../../core/instant.ts";
import { type ClaimedJob, type JobKind, jobKey } from "../../core/run/job.ts";
import { isPending, owesOutcome } from "../../core/question/question.ts";
import { type Run, hasEnded } from "../../core/run/run.ts";
import { buildCallback } from "../../core/question/callback.ts";
import { questionEvent, runEvent } from "../../core/trail/event.ts";
import { give, voidHandover } from "../../core/run/handover.ts";
import type { PostResult } from "../outbound/post.ts";
import { sayWhy } from "./job-retry.ts";
import { Refusal } from "../../core/refusal.ts";
import { settle } from "../../core/question/settle.ts";
import { expire, remind } from "../../core/question/timeout.ts";
import { changeToken, parseToken, tokenStatus } from "../../core/people/token.ts";
import type { AddressOptions } from "../outbound/public-address.ts";
import type { ClockKnown } from "./clock-watch.ts";
import { type FindAnchorTargets, sealJob } from "./seal-job.ts";
import { type Handler, type JobContext, finishing } from "./worker.ts";

/** The schedule of Standard Webhooks: ten attempts over three days. */
const CALLBACK_RETRY_MS = [
  5_000,
  5 * MINUTE_MS,
  30 * MINUTE_MS,
  2 * HOUR_MS,
  5 * HOUR_MS,
  10 * HOUR_MS,
  14 * HOUR_MS,
  20 * HOUR_MS,
  24 * HOUR_MS,
];

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
function putOffBy({ question }: QuestionSnapshot, { row, sight }: ClockKnown, { rules }: DecisionContext) {
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
async function expireToken(job: ClaimedJob, { store, decider, now }: JobContext) {
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

/** Tells a program by a signed request what became of its question; a 2xx reply means that it has it. */
function callback(options: AddressOptions): Handler {
  return async (job, work) => {
    if (job.questionId === undefined) throw new Error(`job ${job.key} names no question`);
    const read = await work.decider.rows.read(job.questionId);
    const { run, question } = read;
    if (isPending(question) || !run.callback) {
      await work.decider.commit({ finished: [job] });
      return;
    }
    const message = buildCallback({ ...read, question }, run.callback.secret, work.now);
    const posted = await (await import("../outbound/post.ts")).post(run.callback.url, message, options);
    if (posted.ok) return finish(job, work, (now) => giveOnce(now, work));
    const delayMs = CALLBACK_RETRY_MS[job.tries];
    if (delayMs === undefined || posted.isFinal) return finish(job, work, (now) => giveUp(now, work, posted));
    const waitMs = Math.max(delayMs, posted.retryAfterMs ?? 0) * (1 + Math.random() * 0.1);
    work.onFailure(job, posted.why);
    const dueAt = later(work.now, Math.round(waitMs));
    const failure = { why: sayWhy(posted.why), at: work.now };
    await work.decider.commit({ postponed: [{ job, dueAt, tries: job.tries + 1, failure }] });
  };
}

async function finish(job: ClaimedJob, work: JobContext, decide: (read: QuestionSnapshot) => Changes) {
  if (job.questionId === undefined) return;
  await work.decider.changeQuestion(job.questionId, SYSTEM, (read) => finishing(job, decide(read)));
}

function giveOnce(read: QuestionSnapshot, { decider }: JobContext): Changes {
  return owesOutcome(read.question) ? give(read, { witness: "callback" }, decider.at(SYSTEM)) : {};
}

/** Records that the address does not accept the callback, so that the run does not wait for ever. */
function giveUp({ run, question }: QuestionSnapshot, { decider }: JobContext, posted: PostResult): Changes {
  const at = decider.at(SYSTEM);
  const undelivered = voidHandover(question, "callback_failed");
  const ended: Run = hasEnded(run) ? run : { ...run, status: "failed", reason: "callback_failed", endedAt: at.now };
  return {
    runs: [{ ...ended, owes: run.owes.filter((id) => id !== question.id) }],
    questions: [undelivered],
    events: [
      questionEvent("delivery_failed", question, undelivered, at, { channel: "callback", why: posted.why }),
      ...(ended === run ? [] : [runEvent(run, ended, at)]),
    ],
  };
}
