import { type Actor, sayActor } from "../../core/people/actor.ts";
import type { Event } from "../../core/trail/event.ts";
import { mayForce } from "../../core/force.ts";
import { mayAnswer } from "../../core/people/inbox.ts";
import { msBetween } from "../../core/instant.ts";
import { type Answer, type Pending, type Question, findAnswer } from "../../core/question/question.ts";
import { makeVisible } from "../../core/text/visible.ts";
import { TypedWord } from "./answer-fields.tsx";
import { answerWords } from "../answer-words.ts";
import type { CardView } from "./card-view.ts";
import { MachineAway } from "./away-machine.tsx";
import { Options } from "./option-list.tsx";
import { type Reader, tell, tellSpan } from "../parts/reader.ts";
import { reasonWords } from "../words/reason-words.ts";
import { stateWords } from "../parts/run-badge.tsx";
import { Left, Moment, finalAs } from "../parts/time.tsx";
import { Untaken } from "./untaken-answer.tsx";
import { isKey } from "../words/words.ts";

type Reply = NonNullable<Pending["settling"]>;

/** An answer that can still be taken back. */
export function Settling({ view, settling }: { view: CardView; settling: Reply }) {
  const { reader, read } = view;
  const { answer, until } = settling;
  const isMine = sayActor(answer.by) === reader.id;
  const words = answerWords(reader, read.content, answer);
  return (
    <>
      <Lost view={view} answer={isMine ? undefined : answer} />
      <form class="banner ok beside" method="post" action={`/q/${read.question.id}/undo`}>
        <input type="hidden" name="csrf" value={reader.csrf} />
        <p>
          {isMine
            ? tell(reader, "toast", { answer: words })
            : tell(reader, "settling.theirs", { name: makeVisible(sayActor(answer.by)), answer: words })}{" "}
          <Left reader={reader} until={until} as={view.away ? "run.left" : finalAs(read.run, settling)} />
        </p>
        <button type="submit">{tell(reader, "undo")}</button>
      </form>
      {view.away ? <MachineAway reader={reader} run={read.run} away={view.away} /> : null}
      <Options reader={reader} content={read.content} answer={answer} />
    </>
  );
}

/** What became of a question that is closed, and what can still be done. */
export function Outcome({ view }: { view: CardView }) {
  const { reader, read } = view;
  const { question } = read;
  return (
    <>
      <Lost view={view} answer={findAnswer(question)} />
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
        <Untaken reader={reader} run={read.run} takeover={view.takeover} />
      ) : null}
      {view.away ? <MachineAway reader={reader} run={read.run} away={view.away} /> : null}
      {question.amendments.map((amendment) => (
        <p class="banner">
          {tell(reader, "amended", { name: makeVisible(sayActor(amendment.by)) })}{" "}
          <Moment reader={reader} at={amendment.at} />: {makeVisible(amendment.text)}
          {amendment.handover.state === "void" ? ` (${tell(reader, "amended.late")})` : null}
        </p>
      ))}
      {mayForce(read.run, question) ? null : (
        <Options reader={reader} content={read.content} answer={findAnswer(question)} />
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
    const name = makeVisible(sayActor(question.cancelledBy));
    return (
      <>
        {tell(reader, "done.cancelled", { name, reason: reasonWords(reader, question.reason) })}{" "}
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
        {tell(reader, "done.run", { run: `#${read.run.number}`, status: stateWords(reader, read.run) })}
      </>
    );
  }
  if (!answer) return null;
  return (
    <>
      <Chosen reader={reader} answer={answer} said={said ?? ""} />{" "}
      <Resumed reader={reader} events={events} view={view} />
    </>
  );
}

/** Who answered what, when and through what. */
export function Chosen({ reader, answer, said }: { reader: Reader; answer: Answer; said: string }) {
  const name = whoWords(reader, answer);
  const key = answer.outcome === "answer" ? "done.chose" : answer.outcome === "decide" ? "done.decide" : "done.back";
  return (
    <>
      {tell(reader, key, { name, answer: said })} <Moment reader={reader} at={answer.at} /> (
      {wayWords(reader, answer.by)}).
    </>
  );
}

/** The way by which somebody spoke, and that it proves nobody where anybody could have come that way. */
export function wayWords(reader: Reader, by: Pick<Actor, "channel" | "strength">): string {
  const channel = makeVisible(by.channel);
  return by.strength === "bearer" ? tell(reader, "way.unproven", { channel }) : channel;
}

/** Who answered: a person, or the policy that did. */
export function whoWords(reader: Reader, answer: Answer): string {
  if (answer.policy === undefined) return makeVisible(sayActor(answer.by));
  return tell(reader, "policy", { name: policyWords(reader, answer.policy) });
}

function policyWords(reader: Reader, policy: string): string {
  const key = `policy.${policy}`;
  return isKey(key) ? tell(reader, key) : makeVisible(policy);
}

/** How soon the run went on. */
function Resumed({ reader, events, view }: { reader: Reader; events: readonly Event[]; view: CardView }) {
  const { run } = view.read;
  if (view.away) return null;
  const answered = events.find(({ type }) => type === "question.answered" || type === "question.forced");
  const after = answered && events.slice(events.indexOf(answered) + 1);
  const went = after?.find(({ type }) => type === "run.resumed" || type === "question.given");
  const name = `#${run.number}`;
  if (!answered || !went) return <>{tell(reader, "done.run", { run: name, status: stateWords(reader, run) })}</>;
  const span = tellSpan(reader, msBetween(answered.at, went.at), 2);
  return <>{tell(reader, "done.resumed", { run: name, span })}</>;
}

/** What the reader wrote while somebody else answered; nothing of it is lost. */
export function Lost({ view, answer }: { view: CardView; answer: Answer | undefined }) {
  const { reader, read, lost } = view;
  const by = answer?.policy === undefined ? answer : undefined;
  const name = by ? makeVisible(sayActor(by.by)) : "";
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

/** Says whether this reader alone may correct what was answered. */
function isCorrectable({ reader, read: { question } }: CardView): boolean {
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
