import type { At, Changes, Read } from "./changes.ts";
import { clockKey } from "./clock.ts";
import { questionEvent, runEvent } from "./event.ts";
import type { Event } from "./event.ts";
import type { QuestionId } from "./id.ts";
import type { Instant } from "./instant.ts";
import { type Job, jobKey } from "./job.ts";
import { type Handover, type Question, handoversOf, isHandedIn, isHanding, isOpen, isSpent, owes } from "./question.ts";
import { Refusal } from "./refusal.ts";
import { type Run, hasEnded, isSuspended } from "./run.ts";

/**
 * How an outcome is written out: to which start of the agent, with that start or as the reply to a call, and by which
 * process, where it has a name.
 */
export interface Handing {
  epoch: number;
  by: "start" | "call";
  holder?: string | undefined;
}

/** Commits that the outcome is about to be written out to the agent of this epoch, if there is one to write out. */
export function handOver(run: Run, questions: readonly Question[], how: Handing, at: At): Changes {
  const { epoch } = how;
  requireEpoch(run, epoch);
  const owed = questions.filter((question) => owes(question) && !isUnderWay(question, how));
  if (owed.length === 0) return {};
  const handed = owed.map((question) =>
    mapHandovers(question, (handover) => (isOpen(handover) ? handing(handover, how, at) : handover)),
  );
  return {
    runs: [run],
    questions: handed,
    events: handed.map((question, index) => questionEvent("handing", owed[index], question, at, { epoch })),
  };
}

/** What a start of the agent was to bring and does not is owed as before. */
export function takeBack(run: Run, questions: readonly Question[], epoch: number, at: At): Changes {
  requireEpoch(run, epoch);
  const handed = questions.filter((question) => handoversOf(question).some((each) => isHandedIn(each, epoch)));
  if (handed.length === 0) return {};
  const owed = handed.map((question) =>
    mapHandovers(question, (handover) => (isHandedIn(handover, epoch) ? { state: "owed" } : handover)),
  );
  return {
    runs: [run],
    questions: owed,
    events: owed.map((question, index) => questionEvent("owed", handed[index], question, at, { epoch })),
  };
}

/**
 * Commits that what was on its way has arrived; a run made for one ask is then complete. Once is enough. What came after
 * it was handed over is not part of it; a program that reads the stored outcome without a hand-over has all of it.
 */
export function give(
  run: Run,
  questions: readonly Question[],
  evidence: { witness: string; epoch?: number | undefined },
  at: At,
): Changes {
  const { witness, epoch } = evidence;
  const isOnItsWay = (handover: Handover): boolean =>
    handover.state === "handing" && (epoch === undefined || handover.epoch === epoch);
  const isHanded = epoch !== undefined || questions.some((question) => handoversOf(question).some(isOnItsWay));
  const isArrived = isHanded ? isOnItsWay : isOpen;
  const shown = questions.filter((question) => handoversOf(question).some(isArrived));
  if (shown.length === 0) return {};
  const given = shown.map((question) => markGiven(question, isArrived, witness, at));
  const rest: Run = { ...run, starts: 0, owes: stillOwed(run, given) };
  const next = rest.owes.length === 0 ? afterGiven(rest, at) : rest;
  return {
    runs: [next],
    questions: given,
    events: [
      ...given.map((question, index) => questionEvent("given", shown[index], question, at, { witness })),
      ...(next.status === run.status ? [] : [runEvent(run, next, at)]),
    ],
    dropped: given.filter((question) => !owes(question)).map(clockKey),
  };
}

/** Questions of a run whose hand-overs have changed beside another decision, their events, and what the run owes then. */
interface Beside {
  questions: Question[];
  events: Event[];
  owes: QuestionId[];
}

/** An agent that asks again has taken what this start of it was handed before it made that call. */
export function giveAskedAgain(run: Run, open: readonly Question[], calledAt: Instant | undefined, at: At): Beside {
  const isTaken = (handover: Handover): boolean =>
    handover.state === "handing" && handover.epoch === run.epoch && (calledAt === undefined || handover.at < calledAt);
  return giveBeside(run, open, isTaken, "asked_again", at);
}

/** An approval that was handed to the call which waited for it was used by that call, whatever became of the agent. */
export function giveSpent(run: Run, open: readonly Question[], at: At): Beside {
  return giveBeside(run, open.filter(isSpent), (handover) => handover.state === "handing", "call", at);
}

function giveBeside(
  run: Run,
  open: readonly Question[],
  isTaken: (handover: Handover) => boolean,
  witness: string,
  at: At,
): Beside {
  const shown = open.filter((question) => handoversOf(question).some(isTaken));
  const questions = shown.map((question) => markGiven(question, isTaken, witness, at));
  const events = questions.map((question, index) => questionEvent("given", shown[index], question, at, { witness }));
  return { questions, events, owes: stillOwed(run, questions) };
}

