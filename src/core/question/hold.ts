import { SYSTEM } from "../people/actor.ts";
import type { DecisionContext, Changes, QuestionSnapshot } from "../changes.ts";
import { holdCheckAt, setTimer } from "./question-timer.ts";
import { questionEvent, runEvent, statusEvents } from "../trail/event.ts";
import { give, resume } from "../run/handover.ts";
import { later } from "../instant.ts";
import { type Job, runJob } from "../run/job.ts";
import { type AfterHold, type PendingQuestion, owesOutcome } from "./question.ts";
import { HANDOVER_GRACE_MS } from "../rules.ts";
import { CONNECTION_PREFIX, type Run, isAgentAlive } from "../run/run.ts";
import { timeOut } from "./timeout.ts";

/** A call that starts to hold an existing question. */
export interface HoldInput {
  windowMs: number;
  after: AfterHold;
  /** The waiting process, if its liveness can be checked. */
  holder?: string | undefined;
  /** The previous holder, known to be gone. */
  gone?: string | undefined;
  /** The session the run continues in, if its own ended with its connection. */
  session?: string | undefined;
  /** The waiting agent's presence, as of this call. */
  seen?: Run["seen"];
}

/**
 * Makes a call the holder of a pending question, unless another holder may be alive. A run without a process of its own
 * is running again.
 */
export function takeHold({ run, question }: QuestionSnapshot, input: HoldInput, at: DecisionContext): Changes {
  const known = continueInSession(run, input.session);
  const named: Run = input.seen ? { ...known, seen: input.seen } : known;
  const { windowMs, after, holder } = input;
  if (question.status !== "pending" || windowMs <= 0 || !mayTakeHold(question, input)) {
    if (named === run) return {};
    const { session, seen } = named;
    return { runs: [named], events: [runEvent(run, named, at, { session, pid: seen?.pid })] };
  }
  const held: PendingQuestion = { ...question, hold: { until: later(at.now, windowMs), after, windowMs, holder } };
  const isParked = run.status === "awaiting_input" || run.status === "deferred";
  const next: Run = run.implicit && isParked ? { ...named, status: "running" } : named;
  return {
    runs: [next],
    questions: [held],
    events: [questionEvent("held", question, held, at, { until: held.hold?.until }), ...statusEvents(run, next, at)],
    ...setTimer(held, at.rules),
  };
}

/** Says whether a call may hold a question of this run: a run about to be resumed gets its answer that way. */
export function mayHold(run: Run): boolean {
  return run.giveBack === "poll" || isAgentAlive(run);
}

/**
 * Ends a hold. At the end of the window the question is parked, or the agent proceeds if the ask declared that; if the
 * caller is gone, the question is parked in any case.
 */
export function endHold(read: QuestionSnapshot, why: "window" | "gone", at: DecisionContext): Changes {
  const { run, question } = read;
  if (question.status !== "pending" || !question.hold) return {};
  if (question.settling) return setTimer(question, at.rules);
  if (why === "window" && question.hold.after === "proceed" && question.kind === "question")
    return timeOut({ ...read, question }, "proceed", undefined, { ...at, by: { ...SYSTEM, id: "policy:proceed" } });
  return parkQuestion(run, question, why, at);
}

/** Checks a hold or an owed outcome whose caller may have died. */
export function watchHold(read: QuestionSnapshot, at: DecisionContext): Changes {
  const { run, question } = read;
  if (question.status === "pending") {
    if (!question.hold) return setTimer(question, at.rules);
    const lapsesAt = holdCheckAt(question);
    return lapsesAt && lapsesAt > at.now ? setTimer(question, at.rules) : endHold(read, "gone", at);
  }
  if (!owesOutcome(question)) return {};
  // A shell script that died while waiting leaves nobody to hand over to: the answer can be read.
  if (run.implicit && run.giveBack === "poll" && question.via === "cli") return give(read, { witness: "stored" }, at);
  if (run.giveBack !== "poll" || !isAgentAlive(run)) return {};
  // No worker watches the process of such a caller: an outcome it did not take in time, it has to fetch.
  const next = resume(run, question, at).run;
  return { runs: [next], events: [runEvent(run, next, at, { why: "not_taken" })] };
}

function parkQuestion(run: Run, question: PendingQuestion, why: string, at: DecisionContext): Changes {
  const parked: PendingQuestion = { ...question, hold: undefined };
  const clock = setTimer(parked, at.rules);
  const isKept = question.hold?.after === "keep";
  // A run without a process of its own awaits input as soon as nobody holds, and so does one whose caller vanished
  // where no worker would notice.
  const isUnseen = run.implicit || (run.giveBack === "poll" && why === "gone");
  const next: Run =
    isUnseen && isAgentAlive(run) && !isKept ? { ...run, status: "awaiting_input", parkedAt: at.now } : run;
  return {
    runs: [next],
    questions: [parked],
    events: [questionEvent("parked", question, parked, at, { why }), ...statusEvents(run, next, at)],
    ...clock,
    scheduled: [...clock.scheduled, ...(isKept ? [] : stopAfterGrace(run, at))],
  };
}

/** Stops the agent after a grace period in which it can end by itself. */
function stopAfterGrace(run: Run, at: DecisionContext): Job[] {
  if (run.giveBack !== "worker" || run.implicit || !isAgentAlive(run)) return [];
  return [runJob("stop", run, later(at.now, HANDOVER_GRACE_MS))];
}

/** A client without a session of its own continues in another connection. */
function continueInSession(run: Run, session: string | undefined): Run {
  const isMade = [run.session, session].every((name) => name?.startsWith(CONNECTION_PREFIX));
  return isMade ? { ...run, session } : run;
}

/** A reply in its undo window settles without a new holder. */
function mayTakeHold({ hold, settling }: PendingQuestion, { gone }: HoldInput) {
  if (settling) return false;
  return hold === undefined || (hold.holder !== undefined && hold.holder === gone);
}
