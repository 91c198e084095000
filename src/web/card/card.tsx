import { actorName } from "../../core/people/actor.ts";
import { type Content, recommendedOption } from "../../core/question/content.ts";
import { type PendingQuestion, type Question, findAnswer, isPending, mayForce } from "../../core/question/question.ts";
import { consequenceAt, mayAnswer } from "../../core/people/inbox.ts";
import { isRiskUnverified } from "../../core/question/risk.ts";
import { makeVisible } from "../../core/text/visible.ts";
import { AnswerForm } from "./answer-form.tsx";
import { CardAside } from "./card-aside.tsx";
import type { CardView } from "./card-view.ts";
import { factWords } from "../words/fact-words.ts";
import { MarkdownText, splitContext } from "../parts/markdown.tsx";
import { sayShare } from "../parts/number-format.ts";
import { sayCost, sayTurns } from "../parts/usage.ts";
import { OptionList } from "./option-list.tsx";
import { Outcome, SettlingAnswer } from "./outcome.tsx";
import { type PageReader, tell } from "../parts/page-reader.ts";
import { TimeLeft, Moment, TimeSince } from "../parts/time.tsx";
import { Votes } from "./votes.tsx";
import { TitleText } from "../parts/title-text.tsx";

/** A question with everything needed to answer it, in the same order as in the terminal and in messages. */
export function Card({ view }: { view: CardView }) {
  const { read } = view;
  const { question } = read;
  const isRisky = question.risk === "high" && isPending(question);
  return (
    <main
      id="main"
      class={isRisky ? "card risky" : "card"}
      data-id={question.id}
      data-state={cardState(view)}
      data-by={answeredBy(question)}
      data-filled={view.draft.size > 0 ? "yes" : undefined}
    >
      <h1 class="inbox-title">{tell(view.reader, "nav.inbox")}</h1>
      <QuestionCrumb view={view} />
      <h1>
        <TitleText title={question.title} />
      </h1>
      <QuestionChips view={view} />
      <div class="grid">
        <div>
          <QuestionContext view={view} />
          <div id="state">
            <QuestionState view={view} />
          </div>
          {view.hasWork ? (
            <section id="work" class="work" data-src={`/q/${question.id}/work`}>
              <h2>{tell(view.reader, "work")}</h2>
              <p>
                <a href={`/q/${question.id}/work`}>{tell(view.reader, "work.show")}</a>
              </p>
            </section>
          ) : null}
        </div>
        <CardAside view={view} />
      </div>
    </main>
  );
}

/** Names what the reader can do with a card. When it changes, the script replaces the form and keeps the text. */
export function cardState({ reader, read: { question } }: CardView): string {
  if (!isPending(question)) return question.status === "timeout" && question.forced ? "forced" : question.status;
  if (question.settling) return "settling";
  if (!mayAnswer(question, reader)) return "closed";
  return question.votes.some((vote) => actorName(vote.by) === reader.id) ? "voted" : "open";
}

/** The person who gave the answer, final or not. */
export function answeredBy(question: Question): string | undefined {
  const answer = isPending(question) ? question.settling?.answer : findAnswer(question);
  return answer && actorName(answer.by);
}

/** The form of an open question, or the outcome of a closed one. */
export function QuestionState({ view }: { view: CardView }) {
  const { reader, read } = view;
  const { question } = read;
  if (!isPending(question)) {
    return (
      <>
        <Outcome view={view} />
        {mayForce(read.run, question) && mayAnswer(question, reader) ? (
          <>
            <p>{tell(reader, "anyway")}</p>
            <AnswerForm view={view} isForced />
          </>
        ) : null}
      </>
    );
  }
  if (question.settling) return <SettlingAnswer view={view} settling={question.settling} />;
  if (!mayAnswer(question, reader)) return <NoAccess view={view} question={question} />;
  return (
    <>
      <Notices view={view} question={question} />
      <AnswerForm view={view} isForced={false} />
    </>
  );
}

function NoAccess({ view: { reader, read }, question }: { view: CardView; question: PendingQuestion }) {
  const names = question.approvals.from.map(makeVisible).join(", ");
  return (
    <>
      <form class="banner wait beside" method="post" action={`/q/${question.id}/comment`}>
        <input type="hidden" name="csrf" value={reader.csrf} />
        <input type="hidden" name="text" value={tell(reader, "access.words", { name: reader.id })} />
        <p>{tell(reader, "access.none", { names, name: reader.id })}</p>
        <button type="submit">{tell(reader, "access.ask")}</button>
      </form>
      <OptionList reader={reader} content={read.content} />
    </>
  );
}

/** Claims and votes to know about before answering. */
function Notices({ view: { reader, read }, question }: { view: CardView; question: PendingQuestion }) {
  const { claim } = question;
  const isTheirs = claim && actorName(claim.by) !== reader.id;
  return (
    <div id="notices">
      {isTheirs ? (
        <p class="banner wait">
          {tell(reader, "claimed", { name: makeVisible(actorName(claim.by)) })}{" "}
          <TimeSince reader={reader} at={claim.at} as="run.since" />. {tell(reader, "claimed.still")}
        </p>
      ) : null}
      <Votes reader={reader} read={read} question={question} />
    </div>
  );
}

