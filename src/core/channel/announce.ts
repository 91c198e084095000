import type { Changes, DecisionContext, Entry } from "../changes.ts";
import { type Job, questionJob } from "../run/job.ts";
import type { Person } from "../people/person.ts";
import { type Actor, actorName } from "../people/actor.ts";
import { type Question, findAnswer, isPending } from "../question/question.ts";
import type { Rules } from "../rules.ts";
import { MOST_FOLLOWERS } from "../run/follow.ts";
import type { Run } from "../run/run.ts";
import { type Event, type EventType, questionEvent } from "../trail/event.ts";
import type { DeliveryRef } from "./delivery/delivery-ref.ts";
import { deliverJob, deliveryEntry, newDelivery } from "./delivery/delivery.ts";
import { marksIssue } from "./issue-effects.ts";
import { type Notice, findRunNotice } from "./notice.ts";
import { type Target, delegatesOf, newsTargets, targetsOf } from "./target.ts";

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

/** Events of a person's answer: they hear how the run ends. */
const ANSWERING: ReadonlySet<EventType> = new Set([
  "question.answered",
  "question.voted",
  "question.forced",
  "question.amended",
]);

/** Where the tokens of messages come from. */
export type TokenSource = Pick<DecisionContext["ids"], "deliveryToken">;

type AnnounceContext = Pick<DecisionContext, "now" | "ids" | "rules"> & {
  /** All listed people, removed ones included; read where somebody may have to be told. */
  people?: readonly Person[] | undefined;
};

/** Says whether somebody new may have to be told of a decision, so that the list of people is needed. */
export function needsPeople(
  { events = [], questions = [], runs = [] }: Changes,
  { reach }: DecisionContext["rules"],
): boolean {
  const isNews = runs.some((run) => hasFollowers(run) && events.some((event) => findRunNotice(run, event)));
  if (isNews && reach.length > 0) return true;
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
  return announceRuns(announceQuestions(changes, at), at);
}

function announceQuestions(changes: Changes, at: AnnounceContext): Changes {
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
      .map((target) => newDelivery(at.ids.deliveryToken(), { questionId: question.id, isNotice }, target));
    entries.push(...added.map(deliveryEntry));
    const refs: DeliveryRef[] = [
      ...known.map((ref) => (targets.some((target) => isSame(ref, target)) ? calledAgain(ref) : ref)),
      ...added.map(({ id, channel, person }) => ({ id, channel, person })),
    ];
    const subject = { runId: question.runId, questionId: question.id };
    scheduled.push(...refs.map(({ id }) => deliverJob(id, subject, at.now)));
    if (marksIssue(question, types, at.rules.reach)) scheduled.push(questionJob("mark_issue", question, at.now));
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

/** Adds who follows a run from now on, and the news of its end for those who do. */
function announceRuns(changes: Changes, at: AnnounceContext): Changes {
  const { runs = [], events = [] } = changes;
  const entries: Entry[] = [];
  const scheduled: Job[] = [];
  const announced = runs.map((run) => {
    const followed = withFollowers(run, changes);
    const ended = events.find((event) => findRunNotice(run, event));
    const notice = ended && findRunNotice(followed, ended);
    if (!notice || !hasFollowers(followed)) return followed;
    const names = (followed.followers ?? []).filter((name) => name !== actorName(ended.by));
    const told = tellOfRun(followed, notice, names.length === 0 ? [] : newsTargets(names, at), at);
    entries.push(...told.entries);
    scheduled.push(...told.scheduled);
    return told.run;
  });
  if (announced.every((run, index) => run === runs[index])) return changes;
  return {
    ...changes,
    runs: announced,
    entries: [...(changes.entries ?? []), ...entries],
    scheduled: [...(changes.scheduled ?? []), ...scheduled],
  };
}

/** A run with the messages that tell news of it, and their rows and jobs. */
export function tellOfRun(
  run: Run,
  notice: Notice,
  targets: readonly Target[],
  at: Pick<AnnounceContext, "now"> & { ids: TokenSource },
): { run: Run } & Required<Pick<Changes, "entries" | "scheduled">> {
  const added = targets.map((target) => newDelivery(at.ids.deliveryToken(), { notice, isNotice: true }, target));
  const refs = added.map(({ id, channel, person }) => ({ id, channel, person }));
  return {
    run: added.length === 0 ? run : { ...run, deliveries: [...(run.deliveries ?? []), ...refs] },
    entries: added.map(deliveryEntry),
    scheduled: added.map(({ id }) => deliverJob(id, { runId: run.id }, at.now)),
  };
}

/** A run that was made for one ask ends with the answer: nobody has to hear of that. */
function hasFollowers({ followers = [], implicit }: Run) {
  return followers.length > 0 && !implicit;
}

/** The run with the people who answered it. */
function withFollowers(run: Run, { questions = [], events = [] }: Changes): Run {
  if (run.implicit) return run;
  const { followers = [] } = run;
  const names = events
    .filter(({ type, runId }) => ANSWERING.has(type) && runId === run.id)
    .flatMap((event) => findAnswerer(event, questions))
    .filter(({ scope }) => scope === "human" || scope === "admin")
    .map(actorName);
  const all = [...new Set([...followers, ...names])].slice(0, MOST_FOLLOWERS);
  return all.length === followers.length ? run : { ...run, followers: all };
}

/** An answer counts after its undo window, when askd itself writes that down. */
function findAnswerer({ questionId, by }: Event, questions: readonly Question[]): Actor[] {
  const question = questions.find(({ id }) => id === questionId);
  const answer = by.scope === "system" && question ? findAnswer(question) : undefined;
  return [answer?.by ?? by];
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

/** Decides that a question also goes to its recipient through the first of these ways that it did not go yet. */
export function announceThrough(question: Question, ways: readonly Target[], at: DecisionContext): Changes {
  const known = question.deliveries ?? [];
  const way = isPending(question) ? ways.find((each) => !known.some((ref) => isSame(ref, each))) : undefined;
  if (!way) return {};
  const { channel, person } = way;
  const added = newDelivery(at.ids.deliveryToken(), { questionId: question.id }, way);
  const told = { ...question, deliveries: [...known, { id: added.id, channel, person }] };
  const event = questionEvent("announced", question, told, at, { channel });
  return { questions: [told], events: [event], entries: [deliveryEntry(added)] };
}

/** The recipients of a question that have no delivery yet. */
function missingTargets(question: Question, at: AnnounceContext) {
  const known = question.deliveries ?? [];
  return targetsOf(question, at).filter((target) => !known.some((ref) => isSame(ref, target)));
}

/** The channels that a question names and in which nobody is told, with the reason. */
export function unreachedChannels(
  { notify, issue, deliveries = [] }: Question,
  { reach }: Pick<Rules, "reach">,
): Array<{ channel: string; why: string }> {
  const named = new Set(notify.map(({ channel }) => channel));
  return [...named]
    .filter((channel) => !deliveries.some((ref) => ref.channel === channel))
    .map((channel) => {
      const configured = reach.find(({ name }) => name === channel);
      if (!configured) return { channel, why: "not configured" };
      const isHomeless = configured.needsIssue && issue === undefined;
      return { channel, why: isHomeless ? "it belongs to no issue" : "nobody it is for has an address there" };
    });
}

function isSame(ref: DeliveryRef, target: Target) {
  return ref.channel === target.channel && ref.person === target.person;
}
