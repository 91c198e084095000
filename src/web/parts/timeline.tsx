import type { QuestionSnapshot } from "../../core/changes.ts";
import type { Event } from "../../core/trail/event.ts";
import { msBetween } from "../../core/instant.ts";
import { findAnswer } from "../../core/question/question.ts";
import { makeVisible } from "../../core/text/visible.ts";
import { answerWords } from "../words/answer-words.ts";
import { trailWords } from "../words/event-words.ts";
import { type PageReader, tell, tellSpan } from "./reader.ts";
import { Moment } from "./time.tsx";

/** Events that add nothing to the one beside them. */
const PASSED_BY: ReadonlySet<Event["type"]> = new Set(["question.handing", "question.parked", "run.resuming"]);
const BEGINS: ReadonlySet<Event["type"]> = new Set(["run.started", "run.resumed"]);

export interface TimelineView {
  reader: PageReader;
  /** Oldest first. */
  events: readonly Event[];
  /** The newest questions of the run. */
  reads: readonly QuestionSnapshot[];
}

/** Events of a run, with the time it worked and waited in between. */
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

/** A run event without a change of state is no news: the session got a name, or another worker took the run. */
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

function Words({ reader, event, reads }: { reader: PageReader; event: Event; reads: readonly QuestionSnapshot[] }) {
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
