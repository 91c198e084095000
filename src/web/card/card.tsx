import { sayActor } from "../../core/people/actor.ts";
import { recommendedOption } from "../../core/question/content.ts";
import { mayForce } from "../../core/force.ts";
import { consequenceAt, mayAnswer } from "../../core/people/inbox.ts";
import { type Pending, type Question, findAnswer, isPending } from "../../core/question/question.ts";
import { isRiskUnverified } from "../../core/question/risk.ts";
import { makeVisible } from "../../core/text/visible.ts";
import { AnswerForm } from "./answer-form.tsx";
import { Aside } from "./card-aside.tsx";
import type { CardView } from "./card-view.ts";
import { sayFact } from "../words/fact-words.ts";
import { Markdown } from "../foreign.tsx";
import { splitContext } from "../parts/markdown.tsx";
import { sayShare, sayUsd } from "../parts/number-format.ts";
import { Options } from "./option-list.tsx";
import { Outcome, Settling } from "./outcome.tsx";
import { tell } from "../parts/reader.ts";
import { thenWords } from "../then.ts";
import { Left, Moment, Since } from "../parts/time.tsx";
import { Votes } from "./votes.tsx";

/** A question with everything that is needed to answer it well, in the order that all surfaces share. */
export function Card({ view }: { view: CardView }) {
  const { read } = view;
  const { question } = read;
  const isRisky = question.risk === "high" && isPending(question);
  return (
    <main
      id="main"
      class={isRisky ? "card risky" : "card"}
      data-id={question.id}
      data-state={stateOf(view)}
      data-by={answeredBy(question)}
      data-filled={view.draft.size > 0 ? "yes" : undefined}
    >
      <h1 class="inbox-title">{tell(view.reader, "nav.inbox")}</h1>
      <Crumb view={view} />
      <h1>{makeVisible(question.title)}</h1>
      <Chips view={view} />
      <div class="grid">
        <div>
          <Why view={view} />
          <div id="state">
            <State view={view} />
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
        <Aside view={view} />
      </div>
    </main>
  );
}

/** Names what can be done with a card: where that changes, the form goes and what was written is kept. */
export function stateOf({ reader, read: { question } }: CardView): string {
  if (!isPending(question)) return question.status === "timeout" && question.forced ? "forced" : question.status;
  if (question.settling) return "settling";
  if (!mayAnswer(question, reader)) return "closed";
  return question.votes.some((vote) => sayActor(vote.by) === reader.id) ? "voted" : "open";
}

/** Whose answer counts, or is about to. */
export function answeredBy(question: Question): string | undefined {
  const answer = isPending(question) ? question.settling?.answer : findAnswer(question);
  return answer && sayActor(answer.by);
}

/** What can be done with a question now, or what became of it. */
export function State({ view }: { view: CardView }) {
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
  if (question.settling) return <Settling view={view} settling={question.settling} />;
  if (!mayAnswer(question, reader)) return <NoAccess view={view} question={question} />;
  return (
    <>
      <Notices view={view} question={question} />
      <AnswerForm view={view} isForced={false} />
    </>
  );
}

function NoAccess({ view: { reader, read }, question }: { view: CardView; question: Pending }) {
  const names = question.approvals.from.map(makeVisible).join(", ");
  return (
    <>
      <form class="banner wait beside" method="post" action={`/q/${question.id}/comment`}>
        <input type="hidden" name="csrf" value={reader.csrf} />
        <input type="hidden" name="text" value={tell(reader, "access.words", { name: reader.id })} />
        <p>{tell(reader, "access.none", { names, name: reader.id })}</p>
        <button type="submit">{tell(reader, "access.ask")}</button>
      </form>
      <Options reader={reader} content={read.content} />
    </>
  );
}

