import { type Actor, actorName } from "../../core/people/actor.ts";
import type { QuestionSnapshot } from "../../core/changes.ts";
import { type InboxSection, consequenceAt, mayAnswer } from "../../core/people/inbox.ts";
import { HOUR_MS, type Instant, msBetween } from "../../core/instant.ts";
import { findAnswer, isPending } from "../../core/question/question.ts";
import type { Run } from "../../core/run/run.ts";
import { type SameQuestions, sameQuestionKey } from "../../core/question/same-question.ts";
import { makeVisible } from "../../core/text/visible.ts";
import { answerWords } from "../words/answer-words.ts";
import { Command } from "../parts/command.tsx";
import { answererWords } from "../card/outcome.tsx";
import { Paging, type PagePart } from "../parts/paging.tsx";
import { type PageReader, tell, tellSpan } from "../parts/page-reader.ts";
import { TitleText } from "../parts/title-text.tsx";
import { TimeLeft, Moment, TimeSince } from "../parts/time.tsx";
import type { MessageKey } from "../words/words.ts";

/** A group of the list, most urgent question first. */
export interface InboxGroup {
  name: InboxSection | "today" | "past";
  /** Rows on this page; one row for all runs that ask the same. */
  rows: readonly SameQuestions[];
  part: PagePart;
}

/** The list of questions beside a card. */
export interface ListView {
  reader: PageReader;
  groups: readonly InboxGroup[];
  /** The open question. */
  current: string | undefined;
  /** The search text. */
  find: string;
}

const TITLES: Readonly<Record<InboxGroup["name"], MessageKey>> = {
  waiting: "group.waiting",
  claimed: "group.claimed",
  others: "group.others",
  snoozed: "group.snoozed",
  today: "group.today",
  past: "group.past",
};
const FOLDED: ReadonlySet<InboxGroup["name"]> = new Set(["snoozed", "today"]);

/** All questions that concern the reader, in groups. */
export function QuestionList({ reader, groups, current, find }: ListView) {
  return (
    <nav id="list" class={hasSeveral(groups) ? "list boxed" : "list"} aria-label={tell(reader, "list")}>
      <form class="find" method="get" action="/" role="search">
        <input
          type="search"
          name="find"
          value={find}
          aria-label={tell(reader, "find")}
          placeholder={tell(reader, "find")}
        />
      </form>
      <p class="several">
        <button type="submit" class="link" form="batch" formaction="/batch/edit" data-plain>
          {tell(reader, "batch.title")}
        </button>
      </p>
      {groups.map((group) => (
        <GroupRows reader={reader} group={group} current={current} find={find} />
      ))}
    </nav>
  );
}

/** True if there are enough questions for a batch. */
function hasSeveral(groups: readonly InboxGroup[]) {
  return groups.some(({ name, part }) => name === "waiting" && part.count > 1);
}

function GroupRows({ reader, group, current, find }: Omit<ListView, "groups"> & { group: InboxGroup }) {
  const { name, rows, part } = group;
  const isCurrent = (row: SameQuestions) => row.some(({ question }) => question.id === current);
  const isTicked = name === "waiting" && part.count > 1;
  const list = (
    <ul>
      {rows.map((row) => (
        <Row reader={reader} row={row} isCurrent={isCurrent(row)} isTicked={isTicked} />
      ))}
    </ul>
  );
  const more = <Paging reader={reader} title={tell(reader, TITLES[name])} part={part} address="/" find={find} />;
  const title = `${tell(reader, TITLES[name])} (${countWords(reader, group)})`;
  if (!FOLDED.has(name)) {
    return (
      <section data-group={name}>
        <h2>{title}</h2>
        {list}
        {more}
      </section>
    );
  }
  return (
    <section data-group={name}>
      <details open={rows.some(isCurrent)}>
        <summary>
          <h2>{title}</h2>
        </summary>
        {list}
        {more}
      </details>
    </section>
  );
}

/** The number of questions of a group; several may be in one row. */
function countWords(reader: PageReader, { rows, part: { count, most, isCapped } }: InboxGroup) {
  if (isCapped) return `${count}+`;
  const isWhole = count <= most;
  if (!isWhole || rows.length === count) return String(count);
  return tell(reader, rows.length === 1 ? "group.count.one" : "group.count", { n: count, rows: rows.length });
}

function Row(given: { reader: PageReader; row: SameQuestions; isCurrent: boolean; isTicked: boolean }) {
  const { reader, row, isCurrent, isTicked } = given;
  const [read] = row;
  const { question, run } = read;
  const isRisky = isPending(question) && !question.settling && question.risk === "high";
  const ids = row.map((each) => each.question.id).join(" ");
  return (
    <li data-id={question.id} data-ids={row.length > 1 ? ids : undefined}>
      {isTicked ? <Tick reader={reader} read={read} ids={ids} /> : null}
      <a class="row" href={`/q/${question.id}`} aria-current={isCurrent ? "true" : undefined}>
        <span class="q">
          <TitleText title={question.title} />
        </span>
        <span class="m">
          <span class="cut">{row.length > 1 ? tell(reader, "row.runs", { n: row.length }) : runName(run)}</span>
          <RowState reader={reader} read={read} />
          {isRisky ? <span class="bad">{tell(reader, "risk.high")}</span> : null}
          <RowEnd reader={reader} read={read} />
        </span>
      </a>
    </li>
  );
}

