import type { DecisionContext, Changes, QuestionSnapshot } from "../changes.ts";
import { timerKey } from "../question/question-timer.ts";
import { type Event, questionEvent, statusEvents } from "../trail/event.ts";
import type { QuestionId } from "../id.ts";
import type { Instant } from "../instant.ts";
import { type Job, jobKey, stepJob } from "./job.ts";
import {
  type Handover,
  type Question,
  handoversOf,
  isHandedInEpoch,
  isHandingOver,
  isHandoverOpen,
  isOutcomeOpen,
  isApprovalSpent,
  isPending,
  outcomeHandover,
  owesOutcome,
} from "../question/question.ts";
import { Refusal } from "../refusal.ts";
import { type Run, hasEnded, isParked } from "./run.ts";

/** Why nobody receives a correction for now: the run had ended. */
export const RECORDED_LATE = "run_ended";

/**
 * Where an outcome is written: the epoch, with its start or as the result of a call, and the writing process, if it can
 * be named.
 */
export interface HandoverTarget {
  epoch: number;
  by: "start" | "call";
  holder?: string | undefined;
}

/** Records that owed outcomes are about to be written to the agent of this epoch. */
export function handOver(run: Run, questions: readonly Question[], how: HandoverTarget, at: DecisionContext): Changes {
  const { epoch } = how;
  requireEpoch(run, epoch);
  const owed = questions.filter((question) => owesOutcome(question) && !isHandingUnderWay(question, how));
  if (owed.length === 0) return {};
  const handed = owed.map((question) =>
    mapHandovers(question, (handover) => (isHandoverOpen(handover) ? handing(handover, how, at) : handover)),
  );
  return {
    runs: [run],
    questions: handed,
    events: handed.map((question, index) => questionEvent("handing", owed[index], question, at, { epoch })),
  };
}

/** Returns what this start does not hand over to `owed`. */
export function returnToOwed(run: Run, questions: readonly Question[], epoch: number, at: DecisionContext): Changes {
  requireEpoch(run, epoch);
  const handed = questions.filter((question) => handoversOf(question).some((each) => isHandedInEpoch(each, epoch)));
  if (handed.length === 0) return {};
  const owed = handed.map((question) =>
    mapHandovers(question, (handover) => (isHandedInEpoch(handover, epoch) ? owedAgain(handover) : handover)),
  );
  return {
    runs: [run],
    questions: owed,
    events: owed.map((question, index) => questionEvent("owed", handed[index], question, at, { epoch })),
  };
}

/**
 * Marks handed-over outcomes as given; a run created for one ask is then complete. Idempotent. What came after the
 * hand-over is not part of it; a program that reads the stored outcome without a hand-over receives all of it.
 */
export function give(
  read: GivenSnapshot,
  evidence: { witness: string; epoch?: number | undefined },
  at: DecisionContext,
): Changes {
  const { run, question } = read;
  const { witness, epoch } = evidence;
  const isOnItsWay = (handover: Handover) =>
    handover.state === "handing" && (epoch === undefined || handover.epoch === epoch);
  const isHanded = epoch !== undefined || handoversOf(question).some(isOnItsWay);
  const isArrived = isHanded ? isOnItsWay : isHandoverOpen;
  if (!handoversOf(question).some(isArrived)) return {};
  const given = markGiven(question, isArrived, witness, at);
  // The message of a start also says what nobody was asked.
  const isMessageRead = handoversOf(question).some(
    (each) => each.state === "handing" && each.by === "start" && isOnItsWay(each),
  );
  const mayHaveAsked = isMessageRead ? undefined : run.mayHaveAsked;
  const rest: Run = { ...run, starts: 0, mayHaveAsked, owes: stillOwed(run, [given]) };
  // A correction may have come after the hand-over of the very outcome that has arrived now.
  const late = voidLateCorrections({ ...read, run: rest, others: [given, ...(read.others ?? [])] }, at);
  const next = late.owes.length === 0 ? afterGiven({ ...rest, owes: [] }, at) : afterPartGiven(rest, read.others, at);
  const isLate = late.questions.some(({ id }) => id === given.id);
  const questions = isLate ? late.questions : [given, ...late.questions];
  return {
    runs: [next],
    questions,
    events: [questionEvent("given", question, given, at, { witness }), ...late.events, ...statusEvents(run, next, at)],
    dropped: questions.filter((each) => !owesOutcome(each)).map(timerKey),
  };
}

