import type { DecisionContext, Changes, QuestionSnapshot } from "../changes.ts";
import { setTimer } from "./question-timer.ts";
import { questionEvent, runEvent } from "../trail/event.ts";
import { later } from "../instant.ts";
import type { AfterHold, PendingQuestion } from "./question.ts";
import { CONNECTION_PREFIX, type Run, isAgentAlive } from "../run/run.ts";

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
    events: [
      questionEvent("held", question, held, at, { until: held.hold?.until }),
      ...(next.status === run.status ? [] : [runEvent(run, next, at)]),
    ],
    ...setTimer(held, at.rules),
  };
}

/** Says whether a call may hold a question of this run: a run about to be resumed gets its answer that way. */
export function mayHold(run: Run): boolean {
  return run.giveBack === "poll" || isAgentAlive(run);
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
