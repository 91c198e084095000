import { actorName } from "../../core/people/actor.ts";
import type { QuestionSnapshot } from "../../core/changes.ts";
import { msBetween } from "../../core/instant.ts";
import { type PendingQuestion, type Question, findAnswer, isPending } from "../../core/question/question.ts";
import { makeVisible } from "../../core/text/visible.ts";
import { AnswerFields } from "../card/answer-fields.tsx";
import { answerWords, labelWords } from "../words/answer-words.ts";
import { QuestionChips, QuestionCrumb, QuestionContext } from "../card/card.tsx";
import { AskBack } from "../card/question-menu.tsx";
import { type FormDraft, OTHER_CHOICE } from "../parts/form-draft.ts";
import { OptionList } from "../card/option-list.tsx";
import { AnswerSummary } from "../card/outcome.tsx";
import { type PageReader, tell, tellSpan } from "../parts/page-reader.ts";
import { cancelWords } from "../words/reason-words.ts";
import { Moment } from "../parts/time.tsx";
import { Votes } from "../card/votes.tsx";
import type { Language } from "../../core/text/language.ts";
import { say } from "../words/words.ts";
import { TitleText } from "../parts/title-text.tsx";

/** The style sheet has rules for this many options. */
const MOST_SAID = 9;

/** One question for one person who is not signed in. */
export interface LinkView {
  reader: PageReader;
  read: QuestionSnapshot;
  /** Address that the form is sent to. */
  path: string;
  draft: FormDraft;
  /** Why the form was rejected. */
  problem?: string;
  /** The person's unsent text, if the question was closed meanwhile. */
  lost?: string;
}

/** The question, the identity of the reader, and the form or the outcome. */
export function LinkPage({ view }: { view: LinkView }) {
  const { reader, read } = view;
  const { question } = read;
  return (
    <>
      <QuestionCrumb view={{ reader, read, usage: undefined }} isGuest />
      <h1>
        <TitleText title={question.title} />
      </h1>
      {isPending(question) && !question.settling ? (
        <Open view={view} question={question} />
      ) : (
        <>
          <Became view={view} />
          <Lost view={view} />
          <QuestionContext view={view} />
          <OptionList
            reader={reader}
            content={read.content}
            answer={isPending(question) ? question.settling?.answer : findAnswer(question)}
          />
        </>
      )}
    </>
  );
}

/** Says that a link is not valid, and never why. */
export function BadLink({ language }: { language: Language }) {
  return (
    <>
      <h1>{say(language, "link.bad")}</h1>
      <p>{say(language, "link.badAbout")}</p>
    </>
  );
}

function Open({ view, question }: { view: LinkView; question: PendingQuestion }) {
  const { reader, read } = view;
  const name = makeVisible(reader.id);
  return (
    <>
      <QuestionChips view={view} />
      <p class="banner">
        <strong>{tell(reader, "link.as", { name })}</strong> {tell(reader, "link.personal", { name })}
      </p>
      <QuestionContext view={view} />
      <Votes reader={reader} read={read} question={question} />
      <LinkForm view={view} />
    </>
  );
}

/** The outcome of the question, before anything else. */
function Became({ view }: { view: LinkView }) {
  const { question } = view.read;
  if (!isPending(question)) return <Closed view={view} question={question} />;
  return question.settling ? <Settling view={view} settling={question.settling} /> : null;
}

function Settling({ view, settling }: { view: LinkView; settling: NonNullable<PendingQuestion["settling"]> }) {
  const { reader, read, path } = view;
  const answer = answerWords(reader, read.content, settling.answer);
  const name = actorName(settling.answer.by);
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
  const isOwn = answer !== undefined && actorName(answer.by) === reader.id;
  return (
    <div class={`banner ${answer ? "ok done" : "wait"}`}>
      <p>
        {answer ? (
          <AnswerSummary reader={reader} answer={answer} said={answerWords(reader, read.content, answer)} />
        ) : null}
        <Ended reader={reader} question={question} />
      </p>
      <p>{tell(reader, isOwn ? "link.yours" : "link.closed")}</p>
    </div>
  );
}

/** When and how the question ended without an answer. */
function Ended({ reader, question }: { reader: PageReader; question: Question }) {
  if (question.status === "cancelled") {
    const name = makeVisible(actorName(question.cancelledBy));
    return (
      <>
        {tell(reader, "done.cancelled", { name, reason: cancelWords(reader, question) })}{" "}
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

/** Repeats the choice on the button. This page has no script: the style sheet shows the label of the chosen option. */
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
      {options.length > 0 ? <span data-for={OTHER_CHOICE}>{tell(reader, "link.sendWords")}</span> : null}
    </>
  );
}
