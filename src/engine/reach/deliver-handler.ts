import type { Channel, ChannelResult, OpenChannel, WireMessage } from "../../core/channel/channel.ts";
import { findAddress } from "../../core/channel/target.ts";
import {
  type Delivery,
  type DeliveryStep,
  type DeliveryTime,
  type DeliveryWait,
  advanceDelivery,
  claimDelivery,
  deliverJob,
  deliveryEntry,
  failDelivery,
  isReminderDue,
  outsideEntry,
  parseDelivery,
  planDelivery,
} from "../../core/channel/delivery.ts";
import { type QuestionMessage, questionMessage, sayReminder } from "../../core/channel/message.ts";
import type { Changes, QuestionSnapshot } from "../../core/changes.ts";
import { DAY_MS, HOUR_MS, type Instant, MINUTE_MS, SECOND_MS, later, msBetween } from "../../core/instant.ts";
import { SYSTEM } from "../../core/people/actor.ts";
import type { Person } from "../../core/people/person.ts";
import { findQuietHours, quietUntil } from "../../core/people/quiet-hours.ts";
import { hashText } from "../../core/question/content.ts";
import { type Question, isPending } from "../../core/question/question.ts";
import { Refusal } from "../../core/refusal.ts";
import type { ClaimedJob } from "../../core/run/job.ts";
import { unchangedEvent } from "../../core/trail/event.ts";
import { JobLost } from "../decide.ts";
import { sayWhy } from "../jobs/job-retry.ts";
import type { Handler, JobContext } from "../jobs/worker.ts";
import { beginOutage, endOutage, reportOutage } from "./outage.ts";
import { findPresentUntil } from "./presence.ts";

const RETRY_MS = [SECOND_MS, 5 * SECOND_MS, 30 * SECOND_MS, 2 * MINUTE_MS, 10 * MINUTE_MS, HOUR_MS];
const JITTER = 0.2;
/** How often an attempt may fail before the trail says so; a failure that only a person can end is reported at once. */
const QUIET_TRIES = 3;
/** How long the last edit of a closed question is tried. */
const LAST_EDIT_MS = DAY_MS;

/** One message that has to be brought in line with its question. */
interface Task {
  job: ClaimedJob;
  work: JobContext & { openChannel: OpenChannel };
  read: QuestionSnapshot;
  delivery: Delivery;
}

/** Brings the message of a delivery in line with its question: sends, edits or reminds. */
export function deliverHandler(openChannel: OpenChannel): Handler {
  return async (job, work) => {
    const task = await readTask(job, { ...work, openChannel });
    if (!task) return void (await work.decider.commit({ finished: [job] }));
    const opened = await tryOpen(openChannel, task.delivery.channel);
    if ("why" in opened) return fail(task, opened);
    const { channel } = opened;
    const { read, delivery } = task;
    const person = await findRecipient(delivery, work);
    const message = questionMessage(read, delivery.token, work.decider.at(SYSTEM).rules, person?.language);
    const to = { address: person && findAddress(person, delivery.channel), person: delivery.person };
    const wire = channel.build(message, to);
    const face = hashText(JSON.stringify(channel.face?.(message, to) ?? wire));
    const shown = (await isLeftBehind(channel, delivery)) ? { ...delivery, face: undefined } : delivery;
    const step = planDelivery(shown, read.question, face, await readTime(delivery, person, work));
    const built = { channel, wire, message, face };
    switch (step.do) {
      case "nothing":
        return void (await work.decider.commit({ finished: [job] }));
      case "wait": {
        const postponed = [{ job, dueAt: step.until, tries: job.tries }];
        if (!step.waits || isSameWait(step.waits, delivery.waits))
          return void (await work.decider.commit({ postponed }));
        return commitResult(task, (now) => ({ ...now, waits: step.waits }), {}, { postponed });
      }
      case "skip":
        return skip(task);
      case "close":
        return save(task, (now) => ({ ...now, state: "closed", sending: undefined }));
      default:
        return attempt(task, step, built);
    }
  };
}

