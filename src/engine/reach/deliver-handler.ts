import type { Channel, ChannelResult, OpenChannel, WireMessage } from "../../core/channel/channel.ts";
import { mentionedIn } from "../../core/channel/recipient.ts";
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
} from "../../core/channel/delivery/delivery.ts";
import type { DeliverySubject } from "../../core/channel/delivery/delivery-subject.ts";
import { type QuestionMessage, sayReminder } from "../../core/channel/message.ts";
import type { Changes } from "../../core/changes.ts";
import { DAY_MS, HOUR_MS, type Instant, MINUTE_MS, SECOND_MS, earlier, later, msBetween } from "../../core/instant.ts";
import { SYSTEM } from "../../core/people/actor.ts";
import type { Person } from "../../core/people/person.ts";
import { findQuietHours, quietUntil } from "../../core/people/quiet-hours.ts";
import { hashText } from "../../core/question/content.ts";
import { Refusal } from "../../core/refusal.ts";
import type { ClaimedJob } from "../../core/run/job.ts";
import { JobLost } from "../decide.ts";
import { sayWhy } from "../jobs/job-retry.ts";
import type { Handler, JobContext } from "../jobs/worker.ts";
import { attentionRulesOf, countRing, findCollectUntil, keepHeld, makeDigest, uncountRing } from "./attention.ts";
import { beginOutage, endOutage, findReportTime, reportOutage, tellAnotherWay } from "./outage.ts";
import { keepLastSent } from "./last-sent.ts";
import { type MessageSubject, readSubject } from "./message-subject.ts";
import { findPresentUntil } from "./presence.ts";

const RETRY_MS = [SECOND_MS, 5 * SECOND_MS, 30 * SECOND_MS, 2 * MINUTE_MS, 10 * MINUTE_MS, HOUR_MS];
const JITTER = 0.2;
/** How often an attempt may fail before the trail says so; a failure that only a person can end is reported at once. */
const QUIET_TRIES = 3;
/** How long the last edit of a closed question is tried. */
const LAST_EDIT_MS = DAY_MS;

/** One message that has to be brought in line with its subject. */
interface Task {
  job: ClaimedJob;
  work: JobContext & { openChannel: OpenChannel };
  delivery: Delivery;
  about: MessageSubject;
}

/** Brings the message of a delivery in line with its subject: sends, edits or reminds. */
export function deliverHandler(openChannel: OpenChannel): Handler {
  return async (job, work) => {
    const task = await readTask(job, { ...work, openChannel });
    if (!task) return void (await work.decider.commit({ finished: [job] }));
    const opened = await tryOpen(openChannel, task.delivery.channel);
    if ("why" in opened) return fail(task, opened, false);
    const { channel } = opened;
    const { about, delivery } = task;
    const person = await findRecipient(delivery, work);
    const message = about.message(person?.language);
    const shared = delivery.person === undefined ? about.address : undefined;
    const to = {
      address: person ? findAddress(person, delivery.channel) : shared,
      person: delivery.person,
      mention: await findMentioned(delivery, work),
      thread: await findThread(delivery, work),
      isChange: delivery.sentAt !== undefined,
      change: delivery.changes ?? 0,
    };
    const wire = channel.build(message, to);
    const face = hashText(JSON.stringify(channel.face?.(message, to) ?? wire));
    const shown = (await isLeftBehind(channel, delivery)) ? { ...delivery, face: undefined } : delivery;
    const step = planDelivery(shown, about, face, await readTime(delivery, person, work));
    const built = { channel, wire, message, face };
    switch (step.do) {
      case "nothing":
        return void (await work.decider.commit({ finished: [job] }));
      case "wait": {
        const postponed = [{ job, dueAt: step.until, tries: job.tries }];
        const { waits } = step;
        if (!waits || isSameWait(waits, delivery.waits)) return void (await work.decider.commit({ postponed }));
        const readMore = () => keepHeld(work.store, delivery, waits.why === "digest");
        return commitResult(task, (now) => ({ ...now, waits }), {}, { postponed }, readMore);
      }
      case "skip":
        return skip(task);
      case "close":
        return save(task, (now) => ({ ...now, state: "closed", sending: undefined }));
      case "edit":
        // Where a change is a new message, a digest is not told again.
        if (delivery.covers && (!channel.edit || channel.strength === undefined))
          return void (await work.decider.commit({ finished: [job] }));
        return attempt(task, step, built);
      default:
        // Its time has come; others that waited with it come in the same message.
        if (step.do === "send" && delivery.waits?.why === "digest" && (await makeDigest(work, delivery)))
          return void (await work.decider.commit({ postponed: [{ job, dueAt: work.now, tries: 0 }] }));
        return attempt(task, step, built);
    }
  };
}