/** Gives up bringing an outcome to an agent that will never take it. */
export function voidHandover<Q extends Question>(question: Q, reason: string): Q {
  return mapHandovers(question, (handover) => (isOpen(handover) ? { state: "void", reason } : handover));
}

/** The run ends with this question: what it owed besides is given up, and the trail says so. */
export function voidOthers({ run, question, others = [] }: Read, reason: string, at: At): Beside {
  const owing = others.filter(owes);
  const questions = owing.map((other) => voidHandover(other, reason));
  return {
    questions,
    events: questions.map((other, index) =>
      questionEvent("delivery_failed", owing[index], other, at, { reason, with: question.id }),
    ),
    owes: run.owes.filter((id) => questions.every((other) => other.id !== id)),
  };
}

/** Brings back what was given up because the agent could not be started or did not take it. */
export function reopenHandover<Q extends Question>(question: Q, reasons: ReadonlySet<string>): Q {
  return mapHandovers(question, (handover) =>
    handover.state === "void" && reasons.has(handover.reason) ? { state: "owed" } : handover,
  );
}

/** Refuses an agent that was started before the one that has the run now. */
export function requireEpoch(run: Run, epoch: number): void {
  if (epoch === run.epoch) return;
  throw new Refusal(
    "stale_epoch",
    `Run #${run.number} was taken over: epoch ${epoch} is over, it is at ${run.epoch}; nothing was changed`,
  );
}

/** Puts a parked run on its way back to its agent. */
export function resume(run: Run, question: Pick<Question, "id"> | undefined, at: At): { run: Run; scheduled: Job[] } {
  // A run whose agent ended before it was told anything was not parked this time.
  const parkedAt = isSuspended(run) ? run.parkedAt : undefined;
  const next: Run = { ...run, status: "resuming", reason: undefined, whenParked: undefined, parkedAt };
  if (run.giveBack !== "worker") return { run: next, scheduled: [] };
  return { run: next, scheduled: [{ ...startJob(run, at.now), questionId: question?.id }] };
}

/** Has a worker on the host of the run start its agent. */
export function startJob(run: Run, dueAt: Instant): Job {
  const { id, host, agent } = run;
  return { key: jobKey("resume", id), kind: "resume", dueAt, runId: id, host, agent, tries: 0 };
}

/** What becomes of a run once its agent has been shown everything. */
export function afterGiven(run: Run, at: At): Run {
  if (hasEnded(run)) return run;
  if (run.implicit && run.pendingId === undefined) return { ...run, status: "completed", endedAt: at.now };
  return run.status === "resuming" ? { ...run, status: "running" } : run;
}

/** Everything open about a question, marked as shown. */
export function giveAll<Q extends Question>(question: Q, at: At, witness: string): Q {
  return markGiven(question, isOpen, witness, at);
}

/** An approval that the agent was told of with its start becomes that of the one call that uses it. */
function isUnderWay(question: Question, { epoch, by }: Handing): boolean {
  return isHanding(question, epoch, question.kind === "approval" ? by : undefined);
}

function handing(before: Handover, { epoch, by, holder }: Handing, at: At): Handover {
  // A start that ended without evidence may have shown it all the same.
  const isRepeated = before.state === "handing" && (before.epoch !== epoch || before.isRepeated === true);
  const named = holder === undefined ? {} : { holder };
  return { state: "handing", epoch, at: at.now, by, ...named, ...(isRepeated && { isRepeated }) };
}

function markGiven<Q extends Question>(
  question: Q,
  isArrived: (handover: Handover) => boolean,
  witness: string,
  at: At,
): Q {
  return mapHandovers(question, (handover) =>
    isArrived(handover) ? { state: "given", at: at.now, witness } : handover,
  );
}

/** What the run owes once these questions are as they are now. */
function stillOwed(run: Run, changed: readonly Question[]): QuestionId[] {
  const done = new Set<QuestionId>(changed.filter((question) => !owes(question)).map(({ id }) => id));
  return run.owes.filter((id) => !done.has(id));
}

/** The question with each of its hand-overs changed: of its outcome, of a forced answer, of amendments. */
function mapHandovers<Q extends Question>(question: Q, change: (handover: Handover) => Handover): Q {
  const amendments = question.amendments.map((amendment) => ({ ...amendment, handover: change(amendment.handover) }));
  if (question.status === "pending") return { ...question, amendments };
  const outcome = { ...question, amendments, handover: change(question.handover) };
  if (outcome.status !== "timeout" || !outcome.forced) return outcome;
  return { ...outcome, forced: { ...outcome.forced, handover: change(outcome.forced.handover) } };
}
