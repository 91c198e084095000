import type { Channel, ChannelResult, OpenChannel, Recipient, WireMessage } from "../../core/channel/channel.ts";
import { findAddress } from "../../core/channel/announce.ts";
import {
  type Delivery,
  type DeliveryStep,
  advanceDelivery,
  claimDelivery,
  deliverJob,
  deliveryEntry,
  failDelivery,
  parseDelivery,
  planDelivery,
} from "../../core/channel/delivery.ts";
import { type QuestionMessage, questionMessage, sayReminder } from "../../core/channel/message.ts";
import type { Changes, Entry, QuestionSnapshot } from "../../core/changes.ts";
import { DAY_MS, HOUR_MS, type Instant, MINUTE_MS, SECOND_MS, later, msBetween } from "../../core/instant.ts";
import { SYSTEM } from "../../core/people/actor.ts";
import { parsePerson } from "../../core/people/person.ts";
import { hashText } from "../../core/question/content.ts";
import { type Question, isPending } from "../../core/question/question.ts";
import { Refusal } from "../../core/refusal.ts";
import type { ClaimedJob } from "../../core/run/job.ts";
import { unchangedEvent } from "../../core/trail/event.ts";
import { JobLost } from "../decide.ts";
import { sayWhy } from "../jobs/job-retry.ts";
import type { Handler, JobContext } from "../jobs/worker.ts";

const RETRY_MS = [SECOND_MS, 5 * SECOND_MS, 30 * SECOND_MS, 2 * MINUTE_MS, 10 * MINUTE_MS, HOUR_MS];
const JITTER = 0.2;
/** How often an attempt may fail before the trail says so; a failure that only a person can end is reported at once. */
const QUIET_TRIES = 3;
/** How long the last edit of a closed question is tried. */
const LAST_EDIT_MS = DAY_MS;

/** One message that has to be brought in line with its question. */
interface Task {
  job: ClaimedJob;
  work: JobContext;
  read: QuestionSnapshot;
  delivery: Delivery;
}

/** Brings the message of a delivery in line with its question: sends, edits or reminds. */
export function deliverHandler(openChannel: OpenChannel): Handler {
  return async (job, work) => {
    const task = await readTask(job, work);
    if (!task) return void (await work.decider.commit({ finished: [job] }));
    const opened = await tryOpen(openChannel, task.delivery.channel);
    if ("why" in opened) return fail(task, opened);
    const { channel } = opened;
    const { read, delivery } = task;
    const message = questionMessage(read, delivery.token, work.decider.at(SYSTEM).rules);
    const wire = channel.build(message, await recipientOf(delivery, work));
    const face = hashText(JSON.stringify(wire));
    const shown = (await isLeftBehind(channel, delivery)) ? { ...delivery, face: undefined } : delivery;
    const step = planDelivery(shown, read.question, face, work.now);
    switch (step.do) {
      case "nothing":
        return void (await work.decider.commit({ finished: [job] }));
      case "wait":
        return void (await work.decider.commit({ postponed: [{ job, dueAt: step.until, tries: job.tries }] }));
      case "skip":
        return save(task, (now) => ({ ...now, state: "skipped", sending: undefined }));
      default: {
        const claimed = await claim(task);
        if (!claimed)
          return void (await work.decider.commit({ postponed: [{ job, dueAt: work.now, tries: job.tries }] }));
        const nudges = read.question.nudges ?? 0;
        const result = await perform(step, { channel, wire, message, delivery, nudges });
        if (!result.ok) return fail({ ...task, delivery: claimed }, result);
        return succeed({ ...task, delivery: claimed }, { step: step.do, face, outside: result.outside });
      }
    }
  };
}

async function readTask(job: ClaimedJob, work: JobContext): Promise<Task | undefined> {
  const entry = await work.store.findEntry("delivery", job.key.slice(job.key.indexOf(":") + 1));
  if (!entry || job.questionId === undefined) return undefined;
  return { job, work, read: await work.decider.rows.read(job.questionId), delivery: parseDelivery(entry) };
}

async function tryOpen(openChannel: OpenChannel, name: string): Promise<{ channel: Channel } | Failure> {
  try {
    return { channel: await openChannel(name) };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return { ok: false, why: error.message, isRefused: true };
  }
}

/** Says whether nobody would hear of a reply to the message: the process that showed it is gone. */
async function isLeftBehind(channel: Channel, { state, outside }: Delivery): Promise<boolean> {
  if (!channel.isHeard || state !== "sent" || outside === undefined) return false;
  try {
    return !(await channel.isHeard(outside));
  } catch {
    return false; // the channel is down: sending tells why
  }
}

async function recipientOf({ person, channel }: Delivery, { store }: JobContext): Promise<Recipient> {
  const entry = person === undefined ? undefined : await store.findEntry("person", person);
  return { address: entry && findAddress(parsePerson(entry), channel) };
}

