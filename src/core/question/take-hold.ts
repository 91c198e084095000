import type { At, Changes, Read } from "../changes.ts";
import { setClock } from "./question-timer.ts";
import { questionEvent, runEvent } from "../trail/event.ts";
import { later } from "../instant.ts";
import type { AfterHold, Pending } from "./question.ts";
import { CONNECTION, type Run, isAlive } from "../run/run.ts";

/** A call that begins to wait for a question that is there already. */
export interface HoldInput {
  windowMs: number;
  after: AfterHold;
  /** The process that waits, where it can be looked for. */
  holder?: string | undefined;
  /** The one that held before and is known to be gone. */
  gone?: string | undefined;
  /** The session that the run goes on in, where its own has ended with the connection that made it. */
  session?: string | undefined;
  /** What is known of the agent that waits, as of this call. */
  seen?: Run["seen"];
}

/**
 * Makes a call the one that holds a pending question, unless another one does that may be alive. Its run is running
 * again where it had no process of its own to be seen.
 */
export function takeHold({ run, question }: Read, input: HoldInput, at: At): Changes {
  const known = goneOnIn(run, input.session);
  const named: Run = input.seen ? { ...known, seen: input.seen } : known;
  const { windowMs, after, holder } = input;
  if (question.status !== "pending" || windowMs <= 0 || !isFree(question, input)) {
    if (named === run) return {};
    const { session, seen } = named;
    return { runs: [named], events: [runEvent(run, named, at, { session, pid: seen?.pid })] };
  }
  const held: Pending = { ...question, hold: { until: later(at.now, windowMs), after, windowMs, holder } };
  const isParked = run.status === "awaiting_input" || run.status === "deferred";
  const next: Run = run.implicit && isParked ? { ...named, status: "running" } : named;
  return {
    runs: [next],
    questions: [held],
    events: [
      questionEvent("held", question, held, at, { until: held.hold?.until }),
      ...(next.status === run.status ? [] : [runEvent(run, next, at)]),
    ],
    ...setClock(held, at.rules),
  };
}

/** Says whether a call may wait for a question of this run: one that is to be started again gets its answer that way. */
export function mayHold(run: Run): boolean {
  return run.giveBack === "poll" || isAlive(run);
}

/** A client that names no session of its own goes on in another connection. */
function goneOnIn(run: Run, session: string | undefined): Run {
  const isMade = [run.session, session].every((name) => name?.startsWith(CONNECTION));
  return isMade ? { ...run, session } : run;
}

/** A reply that can still be taken back is left to settle as it is. */
function isFree({ hold, settling }: Pending, { gone }: HoldInput): boolean {
  if (settling) return false;
  return hold === undefined || (hold.holder !== undefined && hold.holder === gone);
}
