import { SYSTEM } from "../../core/people/actor.ts";
import { buildCallback } from "../../core/question/callback.ts";
import type { Changes, QuestionSnapshot } from "../../core/changes.ts";
import { questionEvent, runEvent } from "../../core/trail/event.ts";
import { give, voidHandover } from "../../core/run/handover.ts";
import { HOUR_MS, MINUTE_MS, later } from "../../core/instant.ts";
import type { ClaimedJob } from "../../core/run/job.ts";
import { isPending, owesOutcome } from "../../core/question/question.ts";
import { type Run, hasEnded } from "../../core/run/run.ts";
import type { PostResult } from "../outbound/post.ts";
import type { AddressOptions } from "../outbound/public-address.ts";
import { sayWhy } from "./job-retry.ts";
import { type Handler, type JobContext, finishing } from "./worker.ts";

/** The schedule of Standard Webhooks: ten attempts over three days. */
const RETRY_MS = [
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

/** Tells a program by a signed request what became of its question; a 2xx reply means that it has it. */
export function callback(options: AddressOptions): Handler {
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
    const delayMs = RETRY_MS[job.tries];
    if (delayMs === undefined || posted.isFinal) return finish(job, work, (now) => giveUp(now, work, posted));
    const waitMs = Math.max(delayMs, posted.retryAfterMs ?? 0) * (1 + Math.random() * 0.1);
    work.onFailure(job, posted.why);
    const dueAt = later(work.now, Math.round(waitMs));
    const failure = { why: sayWhy(posted.why), at: work.now };
    await work.decider.commit({ postponed: [{ job, dueAt, tries: job.tries + 1, failure }] });
  };
}

async function finish(job: ClaimedJob, work: JobContext, decide: (read: QuestionSnapshot) => Changes): Promise<void> {
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