/** Sends, edits or reminds, once nobody else does. */
async function attempt(task: Task, step: AttemptStep, built: Omit<Attempt, "delivery" | "nudges">): Promise<void> {
  const { job, work, about, delivery } = task;
  const { face } = built;
  const claimed = await claim(task, step, face);
  if (!claimed) return void (await work.decider.commit({ postponed: [{ job, dueAt: work.now, tries: job.tries }] }));
  const result = await perform(step, { ...built, delivery, nudges: about.nudges });
  if (result === "skip") return skip({ ...task, delivery: claimed });
  if (!result.ok) return fail({ ...task, delivery: claimed }, result, isRinging(step, delivery));
  const { outside, beside } = result;
  const place = outside === undefined ? undefined : built.channel.places?.of(outside);
  return succeed({ ...task, delivery: claimed }, { step: step.do, face, outside, beside, place });
}

type AttemptStep = Extract<DeliveryStep, { do: "send" | "edit" | "remind" }>;

async function readTask(job: ClaimedJob, work: Task["work"]): Promise<Task | undefined> {
  const id = job.key.slice(job.key.indexOf(":") + 1);
  const entry = (await work.store.findEntry("delivery", id)) ?? (await work.store.findEntry("digest", id));
  const delivery = entry && parseDelivery(entry);
  if (!delivery) return undefined;
  const about = await readSubject(delivery, work);
  return (await readDigestTask({ job, work, delivery, about })) ?? { job, work, delivery, about };
}