/** Sends, edits or reminds, once nobody else does. */
async function attempt(task: Task, step: AttemptStep, built: Omit<Attempt, "delivery" | "nudges">): Promise<void> {
  const { job, work, read, delivery } = task;
  const { face } = built;
  const claimed = await claim(task, face);
  if (!claimed) return void (await work.decider.commit({ postponed: [{ job, dueAt: work.now, tries: job.tries }] }));
  const nudges = read.question.nudges ?? 0;
  const result = await perform(step, { ...built, delivery, nudges });
  if (result === "skip") return skip({ ...task, delivery: claimed });
  if (!result.ok) return fail({ ...task, delivery: claimed }, result);
  return succeed({ ...task, delivery: claimed }, { step: step.do, face, outside: result.outside });
}

type AttemptStep = Extract<DeliveryStep, { do: "send" | "edit" | "remind" }>;

async function readTask(job: ClaimedJob, work: Task["work"]): Promise<Task | undefined> {
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

async function findRecipient({ person }: Delivery, { decider }: JobContext): Promise<Person | undefined> {
  return person === undefined ? undefined : decider.findPerson(person);
}

/** The time, and whether it is a good one for the recipient; a person need not be on the list of people. */
async function readTime({ person: id }: Delivery, person: Person | undefined, work: JobContext): Promise<DeliveryTime> {
  const { rules } = work.decider.at(SYSTEM);
  const hours = findQuietHours(id === undefined ? undefined : { id, quiet: person?.quiet }, rules.quietHours);
  const presentUntil = await findPresentUntil(work.store, id);
  return { now: work.now, quietUntil: hours && quietUntil(hours, work.now), presentUntil };
}

function isSameWait(one: DeliveryWait, other: DeliveryWait | undefined) {
  return one.why === other?.why && one.since === other.since && one.until === other.until;
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

/** Commits that an attempt begins: until it ends, or its time is over, nobody else makes one. */
async function claim({ work, delivery }: Task, face: string): Promise<Delivery | undefined> {
  const claimed = claimDelivery(delivery, face, work.decider.at(SYSTEM).now);
  const committed = await work.decider.commit({ entries: [deliveryEntry(claimed)] });
  return committed.ok ? { ...claimed, version: claimed.version + 1 } : undefined;
}

interface Attempt {
  channel: Channel;
  wire: WireMessage;
  /** The hash of the wire message. */
  face: string;
  message: QuestionMessage;
  delivery: Delivery;
  nudges: number;
}

async function perform(step: AttemptStep, attempt: Attempt): Promise<ChannelResult | "skip"> {
  const { channel, wire, message, delivery, nudges } = attempt;
  if (step.do === "remind") return channel.remind(delivery.outside, wire, sayReminder(message, nudges));
  if (step.do === "send") return step.mayBeThere ? sendAgain(attempt) : channel.send(wire);
  if (!channel.edit || delivery.outside === undefined) return channel.send(wire);
  // A second message that says the same would ring again where messages cannot be replaced.
  if (step.mayBeThere && (await channel.shows?.(wire))) return { ok: true };
  return channel.edit(delivery.outside, wire);
}

/** Sends a message that may be there already, as far as the service can be asked. */
async function sendAgain({ channel, wire, face, message, delivery }: Attempt): Promise<ChannelResult | "skip"> {
  const found = await channel.find?.(wire);
  // Nobody has to hear of a question that closed before its message arrived.
  if (found === undefined) return message.isOpen || !channel.find ? channel.send(wire) : "skip";
  // The question may have changed since that message was built.
  const { sending } = delivery;
  const isFirst = sending?.face === face && sending.isAgain !== true;
  const isSame = isFirst || (await channel.shows?.(wire)) === true;
  if (isSame || !channel.edit) return { ok: true, outside: found };
  const edited = await channel.edit(found, wire);
  return edited.ok ? { ok: true, outside: edited.outside ?? found } : edited;
}

type Failure = Extract<ChannelResult, { ok: false }>;

async function succeed(
  task: Task,
  done: { step: "send" | "edit" | "remind"; face: string; outside: string | undefined },
): Promise<void> {
  const { work, read, delivery } = task;
  const at = work.decider.at(SYSTEM);
  const isNew = done.outside !== undefined && done.outside !== delivery.outside;
  const outside = isNew ? [outsideEntry(delivery.id, delivery.channel, done.outside ?? "")] : [];
  const detail = { channel: delivery.channel, person: delivery.person, what: WHAT[done.step] };
  const events = [unchangedEvent("notified", read.question, at, detail)];
  const change = (now: Delivery) => advanceDelivery(now, { ...done, question: read.question }, at.now);
  // A reminder that became due with the change comes after it.
  const isGoingOn = done.step === "edit" && isReminderDue(delivery, read.question, at.now);
  const end = isGoingOn ? { postponed: [{ job: task.job, dueAt: at.now, tries: 0 }] } : { finished: [task.job] };
  const readMore = async () => ({ entries: [...outside, ...((await endOutage(work.store, delivery)).entries ?? [])] });
  return commitResult(task, change, { events }, end, readMore);
}

const WHAT = { send: "message", edit: "edit", remind: "reminder" } as const;

/** Records a failure, and tries again later unless that is useless. */
async function fail(task: Task, failure: Failure): Promise<void> {
  const { job, work, read, delivery } = task;
  const at = work.decider.at(SYSTEM);
  const {
    why: reason,
    isFinal = false,
    isGone = false,
    isRefused = false,
    mayBeThere = false,
    retryAfterMs = 0,
  } = failure;
  const why = sayWhy(reason);
  const tries = (delivery.failure?.tries ?? 0) + 1;
  const isOver = isFinal || (!isGone && isTooLate(read.question, at.now));
  const isNews = !delivery.isReported && !isGone && (isOver || isRefused || tries >= QUIET_TRIES);
  const failed = { why, isFinal: isOver, isGone, mayBeThere, isReported: delivery.isReported === true || isNews };
  const detail = { channel: delivery.channel, person: delivery.person, why };
  const events = isNews ? [unchangedEvent("delivery_failed", read.question, at, detail)] : [];
  work.onFailure(job, why);
  const change = (now: Delivery) => failDelivery(now, failed, read.question, at.now);
  const readMore = async () => (isGone ? {} : beginOutage(work.store, delivery, { why, at: at.now }));
  if (isOver || (isGone && !isPending(read.question)))
    return commitResult(task, change, { events }, { finished: [job] }, readMore);
  const ladderMs = isGone ? 0 : (RETRY_MS[Math.min(tries, RETRY_MS.length) - 1] ?? HOUR_MS);
  const waitMs = Math.max(retryAfterMs, Math.round(ladderMs * (1 + Math.random() * JITTER)));
  const postponed = [{ job, dueAt: later(at.now, waitMs), tries: job.tries + 1, failure: { why, at: at.now } }];
  await commitResult(task, change, { events }, { postponed }, readMore);
  await reportOutage(delivery, work);
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

/** Ends the delivery of a question that closed before its message was sent. */
function skip(task: Task): Promise<void> {
  return save(task, (now) => ({ ...now, state: "skipped", sending: undefined, waits: undefined }));
}

function save(task: Task, change: (now: Delivery) => Delivery): Promise<void> {
  return commitResult(task, change, {}, { finished: [task.job] });
}

/**
 * Commits a result with the end of its job. If the question changed meanwhile, a new job is there in place of this one:
 * the result is committed all the same, and the new job goes on from it at once.
 */
async function commitResult(
  { work, delivery, read }: Task,
  change: (now: Delivery) => Delivery,
  more: Pick<Changes, "events">,
  end: Changes,
  readMore: () => Promise<Pick<Changes, "entries">> = () => Promise.resolve({}),
): Promise<void> {
  const { decider, store } = work;
  let ending = end;
  await decider.retry(async () => {
    const entry = await store.findEntry("delivery", delivery.id);
    if (!entry) return true;
    const entries = [deliveryEntry(change(parseDelivery(entry))), ...((await readMore()).entries ?? [])];
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
