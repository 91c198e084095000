import type { At, Changes, Read } from "../changes.ts";
import { clockKey } from "../question/question-timer.ts";
import { questionEvent, runEvent } from "../trail/event.ts";
import type { Event } from "../trail/event.ts";
import type { QuestionId } from "../id.ts";
import type { Instant } from "../instant.ts";
import { type Job, jobKey } from "./job.ts";
import {
  type Handover,
  type Question,
  handoversOf,
  isHandedIn,
  isHanding,
  isOpen,
  isOutcomeOpen,
  isSpent,
  owes,
} from "../question/question.ts";
import { Refusal } from "../refusal.ts";
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
export function give(read: Given, evidence: { witness: string; epoch?: number | undefined }, at: At): Changes {
  const { run, question } = read;
  const { witness, epoch } = evidence;
  const isOnItsWay = (handover: Handover): boolean =>
    handover.state === "handing" && (epoch === undefined || handover.epoch === epoch);
  const isHanded = epoch !== undefined || handoversOf(question).some(isOnItsWay);
  const isArrived = isHanded ? isOnItsWay : isOpen;
  if (!handoversOf(question).some(isArrived)) return {};
  const given = markGiven(question, isArrived, witness, at);
  const rest: Run = { ...run, starts: 0, owes: stillOwed(run, [given]) };
  const late = voidLate({ ...read, run: rest }, at);
  const next = late.owes.length === 0 ? afterGiven({ ...rest, owes: [] }, at) : rest;
  return {
    runs: [next],
    questions: [given, ...late.questions],
    events: [
      questionEvent("given", question, given, at, { witness }),
      ...late.events,
      ...(next.status === run.status ? [] : [runEvent(run, next, at)]),
    ],
    dropped: [given, ...late.questions].filter((each) => !owes(each)).map(clockKey),
  };
}

/** What was given belongs to this, and the run may owe something of others. */
type Given = Pick<Read, "run" | "question" | "others">;

/**
 * Nobody brings anything to an asker outside once it has its last outcome, and nobody sees it go on: corrections of
 * earlier answers that no outcome took along come too late for it.
 */
export function voidLate({ run, others = [] }: Given, at: At): Beside {
  const none = { questions: [], events: [], owes: run.owes };
  if (!run.implicit || run.giveBack !== "poll" || run.pendingId !== undefined || hasEnded(run)) return none;
  const left = others.filter(({ id }) => run.owes.includes(id));
  if (left.length < run.owes.length || !left.every(isOnlyCorrected)) return none;
  return voidEach(run, left, { reason: "run_ended" }, at);
}

/** Says whether a correction waits to be brought of an outcome that the agent has. */
export function isOnlyCorrected(question: Question): boolean {
  if (isOutcomeOpen(question)) return false;
  const open = handoversOf(question).filter(isOpen);
  return open.length > 0 && open.every(({ state }) => state === "owed");
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
  return voidEach(run, others.filter(owes), { reason, with: question.id }, at);
}

function voidEach(run: Run, owing: readonly Question[], why: { reason: string; with?: QuestionId }, at: At): Beside {
  const questions = owing.map((each) => voidHandover(each, why.reason));
  return {
    questions,
    events: questions.map((each, index) => questionEvent("delivery_failed", owing[index], each, at, why)),
    owes: run.owes.filter((id) => questions.every((each) => each.id !== id)),
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
  const isHeldBack = by === "call" && isOpen(before) && before.isHeldBack === true;
  return {
    ...{ state: "handing", epoch, at: at.now, by },
    ...(holder !== undefined && { holder }),
    ...(isRepeated && { isRepeated }),
    ...(isHeldBack && { isHeldBack }),
  };
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