/** The check box of a row that can be part of a batch; otherwise an empty space. */
function Tick({ reader, read, ids }: { reader: PageReader; read: QuestionSnapshot; ids: string }) {
  const { question } = read;
  if (!isPending(question) || !mayAnswer(question, reader) || sameQuestionKey(read) === undefined) {
    return <span class="tick"></span>;
  }
  return (
    <label class="tick">
      <input
        type="checkbox"
        form="batch"
        name="q"
        value={ids}
        autocomplete="off"
        aria-label={tell(reader, "row.tick", { title: makeVisible(question.title) })}
      />
    </label>
  );
}

function RowState({ reader, read: { question, content } }: { reader: PageReader; read: QuestionSnapshot }) {
  if (!isPending(question)) {
    const answer = findAnswer(question);
    return (
      <span class="cut">
        {answer ? answerWords(reader, content, answer) : tell(reader, `status.${question.status}`)}
      </span>
    );
  }
  if (question.settling) return <span class="ok">{tell(reader, "row.settling")}</span>;
  if (question.snoozedUntil !== undefined && question.snoozedUntil > reader.now) {
    return (
      <span class="cut">
        {tell(reader, "row.snoozed")} <Moment reader={reader} at={question.snoozedUntil} />
      </span>
    );
  }
  if (question.claim && actorName(question.claim.by) !== reader.id) {
    return (
      <span class="cut">
        {makeVisible(actorName(question.claim.by))}, <TimeSince reader={reader} at={question.claim.at} as="run.since" />
      </span>
    );
  }
  // Risk and deadline matter more; a third fact would leave no room for the run.
  if (question.risk === "high" && consequenceAt(question) !== undefined) return null;
  return <TimeSince reader={reader} at={question.askedAt} as="run.waiting" />;
}

function RowEnd({ reader, read: { question } }: { reader: PageReader; read: QuestionSnapshot }) {
  if (!isPending(question)) {
    const answer = findAnswer(question);
    return answer ? <span class="end">{answererWords(reader, answer)}</span> : null;
  }
  const at = question.settling ? undefined : consequenceAt(question);
  if (at === undefined) return null;
  return (
    <span class={`end${isSoon(reader, at) ? " due" : ""}`}>
      <TimeLeft reader={reader} until={at} as="run.left" />
    </span>
  );
}

function isSoon(reader: PageReader, at: Instant) {
  return msBetween(reader.now, at) < 6 * HOUR_MS;
}

/** The name of a run: `#42 add-caching`. */
export function runName(run: Run): string {
  return makeVisible(`${run.externalId ?? `#${run.number}`} ${run.name}`);
}

/** Data for the page when no question waits. */
export interface IdleView {
  reader: PageReader;
  /** Number of running runs, `100+` where there are more. */
  running: string;
  /** The last answered question, and how long the answer took. */
  last: { at: Instant; tookMs: number; by: Actor } | undefined;
  /** No question was ever asked. */
  isNew: boolean;
  find: string;
}

/** Shown in place of the card when no question is open. */
export function Idle({ view: { reader, running, last, isNew, find } }: { view: IdleView }) {
  if (find !== "") {
    return (
      <main id="main" class="idle">
        <h1>{tell(reader, "find.none")}</h1>
        <p>
          <a href="/">{tell(reader, "find.all")}</a>
        </p>
      </main>
    );
  }
  return (
    <main id="main" class="idle" data-idle>
      <h1>{tell(reader, isNew ? "first.title" : "empty.title")}</h1>
      {isNew ? (
        <p>{tell(reader, "first.about")}</p>
      ) : (
        <p class="quiet">
          {running !== "0" ? (
            <>
              <a href="/runs?state=working">
                {tell(reader, running === "1" ? "empty.runs.one" : "empty.runs", { n: running })}
              </a>{" "}
            </>
          ) : null}
          {last ? (
            <>
              {tell(reader, "empty.last", {
                took: tellSpan(reader, last.tookMs),
                who: makeVisible(actorName(last.by)),
              })}{" "}
              <TimeSince reader={reader} at={last.at} as="run.ago" />.
            </>
          ) : null}
        </p>
      )}
      {isNew ? <TryIt reader={reader} /> : null}
    </main>
  );
}

/** Lets a new reader try a question. */
function TryIt({ reader }: { reader: PageReader }) {
  return (
    <>
      <Command reader={reader} id="try" text={'askd ask "Ready?" -o Yes -o No'} />
      <form method="post" action="/test-question">
        <input type="hidden" name="csrf" value={reader.csrf} />
        <button class="p" type="submit">
          {tell(reader, "first.test")}
        </button>
      </form>
    </>
  );
}