/** The question of the outcome that was given, and the other questions the run owes. */
type GivenSnapshot = Pick<QuestionSnapshot, "run" | "question" | "others">;

/**
 * Voids corrections that an external asker will never see: it has its last outcome, and nothing contacts it afterwards.
 */
export function voidLateCorrections({ run, others = [] }: GivenSnapshot, at: DecisionContext): HandoverChanges {
  const none = { questions: [], events: [], owes: run.owes };
  if (!run.implicit || run.giveBack !== "poll" || run.pendingId !== undefined || hasEnded(run)) return none;
  const left = others.filter(({ id }) => run.owes.includes(id));
  if (left.length < run.owes.length || !left.every(isOnlyCorrected)) return none;
  return voidEach(run, left, { reason: RECORDED_LATE }, at);
}

/** Says whether only a correction of a given outcome is owed. */
function isOnlyCorrected(question: Question): boolean {
  if (isOutcomeOpen(question)) return false;
  const open = handoversOf(question).filter(isHandoverOpen);
  return open.length > 0 && open.every(({ state }) => state === "owed");
}

/** Changed hand-overs of a run's other questions, with their events and what the run still owes. */
interface HandoverChanges {
  questions: Question[];
  events: Event[];
  owes: QuestionId[];
}

/** Marks as given what this epoch was handed before the agent's new call: an agent that asks again has received it. */
export function giveOnNextAsk(
  run: Run,
  open: readonly Question[],
  calledAt: Instant | undefined,
  at: DecisionContext,
): HandoverChanges {
  const isTaken = (handover: Handover) =>
    handover.state === "handing" && handover.epoch === run.epoch && (calledAt === undefined || handover.at < calledAt);
  return giveSideEffects(run, open, isTaken, "asked_again", at);
}

/**
 * Marks approvals as given that were handed to a waiting call: the call has used them, whatever became of the agent.
 */
export function giveSpentApprovals(run: Run, open: readonly Question[], at: DecisionContext): HandoverChanges {
  return giveSideEffects(run, open.filter(isApprovalSpent), (handover) => handover.state === "handing", "call", at);
}

function giveSideEffects(
  run: Run,
  open: readonly Question[],
  isTaken: (handover: Handover) => boolean,
  witness: string,
  at: DecisionContext,
): HandoverChanges {
  const shown = open.filter((question) => handoversOf(question).some(isTaken));
  const questions = shown.map((question) => markGiven(question, isTaken, witness, at));
  const events = questions.map((question, index) => questionEvent("given", shown[index], question, at, { witness }));
  return { questions, events, owes: stillOwed(run, questions) };
}

/** Voids the open hand-overs of a question. */
export function voidHandover<Q extends Question>(question: Q, reason: string): Q {
  return mapHandovers(question, (handover) =>
    isHandoverOpen(handover) ? { state: "void", reason, isRepeated: mayHaveShown(handover) } : handover,
  );
}

/** Voids what the run owes besides this question, with which it ends, and records why. */
export function voidOthers(
  { run, question, others = [] }: QuestionSnapshot,
  reason: string,
  at: DecisionContext,
): HandoverChanges {
  return voidEach(run, others.filter(owesOutcome), { reason, with: question.id }, at);
}

function voidEach(
  run: Run,
  owing: readonly Question[],
  why: { reason: string; with?: QuestionId },
  at: DecisionContext,
): HandoverChanges {
  const questions = owing.map((each) => voidHandover(each, why.reason));
  return {
    questions,
    events: questions.map((each, index) => questionEvent("delivery_failed", owing[index], each, at, why)),
    owes: run.owes.filter((id) => questions.every((each) => each.id !== id)),
  };
}

