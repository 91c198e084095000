import type { At, Changes, Read } from "./changes.ts";
import { setClock } from "./clock.ts";
import { questionEvent, runEvent } from "./event.ts";
import { later } from "./instant.ts";
import type { AfterHold, Pending } from "./question.ts";
import { CONNECTION, type Run } from "./run.ts";

/** A call that begins to wait for a question that is there already. */
export interface HoldInput {
  windowMs: number;
  after: AfterHold;
  /** The process that waits. */
  holder: string;
  /** The one that held before and is known to be gone. */
  gone?: string | undefined;
  /** The session that the run goes on in, where its own has ended with the connection that made it. */
  session?: string | undefined;
}

/**
 * Makes a call the one that holds a pending question, unless another one does that may be alive. Its run is running
 * again where it had no process of its own to be seen.
 */
export function takeHold({ run, question }: Read, input: HoldInput, at: At): Changes {
  const named = goneOnIn(run, input.session);
  const { windowMs, after, holder } = input;
  if (question.status !== "pending" || windowMs <= 0 || !isFree(question, input)) {
    const detail = { session: named.session };
    return named.session === run.session ? {} : { runs: [named], events: [runEvent(run, named, at, detail)] };
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