/** A delivery that a digest tells of is kept in line by keeping the digest in line. */
async function readDigestTask(task: Task): Promise<Task | undefined> {
  const { work, delivery, about } = task;
  if (delivery.digest === undefined || delivery.isWanted || isReminderDue(delivery, about)) return undefined;
  const entry = await work.store.findEntry("digest", delivery.digest);
  if (!entry) return undefined;
  if (delivery.state === "collected" && !about.isOpen)
    await work.decider.commit({ entries: [deliveryEntry({ ...delivery, state: "closed" })] });
  const digest = parseDelivery(entry);
  return { ...task, delivery: digest, about: await readSubject(digest, work) };
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

/** The accounts of the people whom a question at a shared address is meant for. */
async function findMentioned({ person, channel, questionId }: Delivery, { decider }: JobContext): Promise<string[]> {
  if (person !== undefined || questionId === undefined) return [];
  const [{ question }, people] = await Promise.all([decider.rows.read(questionId), decider.readPeople()]);
  return mentionedIn(question, channel, people);
}

/** The message of the run's last question for the same recipient: news of the run belongs below it. */
async function findThread({ notice, channel, person }: Delivery, { store }: JobContext): Promise<string | undefined> {
  if (!notice?.what.startsWith("run.")) return undefined;
  const [last] = await store.listQuestions({ runId: notice.runId, order: "newest", limit: 1 });
  const ref = last?.deliveries?.find((each) => each.channel === channel && each.person === person);
  const entry = ref && (await store.findEntry("delivery", ref.id));
  return entry && parseDelivery(entry).outside;
}

/** The time, and whether it is a good one for the recipient; a person need not be on the list of people. */
async function readTime(delivery: Delivery, person: Person | undefined, work: JobContext): Promise<DeliveryTime> {
  const { person: id } = delivery;
  const { rules } = work.decider.at(SYSTEM);
  // A digest is made when one of its deliveries may be sent.
  if (delivery.covers) return { now: work.now };
  const hours = findQuietHours(id === undefined ? undefined : { id, quiet: person?.quiet }, rules.quietHours);
  const presentUntil = await findPresentUntil(work.store, id);
  const collectUntil = await findCollectUntil(work.store, delivery, attentionRulesOf(person, rules), work.now);
  return { now: work.now, quietUntil: hours && quietUntil(hours, work.now), presentUntil, collectUntil };
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
async function claim({ work, delivery, about }: Task, step: AttemptStep, face: string): Promise<Delivery | undefined> {
  const { now } = work.decider.at(SYSTEM);
  const claimed = claimDelivery(delivery, face, now);
  const rings = isRinging(step, delivery) ? await countRing(work.store, delivery, about, now) : {};
  const committed = await work.decider.commit({ entries: [deliveryEntry(claimed), ...(rings.entries ?? [])] });
  return committed.ok ? { ...claimed, version: claimed.version + 1 } : undefined;
}

/** Says whether a step interrupts its recipient: a change does not, nor a message that they asked for. */
function isRinging(step: AttemptStep, { isWanted, sending }: Delivery) {
  return step.do !== "edit" && isWanted !== true && sending === undefined;
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
  for (const double of delivery.doubles ?? []) {
    const edited = await channel.edit(double, wire);
    if (!edited.ok && !edited.isGone && !edited.isFinal) return edited;
  }
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

interface Success {
  step: AttemptStep["do"];
  face: string;
  outside: string | undefined;
  beside: string | undefined;
  place: string | undefined;
}

async function succeed(task: Task, done: Success): Promise<void> {
  const { work, about, delivery } = task;
  const at = work.decider.at(SYSTEM);
  const { channel } = delivery;
  const added = [done.outside === delivery.outside ? undefined : done.outside, done.beside];
  const outside = added
    .filter((each) => each !== undefined)
    .map((each) => outsideEntry(delivery.id, { channel, outside: each, place: done.place }));
  const detail = { channel, person: delivery.person, what: WHAT[done.step] };
  const events = about.events("notified", detail);
  const change = (now: Delivery) => advanceDelivery(now, { ...done, subject: about }, at.now);
  // A reminder that became due with the change comes after it.
  const isGoingOn = done.step === "edit" && isReminderDue(delivery, about);
  const end = isGoingOn ? { postponed: [{ job: task.job, dueAt: at.now, tries: 0 }] } : { finished: [task.job] };
  const readMore = async () => ({
    entries: [
      ...outside,
      ...((await endOutage(work.store, delivery)).entries ?? []),
      ...(await keepLastSent(work.store, channel, at.now)),
    ],
  });
  return commitResult(task, change, { events }, end, readMore);
}

const WHAT = { send: "message", edit: "edit", remind: "reminder" } as const;

/** Records a failure, and tries again later unless that is useless. */
async function fail(task: Task, failure: Failure, wasRinging: boolean): Promise<void> {
  const { job, work, about, delivery } = task;
  const at = work.decider.at(SYSTEM);
  const {
    why: reason,
    isFinal = false,
    isGone = false,
    isRefused = false,
    isMisaddressed = false,
    mayBeThere = false,
    retryAfterMs = 0,
  } = failure;
  const why = sayWhy(reason);
  const tries = (delivery.failure?.tries ?? 0) + 1;
  const isOver = isFinal || (!isGone && isTooLate(about, at.now));
  const isNews = !delivery.isReported && !isGone && (isOver || isRefused || tries >= QUIET_TRIES);
  const failed = { why, isFinal: isOver, isGone, mayBeThere, isReported: delivery.isReported === true || isNews };
  const detail = { channel: delivery.channel, person: delivery.person, why, ...(isOver && { final: true }) };
  const events = isNews ? about.events("delivery_failed", detail) : [];
  work.onFailure(job, why);
  const change = (now: Delivery) => failDelivery(now, failed, about, at.now);
  const readMore = async () => ({
    entries: [
      ...(isGone || isMisaddressed
        ? []
        : ((await beginOutage(work.store, delivery, { why, at: at.now })).entries ?? [])),
      ...(wasRinging && !mayBeThere ? ((await uncountRing(work.store, delivery, about)).entries ?? []) : []),
    ],
  });
  if (isOver || (isGone && !about.isOpen)) {
    await commitResult(task, change, { events }, { finished: [job] }, readMore);
    if (isFinal) await tellAnotherWay(delivery, work);
    return reportOutage(delivery, work);
  }
  const dueAt = await findRetryTime(task, { tries: isGone ? 0 : tries, retryAfterMs });
  const postponed = [{ job, dueAt, tries: job.tries + 1, failure: { why, at: at.now } }];
  await commitResult(task, change, { events }, { postponed }, readMore);
  await reportOutage(delivery, work);
}

/** When to try again: after a growing pause, and at the latest when the outage has to be reported. */
async function findRetryTime(
  { work, delivery }: Task,
  { tries, retryAfterMs }: { tries: number; retryAfterMs: number },
): Promise<Instant> {
  const { now } = work.decider.at(SYSTEM);
  const ladderMs = tries === 0 ? 0 : (RETRY_MS[Math.min(tries, RETRY_MS.length) - 1] ?? HOUR_MS);
  const dueAt = later(now, Math.max(retryAfterMs, Math.round(ladderMs * (1 + Math.random() * JITTER))));
  const reportAt = retryAfterMs > 0 ? undefined : await findReportTime(work.store, delivery, now);
  return reportAt === undefined ? dueAt : earlier(reportAt, dueAt);
}

/** Says whether a closed question has waited long enough for its last edit. */
function isTooLate({ endedAt }: DeliverySubject, now: Instant) {
  return endedAt !== undefined && msBetween(endedAt, now) > LAST_EDIT_MS;
}

/** Ends the delivery of a question that closed before its message was sent. */
function skip(task: Task): Promise<void> {
  const change = (now: Delivery): Delivery => ({ ...now, state: "skipped", sending: undefined, waits: undefined });
  const readMore = () => keepHeld(task.work.store, task.delivery, false);
  return commitResult(task, change, {}, { finished: [task.job] }, readMore);
}

function save(task: Task, change: (now: Delivery) => Delivery): Promise<void> {
  return commitResult(task, change, {}, { finished: [task.job] });
}

/**
 * Commits a result with the end of its job. If the question changed meanwhile, a new job is there in place of this one:
 * the result is committed all the same, and the new job goes on from it at once.
 */
async function commitResult(
  { job, work, delivery }: Task,
  change: (now: Delivery) => Delivery,
  more: Pick<Changes, "events">,
  end: Changes,
  readMore: () => Promise<Pick<Changes, "entries">> = () => Promise.resolve({}),
): Promise<void> {
  const { decider, store } = work;
  let ending = end;
  await decider.retry(async () => {
    const entry = await store.findEntry(delivery.covers ? "digest" : "delivery", delivery.id);
    if (!entry) return true;
    const after = change(parseDelivery(entry));
    const entries = [deliveryEntry(after), ...((await readMore()).entries ?? [])];
    // The digest that once told of a question that is over must not offer it any more.
    const { formerDigest } = after;
    const isOver = after.state === "closed" || after.state === "failed";
    const digest = isOver && formerDigest !== undefined ? [deliverJob(formerDigest, job, decider.at(SYSTEM).now)] : [];
    const scheduled = [...(ending.scheduled ?? []), ...digest];
    try {
      const committed = await decider.commit({ ...more, entries, ...ending, scheduled });
      return committed.ok ? true : undefined;
    } catch (error) {
      if (!(error instanceof JobLost) || ending !== end) throw error;
      ending = { scheduled: [deliverJob(job.key.slice(job.key.indexOf(":") + 1), job, decider.at(SYSTEM).now)] };
      return undefined;
    }
  });
}