/**
 * Returns to owed what was voided for one of these reasons, because the run is started again. A question that itself
 * ended the run, or that was withdrawn without words, has no outcome for the agent.
 */
export function reopenVoided(
  run: Run,
  asked: readonly Question[],
  reasons: ReadonlySet<string>,
  at: DecisionContext,
): HandoverChanges & { before: Question[] } {
  const isReopened = (handover: Handover) => handover.state === "void" && reasons.has(handover.reason);
  const before = asked.filter((question) => handoversToTell(question).some(isReopened));
  const questions = before.map((question) => {
    const again = mapHandovers(question, (handover) => (isReopened(handover) ? owedAgain(handover) : handover));
    return isPending(again) || isPending(question) || hasOutcomeToTell(question)
      ? again
      : { ...again, handover: question.handover };
  });
  const ids = questions.map(({ id }) => id);
  return {
    before,
    questions,
    events: questions.map((question, index) => questionEvent("owed", before[index], question, at)),
    owes: [...run.owes.filter((id) => !ids.includes(id)), ...ids],
  };
}

/** The hand-overs of a question, without that of an outcome which no agent is told. */
function handoversToTell(question: Question) {
  const handovers = handoversOf(question);
  if (isPending(question) || hasOutcomeToTell(question)) return handovers;
  return handovers.filter((handover) => handover !== question.handover);
}

function hasOutcomeToTell(question: Question): boolean {
  if (question.status === "timeout") return question.policy !== "fail" && question.policy !== "skip";
  return question.status !== "cancelled" || question.note !== undefined;
}

/** Says whether a correction of the question was recorded after the end of its run, which no agent has received. */
export function hasLateCorrection({ amendments }: Question): boolean {
  return amendments.some(({ handover }) => isRecordedLate(handover));
}

/** Returns to owed the corrections that were recorded after the end of the run, because it is started again. */
export function reopenCorrections(run: Run, asked: readonly Question[], at: DecisionContext): HandoverChanges {
  const late = asked.filter(
    (question, index) => hasLateCorrection(question) && asked.findIndex(({ id }) => id === question.id) === index,
  );
  const questions = late.map((question) => {
    const amendments = question.amendments.map((each) =>
      isRecordedLate(each.handover) ? { ...each, handover: { state: "owed" as const } } : each,
    );
    return { ...question, amendments };
  });
  const added = questions.map(({ id }) => id).filter((id) => !run.owes.includes(id));
  return {
    questions,
    events: questions.map((question, index) => questionEvent("owed", late[index], question, at)),
    owes: [...run.owes, ...added],
  };
}

function isRecordedLate(handover: Handover) {
  return handover.state === "void" && handover.reason === RECORDED_LATE;
}

/** Refuses an agent of an earlier epoch. */
export function requireEpoch(run: Run, epoch: number): void {
  if (epoch === run.epoch) return;
  throw new Refusal(
    "stale_epoch",
    `Run #${run.number} was taken over: epoch ${epoch} is over, it is at ${run.epoch}; nothing was changed`,
  );
}

/** Schedules a run to resume. */
export function resume(
  run: Run,
  question: Pick<Question, "id"> | undefined,
  at: DecisionContext,
): { run: Run; scheduled: Job[] } {
  // A run whose agent ended without an answer was not parked this time.
  const parkedAt = isParked(run) ? run.parkedAt : undefined;
  const next: Run = {
    ...run,
    status: "resuming",
    reason: undefined,
    resumesAt: undefined,
    whenParked: undefined,
    parkedAt,
  };
  if (run.giveBack !== "worker") return { run: next, scheduled: [] };
  if (run.workflow) return { run: next, scheduled: [startJob(run, at.now)] };
  return { run: next, scheduled: [{ ...startJob(run, at.now), questionId: question?.id }] };
}