type CrumbView = Pick<CardView, "reader" | "read" | "usage">;

/** Where the question comes from, in one muted line. Guests get no link to the run. */
export function QuestionCrumb({ view: { reader, read, usage }, isGuest }: { view: CrumbView; isGuest?: true }) {
  const { run } = read;
  const { issue } = read.question;
  const name = makeVisible(`${tell(reader, "run")} ${run.externalId ?? `#${run.number}`} ${run.name}`);
  const turns = usage && sayTurns(reader, usage);
  const cost = usage && sayCost(reader, usage, "cost");
  const agent = run.agent === "none" ? undefined : factWords(reader, run, "agent", run.agent);
  return (
    <p class="crumb">
      {run.repo === undefined ? null : <span>{makeVisible(factWords(reader, run, "repo", run.repo))}</span>}
      {run.branch === undefined ? null : <span class="mono">{makeVisible(run.branch)}</span>}
      {issue === undefined ? null : <span>{makeVisible(`${issue.repo ?? ""}#${issue.number}`)}</span>}
      {isGuest ? <span>{name}</span> : <a href={`/r/${run.id}`}>{name}</a>}
      {[agent, turns, cost].map((part) => (part === undefined ? null : <span>{makeVisible(part)}</span>))}
    </p>
  );
}

/** Risk, deadline and recommendation as short labels. */
export function QuestionChips({ view: { reader, read } }: { view: Pick<CardView, "reader" | "read"> }) {
  const { question, content } = read;
  const only = content.items.length === 1 ? content.items[0] : undefined;
  const lean = only && recommendedOption(only);
  const sure = question.confidence === undefined ? "" : `, ${sayShare(reader, question.confidence)}`;
  const isRisky = question.risk === "high";
  return (
    <div class="bar" id="chips">
      {isRisky ? <span class="chip bad">{tell(reader, "risk.undo")}</span> : null}
      {question.approvals.need > 1 ? (
        <span class="chip bad">{tell(reader, "chip.need", { n: question.approvals.need })}</span>
      ) : null}
      {isPending(question) ? <Clock view={{ reader, read }} question={question} /> : null}
      {lean && !isRisky ? (
        <span class="chip">{tell(reader, "chip.lean", { label: makeVisible(lean.label) }) + sure}</span>
      ) : null}
      {question.risk === "low" ? (
        <span class="chip">{tell(reader, isRiskUnverified(question) ? "risk.low.said" : "risk.low")}</span>
      ) : null}
    </div>
  );
}

/** The deadline and what happens then. Empty while an answer can still be undone. */
function Clock({
  view: { reader, read },
  question,
}: {
  view: Pick<CardView, "reader" | "read">;
  question: PendingQuestion;
}) {
  const { hold } = question;
  const at = consequenceAt(question);
  // An agent that proceeds by itself closes the question, so the later deadline never comes.
  const goesOn = hold?.after === "proceed" && at === hold.until;
  if (question.settling) return null;
  return (
    <>
      {hold && !goesOn ? (
        <span class="chip wait">
          {tell(reader, "chip.held")} <TimeLeft reader={reader} until={hold.until} as="run.left" units={2} />
        </span>
      ) : null}
      <span class="chip wait">
        <TimeSince reader={reader} at={question.askedAt} as="run.waiting" />
      </span>
      <span class={goesOn ? "chip wait" : "chip"}>
        {at === undefined ? (
          tell(reader, "chip.noDue")
        ) : (
          <>
            {tell(reader, "chip.by")} <Moment reader={reader} at={at} />,{" "}
            <TimeLeft reader={reader} until={at} as="run.left" units={2} />. {tell(reader, "chip.then")}{" "}
            {goesOn ? tell(reader, "then.proceed") : timeoutWords(reader, question, read.content)}
          </>
        )}
      </span>
    </>
  );
}

/** The effect of the deadline, in the reader's language. */
function timeoutWords(reader: PageReader, question: Pick<Question, "onTimeout">, content: Content) {
  const given = question.onTimeout.answer;
  const only = content.items.length === 1 ? content.items[0] : undefined;
  const option = only?.options.find(
    ({ key, value, label }) => given !== undefined && [key, value, label].includes(given),
  );
  return tell(reader, `then.${question.onTimeout.do}`, { answer: makeVisible(option?.label ?? given ?? "") });
}

/** The context of the question: the first lines, the rest folded. An approval is shown whole, never folded. */
export function QuestionContext({ view: { reader, read } }: { view: Pick<CardView, "reader" | "read"> }) {
  const { content, question } = read;
  const context = content.context ?? "";
  const { lead, rest } = question.kind === "approval" ? { lead: context, rest: "" } : splitContext(context);
  return (
    <>
      {isWhole(question, content.items) ? null : <MarkdownText text={content.items[0]?.text ?? ""} />}
      {lead === "" ? null : <MarkdownText text={lead} isAllowed={question.kind === "approval"} />}
      {rest === "" ? null : (
        <details class="context">
          <summary>{tell(reader, "context")}</summary>
          <MarkdownText text={rest} />
        </details>
      )}
    </>
  );
}

/** True if the title is the whole question. */
function isWhole({ title }: Question, items: CardView["read"]["content"]["items"]) {
  return items.length > 1 || title === items[0]?.text.trim();
}
