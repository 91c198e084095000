import type { Channel, ChannelResult, OpenChannel } from "../../core/channel/channel.ts";
import { type IssueEffects, issueEffects } from "../../core/channel/issue-effects.ts";
import { messageLine } from "../../core/channel/message.ts";
import { findAccount } from "../../core/channel/target.ts";
import type { QuestionSnapshot } from "../../core/changes.ts";
import { later } from "../../core/instant.ts";
import { SYSTEM } from "../../core/people/actor.ts";
import { isNamed } from "../../core/people/person.ts";
import { Refusal } from "../../core/refusal.ts";
import type { ClaimedJob } from "../../core/run/job.ts";
import { unchangedEvent } from "../../core/trail/event.ts";
import { retryOf, sayWhy } from "../jobs/job-retry.ts";
import { type Handler, type JobContext, finishing } from "../jobs/worker.ts";

/** About a day of attempts: every hour, after the first minutes. */
const MOST_TRIES = 28;

/**
 * Labels, assigns and comments the issue of a question as its deadline declares it. It is a job of its own, because the
 * question may have been sent to any channel; each attempt repeats what the one before it may have done.
 */
export function markIssueHandler(openChannel: OpenChannel): Handler {
  return async (job, work) => {
    if (job.questionId === undefined) throw new Error(`job ${job.key} names no question`);
    const { rules } = work.decider.at(SYSTEM);
    const name = rules.reach.find(({ hasIssues }) => hasIssues)?.name;
    const read = await work.decider.rows.read(job.questionId);
    const effects = issueEffects(read.question);
    if (name === undefined || effects === undefined) return void (await work.decider.commit({ finished: [job] }));
    const result = await mark(await tryOpen(openChannel, name), read, await toAccounts(effects, name, work));
    if (result.ok) return void (await work.decider.commit({ finished: [job] }));
    const why = sayWhy(result.why);
    work.onFailure(job, why);
    const isOver = result.isFinal === true || result.isGone === true || job.tries >= MOST_TRIES;
    if (isOver) return giveUp(job, work, { channel: name, why });
    const again = retryOf(job, why, work.now);
    const allowedAt = later(work.now, result.retryAfterMs ?? 0);
    await work.decider.commit({ postponed: [{ ...again, dueAt: again.dueAt > allowedAt ? again.dueAt : allowedAt }] });
  };
}

async function tryOpen(openChannel: OpenChannel, name: string): Promise<Channel | Refusal> {
  try {
    return await openChannel(name);
  } catch (error) {
    if (error instanceof Refusal) return error;
    throw error;
  }
}

async function mark(
  channel: Channel | Refusal,
  { question, run }: QuestionSnapshot,
  effects: IssueEffects,
): Promise<ChannelResult> {
  if (channel instanceof Refusal) return { ok: false, why: channel.message };
  if (!channel.markIssue || !question.issue) return { ok: true };
  const { number, repo = run.repo } = question.issue;
  return channel.markIssue({ repo, number, question: question.id }, effects);
}

/** The effects in redacted words; people of the list are known in the channel by another name. */
async function toAccounts(effects: IssueEffects, channel: string, { decider }: JobContext): Promise<IssueEffects> {
  const line = messageLine(decider.at(SYSTEM).rules);
  const people = effects.assign.length === 0 ? [] : await decider.readPeople();
  const assign = effects.assign.flatMap((name) => {
    const meant = people.filter(({ id, removed }) => !removed && isNamed([name], id, people));
    return meant.length === 0 ? [name] : meant.flatMap((person) => findAccount(person, channel) ?? []);
  });
  const { labels, comment } = effects;
  return {
    labels: labels.map(line),
    comment: comment === undefined ? undefined : line(comment),
    assign: [...new Set(assign)],
  };
}

async function giveUp(job: ClaimedJob, work: JobContext, detail: { channel: string; why: string }): Promise<void> {
  if (job.questionId === undefined) return;
  await work.decider.changeQuestion(job.questionId, SYSTEM, ({ question }, at) =>
    finishing(job, { events: [unchangedEvent("delivery_failed", question, at, detail)] }),
  );
}
