import { type Instant, epochMs, msBetween } from "../../core/instant.ts";
import type { Pending } from "../../core/question/question.ts";
import type { Run } from "../../core/run/run.ts";
import { type Reader, tell, tellClock, tellSpan } from "./reader.ts";
import type { Key } from "../words/words.ts";

/** A moment on the reader's clock; the exact one is in its title. */
export function Moment({ reader, at }: { reader: Reader; at: Instant }) {
  return (
    <time datetime={at} title={at}>
      {tellClock(reader, at)}
    </time>
  );
}

/** Patterns of a running time, which the script keeps up to date. */
export type Running = Extract<Key, "run.left" | "run.waiting" | "run.since" | "run.settling" | "run.final" | "run.ago">;

type Settling = NonNullable<Pending["settling"]>;

/** How it is said when an answer is final: only some runs are resumed then. */
export function finalAs({ giveBack }: Pick<Run, "giveBack">, { isHeldBack }: Settling): Running {
  return giveBack === "poll" || isHeldBack ? "run.final" : "run.settling";
}

/** How long until then, counting down: `5h left`. */
export function Left(given: { reader: Reader; until: Instant; as: Running; units?: 1 | 2 }) {
  const { reader, until, as, units = 1 } = given;
  const span = tellSpan(reader, Math.max(0, msBetween(reader.now, until)), units);
  return (
    <span data-until={epochMs(until)} data-as={as} data-units={units}>
      {tell(reader, as, { span })}
    </span>
  );
}

/** How long since then, counting up: `waiting 2h`. */
export function Since({ reader, at, as }: { reader: Reader; at: Instant; as: Running }) {
  const span = tellSpan(reader, Math.max(0, msBetween(at, reader.now)));
  return (
    <span data-since={epochMs(at)} data-as={as}>
      {tell(reader, as, { span })}
    </span>
  );
}
