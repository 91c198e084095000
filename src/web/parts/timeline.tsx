import type { QuestionSnapshot } from "../../core/changes.ts";
import type { Event } from "../../core/trail/event.ts";
import { msBetween } from "../../core/instant.ts";
import { findAnswer } from "../../core/question/question.ts";
import { makeVisible } from "../../core/text/visible.ts";
import { answerWords } from "../words/answer-words.ts";
import { trailWords } from "../words/event-words.ts";
import { type PageReader, tell, tellSpan } from "./page-reader.ts";
import { Moment } from "./time.tsx";
import type { ResumeAttempt } from "../../core/run/resume-attempt.ts";

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
function isNews({ type, from, to }: Event) {
  return !type.startsWith("run.") || from !== to;
}

function endsWork({ type }: Event) {
  return type === "question.asked" || (type.startsWith("run.") && !BEGINS.has(type));
}

function waitedMs({ detail }: Event) {
  const ms = detail?.["waited_ms"];
  return typeof ms === "number" ? ms : undefined;
}

function Words({ reader, event, reads }: { reader: PageReader; event: Event; reads: readonly QuestionSnapshot[] }) {
  const read = reads.find(({ question }) => question.id === event.questionId);
  const answer = read && findAnswer(read.question);
  const step = event.type.startsWith("workflow.") ? event.detail?.["step"] : undefined;
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
      {typeof step === "string" ? <>: {makeVisible(step)}</> : null}
      {isAnswer && read && answer ? (
        <>: {tell(reader, "quoted", { text: answerWords(reader, read.content, answer) })}</>
      ) : null}
    </>
  );
}

/** Attempts to resume a run: when, by which worker, and how each ended. */
export function Attempts({ reader, attempts }: { reader: PageReader; attempts: readonly ResumeAttempt[] }) {
  if (attempts.length === 0) return null;
  return (
    <section id="resumes">
      <h2>
        {tell(reader, "r.tries")} ({attempts.length})
      </h2>
      <ol class="timeline">
        {attempts.map((attempt) => (
          <li class={attempt.end?.state === "failed" ? "failed" : "step"}>
            <Moment reader={reader} at={attempt.at} /> {sayEnd(reader, attempt)}
            <br />
            <span class="quiet">
              {tell(reader, "r.try.claim", { n: attempt.epoch })}
              {attempt.worker === undefined ? null : (
                <>
                  {" "}
                  · <code>{makeVisible(attempt.worker)}</code>
                </>
              )}
            </span>
          </li>
        ))}
      </ol>
    </section>
  );
}

function sayEnd(reader: PageReader, { at, end }: ResumeAttempt) {
  if (!end) return tell(reader, "r.try.going");
  const span = tellSpan(reader, Math.max(0, msBetween(at, end.at)), 2);
  if (end.state !== "failed") return tell(reader, `r.try.${end.state}`, { span });
  const why =
    end.failure === undefined
      ? tell(reader, `r.why.${end.why ?? "not_taken"}`, { span })
      : tell(reader, "r.try.failed", { why: makeVisible(end.failure) });
  return end.nextMs === undefined ? why : `${why}${why.endsWith(".") ? "" : "."} ${nextWords(reader, end.nextMs)}`;
}

function nextWords(reader: PageReader, nextMs: number) {
  return nextMs === 0 ? tell(reader, "r.try.now") : tell(reader, "r.try.next", { span: tellSpan(reader, nextMs) });
}
