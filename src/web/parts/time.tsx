import { type Instant, epochMs, msBetween } from "../../core/instant.ts";
import type { PendingQuestion } from "../../core/question/question.ts";
import type { Run } from "../../core/run/run.ts";
import { type PageReader, tell, tellClock, tellSpan } from "./page-reader.ts";
import type { MessageKey } from "../words/words.ts";

/** A moment in the reader's time zone; the exact instant is in its title. */
export function Moment({ reader, at }: { reader: PageReader; at: Instant }) {
  return (
    <time datetime={at} title={at}>
      {tellClock(reader, at)}
    </time>
  );
}

/** Messages with a running time, which the script updates every second. */
export type RunningTimeKey = Extract<
  MessageKey,
  "run.left" | "run.waiting" | "run.since" | "run.settling" | "run.final" | "run.ago"
>;

type Settling = NonNullable<PendingQuestion["settling"]>;

/** The message for the end of the undo window: only some runs resume then. */
export function finalTimeKey({ giveBack }: Pick<Run, "giveBack">, { isHeldBack }: Settling): RunningTimeKey {
  return giveBack === "poll" || isHeldBack ? "run.final" : "run.settling";
}

/** Time left until then, counting down: `5h left`. */
export function TimeLeft(given: { reader: PageReader; until: Instant; as: RunningTimeKey; units?: 1 | 2 }) {
  const { reader, until, as, units = 1 } = given;
  const span = tellSpan(reader, Math.max(0, msBetween(reader.now, until)), units);
  return (
    <span data-until={epochMs(until)} data-as={as} data-units={units}>
      {tell(reader, as, { span })}
    </span>
  );
}

/** Time passed since then, counting up: `waiting 2h`. */
export function TimeSince({ reader, at, as }: { reader: PageReader; at: Instant; as: RunningTimeKey }) {
  const span = tellSpan(reader, Math.max(0, msBetween(at, reader.now)));
  return (
    <span data-since={epochMs(at)} data-as={as}>
      {tell(reader, as, { span })}
    </span>
  );
}
