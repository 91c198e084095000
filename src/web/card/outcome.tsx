import { type Actor, actorName } from "../../core/people/actor.ts";
import type { Event } from "../../core/trail/event.ts";
import {
  mayForce,
  type Answer,
  type PendingQuestion,
  type Question,
  findAnswer,
} from "../../core/question/question.ts";
import { mayAnswer } from "../../core/people/inbox.ts";
import { msBetween } from "../../core/instant.ts";
import { makeVisible } from "../../core/text/visible.ts";
import { TypedWord } from "./answer-fields.tsx";
import { answerWords } from "../words/answer-words.ts";
import type { CardView } from "./card-view.ts";
import { AwayMachineNotice } from "./away-machine.tsx";
import { OptionList } from "./option-list.tsx";
import { type PageReader, tell, tellSpan } from "../parts/page-reader.ts";
import { cancelWords } from "../words/reason-words.ts";
import { runStateWords } from "../parts/run-badge.tsx";
import { TimeLeft, Moment, finalTimeKey } from "../parts/time.tsx";
import { UntakenAnswer } from "./untaken-answer.tsx";
import { isMessageKey } from "../words/words.ts";

type Reply = NonNullable<PendingQuestion["settling"]>;

/** An answer that can still be undone. */
export function SettlingAnswer({ view, settling }: { view: CardView; settling: Reply }) {
  const { reader, read } = view;
  const { answer, until } = settling;
  const isMine = actorName(answer.by) === reader.id;
  const words = answerWords(reader, read.content, answer);
  return (
    <>
      <UnsentText view={view} answer={isMine ? undefined : answer} />
      <form class="banner ok beside" method="post" action={`/q/${read.question.id}/undo`}>
        <input type="hidden" name="csrf" value={reader.csrf} />
        <p>
          {isMine
            ? tell(reader, "toast", { answer: words })
            : tell(reader, "settling.theirs", { name: makeVisible(actorName(answer.by)), answer: words })}{" "}
          <TimeLeft reader={reader} until={until} as={view.away ? "run.left" : finalTimeKey(read.run, settling)} />
        </p>
        <button type="submit">{tell(reader, "undo")}</button>
      </form>
      {view.away ? <AwayMachineNotice reader={reader} run={read.run} away={view.away} /> : null}
      <OptionList reader={reader} content={read.content} answer={answer} />
    </>
  );
}

/** The outcome of a closed question, and what can still be done. */
export function Outcome({ view }: { view: CardView }) {
  const { reader, read } = view;
  const { question } = read;
  return (
    <>
      <UnsentText view={view} answer={findAnswer(question)} />
      <div class={`banner ${question.status === "answered" ? "ok done" : "wait"}`}>
        <p>
          <Sentence view={view} question={question} />
        </p>
        {findAnswer(question)?.note === undefined ? null : (
          <p>
            {tell(reader, "note")}: {makeVisible(findAnswer(question)?.note ?? "")}
          </p>
        )}
      </div>
      {question.id === read.run.lastQuestionId ? (
        <UntakenAnswer reader={reader} run={read.run} takeover={view.takeover} />
      ) : null}
      {view.away ? <AwayMachineNotice reader={reader} run={read.run} away={view.away} /> : null}
      {question.amendments.map((amendment) => (
        <p class="banner">
          {tell(reader, "amended", { name: makeVisible(actorName(amendment.by)) })}{" "}
          <Moment reader={reader} at={amendment.at} />: {makeVisible(amendment.text)}
          {amendment.handover.state === "void" ? ` (${tell(reader, "amended.late")})` : null}
        </p>
      ))}
      {mayForce(read.run, question) ? null : (
        <OptionList reader={reader} content={read.content} answer={findAnswer(question)} />
      )}
      {isCorrectable(view) && !mayForce(read.run, question) ? <Correction view={view} /> : null}
      {findAnswer(question)?.outcome === "answer" ? (
        <p>
          <a href={`/templates?from=${question.id}#form`}>{tell(reader, "tpl.from")}</a>
        </p>
      ) : null}
    </>
  );
}

function Sentence({ view, question }: { view: CardView; question: Question }) {
  const { reader, read, events } = view;
  const answer = findAnswer(question);
  const said = answer && answerWords(reader, read.content, answer);
  if (question.status === "cancelled") {
    const name = makeVisible(actorName(question.cancelledBy));
    return (
      <>
        {tell(reader, "done.cancelled", { name, reason: cancelWords(reader, question) })}{" "}
        <Moment reader={reader} at={question.cancelledAt} />.
      </>
    );
  }
  if (question.status === "timeout" && !question.forced) {
    return (
      <>
        {tell(reader, "done.timeout")} <Moment reader={reader} at={question.timedOutAt} />.{" "}
        {tell(reader, "done.policy", { policy: tell(reader, `policy.${question.policy}`) })}
        {said === undefined ? "" : `, ${said}`}.{" "}
        {tell(reader, "done.run", { run: `#${read.run.number}`, status: runStateWords(reader, read.run) })}
      </>
    );
  }
  if (!answer) return null;
  return (
    <>
      <AnswerSummary reader={reader} answer={answer} said={said ?? ""} />{" "}
      <Resumed reader={reader} events={events} view={view} />
    </>
  );
}

