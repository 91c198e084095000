import { sayActor } from "../../core/people/actor.ts";
import type { Read } from "../../core/changes.ts";
import { msBetween } from "../../core/instant.ts";
import { type Pending, type Question, findAnswer, isPending } from "../../core/question/question.ts";
import { makeVisible } from "../../core/text/visible.ts";
import { AnswerFields } from "../card/answer-fields.tsx";
import { answerWords } from "../answer-words.ts";
import { Chips, Crumb, Why } from "../card/card.tsx";
import { AskBack } from "../card/question-menu.tsx";
import { type Draft, OTHER } from "../parts/form-draft.ts";
import { labelWords } from "../words/answer-words.ts";
import { Options } from "../card/option-list.tsx";
import { Chosen } from "../card/outcome.tsx";
import { type Reader, tell, tellSpan } from "../parts/reader.ts";
import { reasonWords } from "../words/reason-words.ts";
import { Moment } from "../parts/time.tsx";
import { Votes } from "../card/votes.tsx";
import { type Language, say } from "../words/words.ts";

/** As many options as the style has words for. */
const MOST_SAID = 9;

/** One question for one person who is not signed in. */
export interface LinkView {
  reader: Reader;
  read: Read;
  /** Where its form is sent. */
  path: string;
  draft: Draft;
  /** Why the form was not taken. */
  problem?: string;
  /** What was written, where the question was closed meanwhile. */
  lost?: string;
}

/** The question, who the reader is, and the form or what became of it. */
export function LinkPage({ view }: { view: LinkView }) {
  const { reader, read } = view;
  const { question } = read;
  return (
    <>
      <Crumb view={{ reader, read, usage: undefined }} isGuest />
      <h1>{makeVisible(question.title)}</h1>
      {isPending(question) && !question.settling ? (
        <Open view={view} question={question} />
      ) : (
        <>
          <Became view={view} />
          <Lost view={view} />
          <Why view={view} />
          <Options
            reader={reader}
            content={read.content}
            answer={isPending(question) ? question.settling?.answer : findAnswer(question)}
          />
        </>
      )}
    </>
  );
}

/** Says that an address leads nowhere, and nothing about why. */
export function BadLink({ language }: { language: Language }) {
  return (
    <>
      <h1>{say(language, "link.bad")}</h1>
      <p>{say(language, "link.badAbout")}</p>
    </>
  );
}

function Open({ view, question }: { view: LinkView; question: Pending }) {
  const { reader, read } = view;
  const name = makeVisible(reader.id);
  return (
    <>
      <Chips view={view} />
      <p class="banner">
        <strong>{tell(reader, "link.as", { name })}</strong> {tell(reader, "link.personal", { name })}
      </p>
      <Why view={view} />
      <Votes reader={reader} read={read} question={question} />
      <LinkForm view={view} />
    </>
  );
}

/** What became of the question, before anything else about it. */
function Became({ view }: { view: LinkView }) {
  const { question } = view.read;
  if (!isPending(question)) return <Closed view={view} question={question} />;
  return question.settling ? <Settling view={view} settling={question.settling} /> : null;
}

function Settling({ view, settling }: { view: LinkView; settling: NonNullable<Pending["settling"]> }) {
  const { reader, read, path } = view;
  const answer = answerWords(reader, read.content, settling.answer);
  const name = sayActor(settling.answer.by);
  if (name !== reader.id) {
    return <p class="banner wait">{tell(reader, "settling.theirs", { name: makeVisible(name), answer })}</p>;
  }
  const span = tellSpan(reader, Math.max(0, msBetween(reader.now, settling.until)));
  return (
    <form class="banner ok beside" method="post" action={`${path}/undo`}>
      <p>
        {tell(reader, "toast", { answer })} {tell(reader, "link.undo", { span })}
      </p>
      <button type="submit">{tell(reader, "undo")}</button>
    </form>
  );
}

function Closed({ view, question }: { view: LinkView; question: Question }) {
  const { reader, read } = view;
  const answer = findAnswer(question);
  const isOwn = answer !== undefined && sayActor(answer.by) === reader.id;
  return (
    <div class={`banner ${answer ? "ok done" : "wait"}`}>
      <p>
        {answer ? <Chosen reader={reader} answer={answer} said={answerWords(reader, read.content, answer)} /> : null}
        <Ended reader={reader} question={question} />
      </p>
      <p>{tell(reader, isOwn ? "link.yours" : "link.closed")}</p>
    </div>
  );
}

/** When and how it ended without an answer. */
function Ended({ reader, question }: { reader: Reader; question: Question }) {
  if (question.status === "cancelled") {
    const name = makeVisible(sayActor(question.cancelledBy));
    return (
      <>
        {tell(reader, "done.cancelled", { name, reason: reasonWords(reader, question.reason) })}{" "}
        <Moment reader={reader} at={question.cancelledAt} />.
      </>
    );
  }
  if (question.status !== "timeout" || question.forced) return null;
  return (
    <>
      {tell(reader, "done.timeout")} <Moment reader={reader} at={question.timedOutAt} />.
    </>
  );
}

function Lost({ view: { reader, lost } }: { view: LinkView }) {
  if (lost === undefined) return null;
  return (
    <>
      <label class="t" for="kept">
        {tell(reader, "link.kept")}
      </label>
      <textarea id="kept" rows={4} readonly>
        {lost}
      </textarea>
    </>
  );
}

function LinkForm({ view }: { view: LinkView }) {
  const { reader, path } = view;
  const { question } = view.read;
  return (
    <form id="answer" method="post" action={path}>
      <AnswerFields view={view} />
      <div class="act">
        <button class="p says" type="submit" name="do" value="answer">
          <Says view={view} />
        </button>
        {question.accepts.includes("clarify") || question.kind === "approval" ? <AskBack view={view} /> : null}
        {question.accepts.includes("decide") && question.kind !== "approval" ? (
          <button type="submit" name="do" value="decide" formnovalidate>
            {tell(reader, "decide")}
          </button>
        ) : null}
      </div>
    </form>
  );
}

/** Repeats the choice on the button that sends it. There is no script here: the style shows the words of what is chosen. */
function Says({ view: { reader, read } }: { view: LinkView }) {
  const [item, second] = read.content.items;
  const isShort = item && !second && !item.multiple && item.options.length <= MOST_SAID;
  const options = isShort ? item.options : [];
  return (
    <>
      <span data-for="">{tell(reader, "link.send")}</span>
      {options.map((option, place) => (
        <span data-for={String(place)}>
          {item ? tell(reader, "answer.say", { answer: labelWords(reader, item, option) }) : null}
        </span>
      ))}
      {options.length > 0 ? <span data-for={OTHER}>{tell(reader, "link.sendWords")}</span> : null}
    </>
  );
}
