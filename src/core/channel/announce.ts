import type { Changes, DecisionContext, Entry } from "../changes.ts";
import type { Job } from "../run/job.ts";
import type { Person } from "../people/person.ts";
import { type DeliveryRef, type Question, isPending } from "../question/question.ts";
import type { Rules } from "../rules.ts";
import { type EventType, questionEvent } from "../trail/event.ts";
import { deliverJob, deliveryEntry, newDelivery } from "./delivery.ts";
import { type Target, delegatesOf, targetsOf } from "./target.ts";

/** Events after which somebody new may have to be told. */
const REACHING: ReadonlySet<EventType> = new Set([
  "question.asked",
  "question.announced",
  "question.escalated",
  "question.assigned",
]);
/** Events that change what a message shows. */
const SHOWN: ReadonlySet<EventType> = new Set([
  ...REACHING,
  "question.reminded",
  "question.claimed",
  "question.released",
  "question.extended",
  "question.voted",
  "question.vote_removed",
  "question.settling",
  "question.undone",
  "question.answered",
  "question.timed_out",
  "question.cancelled",
  "question.forced",
  "question.amended",
]);

type AnnounceContext = Pick<DecisionContext, "now" | "ids" | "rules"> & {
  /** All listed people, removed ones included; read where somebody may have to be told. */
  people?: readonly Person[] | undefined;
};

/** Says whether somebody new may have to be told of a decision, so that the list of people is needed. */
export function needsPeople({ events = [], questions = [] }: Changes, { reach }: DecisionContext["rules"]): boolean {
  // Without channels only the delegates of those whom a question names have to be found.
  const isNaming = questions.some(({ to, approvals }) => to.length + approvals.from.length > 0);
  if (reach.length === 0 && !isNaming) return false;
  return events.some(({ type }) => REACHING.has(type) || type === "question.timed_out");
}

/**
 * Adds to a decision what people have to be told of it: a delivery for each recipient that has none yet, and a job for
 * each message that shows something else from now on.
 */
export function announce(changes: Changes, at: AnnounceContext): Changes {
  const { questions = [], events = [] } = changes;
  const entries: Entry[] = [];
  const scheduled: Job[] = [];
  const announced = questions.map((question) => {
    const types = events.filter((event) => event.questionId === question.id).map(({ type }) => type);
    if (!types.some((type) => SHOWN.has(type))) return question;
    const known = question.deliveries ?? [];
    const targets = newlyTold(question, types, at);
    const isNotice = isPending(question) ? undefined : true;
    const added = targets
      .filter((target) => !known.some((ref) => isSame(ref, target)))
      .map((target) => newDelivery(at.ids.deliveryToken(), question.id, { ...target, isNotice }));
    entries.push(...added.map(deliveryEntry));
    const refs: DeliveryRef[] = [
      ...known.map((ref) => (targets.some((target) => isSame(ref, target)) ? calledAgain(ref) : ref)),
      ...added.map(({ id, channel, person }) => ({ id, channel, person })),
    ];
    scheduled.push(...refs.map(({ id }) => deliverJob(id, question, at.now)));
    const told = targets.length === 0 ? question : { ...question, deliveries: refs };
    return isReaching(told, types) ? withDelegates(told, at) : told;
  });
  if (announced.every((question, index) => question === questions[index]) && scheduled.length === 0) return changes;
  return {
    ...changes,
    questions: announced,
    entries: [...(changes.entries ?? []), ...entries],
    scheduled: [...(changes.scheduled ?? []), ...scheduled],
  };
}

/** The recipients whom a decision names: for an answer, or for the outcome if the ask declares whom to tell of it. */
function newlyTold(question: Question, types: readonly EventType[], at: AnnounceContext): Target[] {
  // Pairing an account tells its owner; everybody else has the question already.
  if (types.includes("question.announced")) return missingTargets(question, at);
  if (isReaching(question, types)) return targetsOf(question, at);
  if (isPending(question)) return [];
  const { do: policy, notifyChannel, assignTo } = question.onTimeout;
  const isDeclared = policy !== "escalate" && (notifyChannel ?? assignTo) !== undefined;
  if (!isDeclared || !types.includes("question.timed_out")) return [];
  const notify = notifyChannel === undefined ? question.notify : [{ channel: notifyChannel }];
  return targetsOf({ ...question, notify }, at);
}

function isReaching(question: Question, types: readonly EventType[]) {
  return isPending(question) && types.some((type) => REACHING.has(type));
}

/** The question with those who get it in place of people who are away. */
function withDelegates(question: Question, { people = [], now }: AnnounceContext): Question {
  const delegates = delegatesOf(question, people, now);
  return delegates.length === 0 && question.delegates === undefined ? question : { ...question, delegates };
}

/** A message is there: its recipient is reminded of it. */
function calledAgain(ref: DeliveryRef): DeliveryRef {
  return { ...ref, calls: (ref.calls ?? 0) + 1 };
}

/** Decides that a question also goes to people who can be reached since it was asked; nothing if there are none. */
export function announceAgain(question: Question, at: DecisionContext, people: readonly Person[]): Changes {
  const missing = isPending(question) ? missingTargets(question, { ...at, people }) : [];
  if (missing.length === 0) return {};
  const channel = [...new Set(missing.map((target) => target.channel))].join(", ");
  return { questions: [question], events: [questionEvent("announced", question, question, at, { channel })] };
}

/** The recipients of a question that have no delivery yet. */
function missingTargets(question: Question, at: AnnounceContext) {
  const known = question.deliveries ?? [];
  return targetsOf(question, at).filter((target) => !known.some((ref) => isSame(ref, target)));
}

/** The channels that a question names and in which nobody is told, with the reason. */
export function unreachedChannels(
  { notify, deliveries = [] }: Question,
  { reach }: Pick<Rules, "reach">,
): Array<{ channel: string; why: string }> {
  const named = new Set(notify.map(({ channel }) => channel));
  return [...named]
    .filter((channel) => !deliveries.some((ref) => ref.channel === channel))
    .map((channel) => {
      const isConfigured = reach.some(({ name }) => name === channel);
      return { channel, why: isConfigured ? "nobody it is for has an address there" : "not configured" };
    });
}

function isSame(ref: DeliveryRef, target: Target) {
  return ref.channel === target.channel && ref.person === target.person;
}