/** The job with which a worker on the run's host starts the agent, or does the next step of a workflow. */
export function startJob(run: Run, dueAt: Instant): Job {
  if (run.workflow) return stepJob(run, dueAt);
  const { id, host, agent } = run;
  return { key: jobKey("resume", id), kind: "resume", dueAt, runId: id, host, agent, tries: 0 };
}

/** The run once its agent has received everything. */
export function afterGiven(run: Run, at: DecisionContext): Run {
  if (hasEnded(run) || run.status === "blocked") return run;
  if (run.implicit && run.pendingId === undefined) return { ...run, status: "completed", endedAt: at.now };
  return run.status === "resuming" ? { ...run, status: "running" } : run;
}

/** The run of an asker that took one outcome and left another: that one still waits for somebody to bring it. */
function afterPartGiven(run: Run, others: readonly Question[] = [], at: DecisionContext): Run {
  if (!run.implicit || run.giveBack !== "poll" || run.pendingId !== undefined || run.status !== "running") return run;
  const isLeft = (question: Question) =>
    run.owes.includes(question.id) && !isPending(question) && outcomeHandover(question).state === "owed";
  const left = others.find(isLeft);
  return left ? resume(run, left, at).run : run;
}

/** Marks every open hand-over of a question as given. */
export function giveAll<Q extends Question>(question: Q, at: DecisionContext, witness: string): Q {
  return markGiven(question, isHandoverOpen, witness, at);
}

/** An approval handed over with a start is bound to the one call that uses it. */
function isHandingUnderWay(question: Question, { epoch, by }: HandoverTarget) {
  return isHandingOver(question, epoch, question.kind === "approval" ? by : undefined);
}

function handing(before: Handover, { epoch, by, holder }: HandoverTarget, at: DecisionContext): Handover {
  const isInThisEpoch = before.state === "handing" && before.epoch === epoch;
  const isHeldBack = by === "call" && isHandoverOpen(before) && before.isHeldBack === true;
  return {
    state: "handing",
    epoch,
    at: at.now,
    by,
    holder,
    isRepeated: isInThisEpoch ? before.isRepeated : mayHaveShown(before),
    isHeldBack: isHeldBack ? true : undefined,
  };
}

/** An outcome that this start does not tell after all, or that was given up, as owed to the next start. */
function owedAgain(handover: Handover): Handover {
  return { state: "owed", isRepeated: handover.state === "given" ? undefined : handover.isRepeated };
}

/** Says whether the agent may have seen the outcome: a start that ended without evidence may have shown it. */
function mayHaveShown(handover: Handover): true | undefined {
  if (handover.state === "handing") return true;
  return handover.state === "given" ? undefined : handover.isRepeated;
}

function markGiven<Q extends Question>(
  question: Q,
  isArrived: (handover: Handover) => boolean,
  witness: string,
  at: DecisionContext,
): Q {
  return mapHandovers(question, (handover) =>
    isArrived(handover) ? { state: "given", at: at.now, witness } : handover,
  );
}

/** The questions the run still owes after these changes. */
function stillOwed(run: Run, changed: readonly Question[]): QuestionId[] {
  const done = new Set<QuestionId>(changed.filter((question) => !owesOutcome(question)).map(({ id }) => id));
  return run.owes.filter((id) => !done.has(id));
}

/** Maps every hand-over of a question: of its outcome, a forced answer and amendments. */
function mapHandovers<Q extends Question>(question: Q, change: (handover: Handover) => Handover): Q {
  const amendments = question.amendments.map((amendment) => ({ ...amendment, handover: change(amendment.handover) }));
  if (question.status === "pending") return { ...question, amendments };
  const outcome = { ...question, amendments, handover: change(question.handover) };
  if (outcome.status !== "timeout" || !outcome.forced) return outcome;
  return { ...outcome, forced: { ...outcome.forced, handover: change(outcome.forced.handover) } };
}