/** The answer, the person who gave it, when, and through which channel. */
export function AnswerSummary({ reader, answer, said }: { reader: PageReader; answer: Answer; said: string }) {
  const name = answererWords(reader, answer);
  const key = answer.outcome === "answer" ? "done.chose" : answer.outcome === "decide" ? "done.decide" : "done.back";
  return (
    <>
      {tell(reader, key, { name, answer: said })} <Moment reader={reader} at={answer.at} /> (
      {channelWords(reader, answer.by)}).
    </>
  );
}

/** The channel of an actor, marked if it does not prove who the actor is. */
export function channelWords(reader: PageReader, by: Pick<Actor, "channel" | "strength">): string {
  const channel = makeVisible(by.channel);
  return by.strength === "bearer" ? tell(reader, "way.unproven", { channel }) : channel;
}

/** The answerer: a person or a policy. */
export function answererWords(reader: PageReader, answer: Answer): string {
  if (answer.policy === undefined) return makeVisible(actorName(answer.by));
  return tell(reader, "policy", { name: policyWords(reader, answer.policy) });
}

function policyWords(reader: PageReader, policy: string) {
  const key = `policy.${policy}`;
  return isMessageKey(key) ? tell(reader, key) : makeVisible(policy);
}

/** How soon the run got the answer. */
function Resumed({ reader, events, view }: { reader: PageReader; events: readonly Event[]; view: CardView }) {
  const { run } = view.read;
  if (view.away) return null;
  const answered = events.find(({ type }) => type === "question.answered" || type === "question.forced");
  const after = answered && events.slice(events.indexOf(answered) + 1);
  const went = after?.find(({ type }) => type === "run.resumed" || type === "question.given");
  const name = `#${run.number}`;
  if (!answered || !went) return <>{tell(reader, "done.run", { run: name, status: runStateWords(reader, run) })}</>;
  const span = tellSpan(reader, msBetween(answered.at, went.at), 2);
  return <>{tell(reader, "done.resumed", { run: name, span })}</>;
}

/** Text that the reader wrote while somebody else answered, so that it is not lost. */
export function UnsentText({ view, answer }: { view: CardView; answer: Answer | undefined }) {
  const { reader, read, lost } = view;
  const by = answer?.policy === undefined ? answer : undefined;
  const name = by ? makeVisible(actorName(by.by)) : "";
  const words = by ? answerWords(reader, read.content, by) : "";
  return (
    <form
      id="lost"
      class="banner wait"
      method="post"
      action={`/q/${read.question.id}/amend`}
      hidden={lost === undefined}
    >
      <input type="hidden" name="csrf" value={reader.csrf} />
      <p>{by ? tell(reader, "lost", { name, answer: words }) : tell(reader, "lost.other")}</p>
      <label class="t" for="kept">
        {tell(reader, "lost.kept")}
      </label>
      <textarea id="kept" name="text" rows={3}>
        {lost ?? ""}
      </textarea>
      {read.question.risk === "high" ? <TypedWord view={view} id="lost-word" /> : null}
      <div class="rowed">
        <button type="button" data-copy="#kept" hidden>
          {tell(reader, "copy")}
        </button>
        <button type="submit">{tell(reader, "lost.send")}</button>
      </div>
    </form>
  );
}

/** True if this reader alone may correct the answer. */
function isCorrectable({ reader, read: { question } }: CardView) {
  return question.status !== "cancelled" && question.approvals.need === 1 && mayAnswer(question, reader);
}

function Correction({ view }: { view: CardView }) {
  const { reader, read } = view;
  return (
    <details class="correct">
      <summary>{tell(reader, "amend")}</summary>
      <form method="post" action={`/q/${read.question.id}/amend`}>
        <input type="hidden" name="csrf" value={reader.csrf} />
        <label class="t" for="correction">
          {tell(reader, "amend.about")}
        </label>
        <textarea id="correction" name="text" rows={3} required></textarea>
        {read.question.risk === "high" ? <TypedWord view={view} id="correction-word" /> : null}
        <button type="submit">{tell(reader, "amend")}</button>
      </form>
    </details>
  );
}