/** Commits that an attempt begins: until it ends, or its time is over, nobody else makes one. */
async function claim({ work, delivery }: Task): Promise<Delivery | undefined> {
  const claimed = claimDelivery(delivery, work.decider.at(SYSTEM).now);
  const committed = await work.decider.commit({ entries: [deliveryEntry(claimed)] });
  return committed.ok ? { ...claimed, version: claimed.version + 1 } : undefined;
}

async function perform(
  step: Extract<DeliveryStep, { do: "send" | "edit" | "remind" }>,
  {
    channel,
    wire,
    message,
    delivery,
    nudges,
  }: { channel: Channel; wire: WireMessage; message: QuestionMessage; delivery: Delivery; nudges: number },
): Promise<ChannelResult> {
  if (step.do === "remind") return channel.remind(delivery.outside, wire, sayReminder(message, nudges));
  if (step.do === "edit" && channel.edit && delivery.outside !== undefined) return channel.edit(delivery.outside, wire);
  const found = step.do === "send" && step.mayBeThere ? await channel.find?.(wire) : undefined;
  return found === undefined ? channel.send(wire) : { ok: true, outside: found };
}

type Failure = Extract<ChannelResult, { ok: false }>;

async function succeed(
  task: Task,
  done: { step: "send" | "edit" | "remind"; face: string; outside: string | undefined },
): Promise<void> {
  const { work, read, delivery } = task;
  const at = work.decider.at(SYSTEM);
  const isNew = done.outside !== undefined && done.outside !== delivery.outside;
  const outside: Entry[] = isNew
    ? [
        {
          kind: "outside",
          id: `${delivery.channel}:${done.outside ?? ""}`,
          version: 0,
          body: { delivery: delivery.id },
        },
      ]
    : [];
  const detail = { channel: delivery.channel, person: delivery.person, what: WHAT[done.step] };
  const events = [unchangedEvent("notified", read.question, at, detail)];
  return save(task, (now) => advanceDelivery(now, { ...done, question: read.question }, at.now), {
    entries: outside,
    events,
  });
}

const WHAT = { send: "message", edit: "edit", remind: "reminder" } as const;

/** Records a failure, and tries again later unless that is useless. */
async function fail(task: Task, failure: Failure): Promise<void> {
  const { job, work, read, delivery } = task;
  const at = work.decider.at(SYSTEM);
  const { why: reason, isFinal = false, isGone = false, isRefused = false, retryAfterMs = 0 } = failure;
  const why = sayWhy(reason);
  const tries = (delivery.failure?.tries ?? 0) + 1;
  const isOver = isFinal || (!isGone && isTooLate(read.question, at.now));
  const isNews = !delivery.isReported && !isGone && (isOver || isRefused || tries >= QUIET_TRIES);
  const failed = { why, isFinal: isOver, isGone, isReported: delivery.isReported === true || isNews };
  const detail = { channel: delivery.channel, person: delivery.person, why };
  const events = isNews ? [unchangedEvent("delivery_failed", read.question, at, detail)] : [];
  work.onFailure(job, why);
  const change = (now: Delivery) => failDelivery(now, failed, read.question, at.now);
  if (isOver || (isGone && !isPending(read.question))) return save(task, change, { events });
  const ladderMs = isGone ? 0 : (RETRY_MS[Math.min(tries, RETRY_MS.length) - 1] ?? HOUR_MS);
  const waitMs = Math.max(retryAfterMs, Math.round(ladderMs * (1 + Math.random() * JITTER)));
  const postponed = [{ job, dueAt: later(at.now, waitMs), tries: job.tries + 1, failure: { why, at: at.now } }];
  await commitResult(task, change, { events }, { postponed });
}

/** Says whether a closed question has waited long enough for its last edit. */
function isTooLate(question: Question, now: Instant) {
  if (isPending(question)) return false;
  const closedAt =
    question.status === "answered"
      ? question.answer.at
      : question.status === "timeout"
        ? question.timedOutAt
        : question.cancelledAt;
  return msBetween(closedAt, now) > LAST_EDIT_MS;
}

function save(task: Task, change: (now: Delivery) => Delivery, more: Changes = {}): Promise<void> {
  return commitResult(task, change, more, { finished: [task.job] });
}

/**
 * Commits a result with the end of its job. If the question changed meanwhile, a new job is there in place of this one:
 * the result is committed all the same, and the new job goes on from it at once.
 */
async function commitResult(
  { work, delivery, read }: Task,
  change: (now: Delivery) => Delivery,
  more: Changes,
  end: Changes,
): Promise<void> {
  const { decider, store } = work;
  let ending = end;
  await decider.retry(async () => {
    const entry = await store.findEntry("delivery", delivery.id);
    if (!entry) return true;
    const entries = [deliveryEntry(change(parseDelivery(entry))), ...(more.entries ?? [])];
    try {
      const committed = await decider.commit({ ...more, entries, ...ending });
      return committed.ok ? true : undefined;
    } catch (error) {
      if (!(error instanceof JobLost) || ending !== end) throw error;
      ending = { scheduled: [deliverJob(delivery.id, read.question, decider.at(SYSTEM).now)] };
      return undefined;
    }
  });
}