/** What somebody should know before they answer. */
function Notices({ view: { reader, read }, question }: { view: CardView; question: Pending }) {
  const { claim } = question;
  const isTheirs = claim && sayActor(claim.by) !== reader.id;
  return (
    <div id="notices">
      {isTheirs ? (
        <p class="banner wait">
          {tell(reader, "claimed", { name: makeVisible(sayActor(claim.by)) })}{" "}
          <Since reader={reader} at={claim.at} as="run.since" />. {tell(reader, "claimed.still")}
        </p>
      ) : null}
      <Votes reader={reader} read={read} question={question} />
    </div>
  );
}

type CrumbView = Pick<CardView, "reader" | "read" | "usage">;

/** Where the question comes from, in one muted line; who is not signed in cannot go there. */
export function Crumb({ view: { reader, read, usage }, isGuest }: { view: CrumbView; isGuest?: true }) {
  const { run } = read;
  const name = makeVisible(`${tell(reader, "run")} ${run.externalId ?? `#${run.number}`} ${run.name}`);
  const turns =
    usage && usage.turns > 0 ? tell(reader, usage.turns === 1 ? "turn" : "turns", { n: usage.turns }) : undefined;
  const cost = usage && usage.costUsd > 0 ? tell(reader, "cost", { usd: sayUsd(reader, usage.costUsd) }) : undefined;
  const agent = run.agent === "none" ? undefined : sayFact(reader, run, "agent", run.agent);
  return (
    <p class="crumb">
      {run.repo === undefined ? null : <span>{makeVisible(sayFact(reader, run, "repo", run.repo))}</span>}
      {run.branch === undefined ? null : <span class="mono">{makeVisible(run.branch)}</span>}
      {isGuest ? <span>{name}</span> : <a href={`/r/${run.id}`}>{name}</a>}
      {[agent, turns, cost].map((part) => (part === undefined ? null : <span>{makeVisible(part)}</span>))}
    </p>
  );
}

/** What to know before answering, at a glance. */
export function Chips({ view: { reader, read } }: { view: Pick<CardView, "reader" | "read"> }) {
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

/** Until when, and what happens then: always a sentence. Where an answer is there, there is nothing to wait for. */
function Clock({ view: { reader, read }, question }: { view: Pick<CardView, "reader" | "read">; question: Pending }) {
  const { hold } = question;
  const at = consequenceAt(question);
  // An agent that goes on by itself closes the question with that: the later deadline never comes.
  const goesOn = hold?.after === "proceed" && at === hold.until;
  if (question.settling) return null;
  return (
    <>
      {hold && !goesOn ? (
        <span class="chip wait">
          {tell(reader, "chip.held")} <Left reader={reader} until={hold.until} as="run.left" units={2} />
        </span>
      ) : null}
      <span class="chip wait">
        <Since reader={reader} at={question.askedAt} as="run.waiting" />
      </span>
      <span class={goesOn ? "chip wait" : "chip"}>
        {at === undefined ? (
          tell(reader, "chip.noDue")
        ) : (
          <>
            {tell(reader, "chip.by")} <Moment reader={reader} at={at} />,{" "}
            <Left reader={reader} until={at} as="run.left" units={2} />. {tell(reader, "chip.then")}{" "}
            {goesOn ? tell(reader, "then.proceed") : thenWords(reader, question, read.content)}
          </>
        )}
      </span>
    </>
  );
}

/** Why it matters: the first lines, and more when asked for. */
export function Why({ view: { reader, read } }: { view: Pick<CardView, "reader" | "read"> }) {
  const { content, question } = read;
  const { lead, rest } = splitContext(content.context ?? "");
  return (
    <>
      {isWhole(question, content.items) ? null : <Markdown text={content.items[0]?.text ?? ""} />}
      {lead === "" ? null : <Markdown text={lead} />}
      {rest === "" ? null : (
        <details class="context">
          <summary>{tell(reader, "context")}</summary>
          <Markdown text={rest} />
        </details>
      )}
    </>
  );
}

/** Says whether the heading has all that was asked. */
function isWhole({ title }: Question, items: CardView["read"]["content"]["items"]): boolean {
  return items.length > 1 || title === items[0]?.text.trim();
}
