import type { Read } from "../../core/changes.ts";
import type { Event } from "../../core/trail/event.ts";
import { msBetween } from "../../core/instant.ts";
import { findAnswer } from "../../core/question/question.ts";
import { makeVisible } from "../../core/text/visible.ts";
import { answerWords } from "../answer-words.ts";
import { trailWords } from "../words/event-words.ts";
import { type Reader, tell, tellSpan } from "./reader.ts";
import { Moment } from "./time.tsx";

/** Steps that say nothing which the one beside them does not say. */
const PASSED_BY: ReadonlySet<Event["type"]> = new Set(["question.handing", "question.parked", "run.resuming"]);
const BEGINS: ReadonlySet<Event["type"]> = new Set(["run.started", "run.resumed"]);

export interface TimelineView {
  reader: Reader;
  /** Oldest first. */
  events: readonly Event[];
  /** The questions of the run, as far as they are read. */
  reads: readonly Read[];
}

/** What happened in a run, with how long it worked and waited in between. */
export function Timeline({ view: { reader, events, reads } }: { view: TimelineView }) {
  let since: Event | undefined;
  const rows = events.filter(isNews).map((event) => {
    const worked = since && endsWork(event) ? msBetween(since.at, event.at) : undefined;
    if (BEGINS.has(event.type)) since = event;
    else if (worked !== undefined) since = undefined;
    return { event, worked, waited: waitedMs(event) };
  });
  return (
    <ol class="timeline">
      {rows
        .filter(({ event }) => !PASSED_BY.has(event.type))
        .map(({ event, worked, waited }) => (
          <li class={event.type.startsWith("question.") ? "ask" : "step"}>
            <Moment reader={reader} at={event.at} /> <Words reader={reader} event={event} reads={reads} />{" "}
            {worked === undefined ? null : (
              <span class="span">{tell(reader, "r.worked", { span: tellSpan(reader, worked, 2) })}</span>
            )}
            {waited === undefined ? null : (
              <span class="span wait">{tell(reader, "r.wait", { span: tellSpan(reader, waited, 2) })}</span>
            )}
          </li>
        ))}
    </ol>
  );
}

/** A run that goes on in the state that it was in says nothing new: its session got a name, or another worker has it. */
function isNews({ type, from, to }: Event): boolean {
  return !type.startsWith("run.") || from !== to;
}

function endsWork({ type }: Event): boolean {
  return type === "question.asked" || (type.startsWith("run.") && !BEGINS.has(type));
}

function waitedMs({ detail }: Event): number | undefined {
  const ms = detail?.["waited_ms"];
  return typeof ms === "number" ? ms : undefined;
}

function Words({ reader, event, reads }: { reader: Reader; event: Event; reads: readonly Read[] }) {
  const read = reads.find(({ question }) => question.id === event.questionId);
  const answer = read && findAnswer(read.question);
  const isAnswer = event.type === "question.answered" || event.type === "question.forced";
  return (
    <>
      {trailWords(reader, event)}
      {event.type === "question.asked" && read ? (
        <>
          {": "}
          <a href={`/q/${read.question.id}`}>{makeVisible(read.question.title)}</a>
        </>
      ) : null}
      {isAnswer && read && answer ? (
        <>: {tell(reader, "quoted", { text: answerWords(reader, read.content, answer) })}</>
      ) : null}
    </>
  );
}
