import { type Actor, sayActor } from "../../core/people/actor.ts";
import type { Read } from "../../core/changes.ts";
import { type Place, consequenceAt, mayAnswer } from "../../core/people/inbox.ts";
import { HOUR_MS, type Instant, msBetween } from "../../core/instant.ts";
import { findAnswer, isPending } from "../../core/question/question.ts";
import type { Run } from "../../core/run/run.ts";
import { type Same, sameName } from "../../core/question/same-question.ts";
import { makeVisible } from "../../core/text/visible.ts";
import { answerWords } from "../answer-words.ts";
import { Command } from "../parts/command.tsx";
import { whoWords } from "../card/outcome.tsx";
import { Paging, type Part } from "../parts/paging.tsx";
import { type Reader, tell, tellSpan } from "../parts/reader.ts";
import { Left, Moment, Since } from "../parts/time.tsx";
import type { Key } from "../words/words.ts";

/** A part of the list, with its questions in the order in which to look at them. */
export interface Group {
  name: Place | "today" | "past";
  /** Those on this page of the group; one row for those that ask the same. */
  rows: readonly Same[];
  part: Part;
}

/** The list of questions beside a card. */
export interface ListView {
  reader: Reader;
  groups: readonly Group[];
  /** The question that is open. */
  current: string | undefined;
  /** What the reader looks for. */
  find: string;
}

const TITLES: Readonly<Record<Group["name"], Key>> = {
  waiting: "group.waiting",
  claimed: "group.claimed",
  others: "group.others",
  snoozed: "group.snoozed",
  today: "group.today",
  past: "group.past",
};
const FOLDED: ReadonlySet<Group["name"]> = new Set(["snoozed", "today"]);

/** All questions that concern the reader, grouped. */
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

/** Says whether there is enough to answer some of it together. */
function hasSeveral(groups: readonly Group[]): boolean {
  return groups.some(({ name, part }) => name === "waiting" && part.count > 1);
}

function GroupRows({ reader, group, current, find }: Omit<ListView, "groups"> & { group: Group }) {
  const { name, rows, part } = group;
  const isCurrent = (row: Same): boolean => row.some(({ question }) => question.id === current);
  const isTicked = name === "waiting" && part.count > 1;
  const list = (
    <ul>
      {rows.map((row) => (
        <Row reader={reader} row={row} isCurrent={isCurrent(row)} isTicked={isTicked} />
      ))}
    </ul>
  );
  const more = <Paging reader={reader} title={tell(reader, TITLES[name])} part={part} address="/" find={find} />;
  const title = `${tell(reader, TITLES[name])} (${part.count})`;
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

function Row(given: { reader: Reader; row: Same; isCurrent: boolean; isTicked: boolean }) {
  const { reader, row, isCurrent, isTicked } = given;
  const [read] = row;
  const { question, run } = read;
  const isRisky = isPending(question) && !question.settling && question.risk === "high";
  const ids = row.map((each) => each.question.id).join(" ");
  return (
    <li data-id={question.id} data-ids={row.length > 1 ? ids : undefined}>
      {isTicked ? <Tick reader={reader} read={read} ids={ids} /> : null}
      <a class="row" href={`/q/${question.id}`} aria-current={isCurrent ? "true" : undefined}>
        <span class="q">{makeVisible(question.title)}</span>
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

/** The box of a row that can be answered together with others; where it cannot, its place. */
function Tick({ reader, read, ids }: { reader: Reader; read: Read; ids: string }) {
  const { question } = read;
  if (!isPending(question) || !mayAnswer(question, reader) || sameName(read) === undefined) {
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

function RowState({ reader, read: { question, content } }: { reader: Reader; read: Read }) {
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
  if (question.claim && sayActor(question.claim.by) !== reader.id) {
    return (
      <span class="cut">
        {makeVisible(sayActor(question.claim.by))}, <Since reader={reader} at={question.claim.at} as="run.since" />
      </span>
    );
  }
  // The risk and the deadline say more, and with a third there is no room for the run.
  if (question.risk === "high" && consequenceAt(question) !== undefined) return null;
  return <Since reader={reader} at={question.askedAt} as="run.waiting" />;
}

function RowEnd({ reader, read: { question } }: { reader: Reader; read: Read }) {
  if (!isPending(question)) {
    const answer = findAnswer(question);
    return answer ? <span class="end">{whoWords(reader, answer)}</span> : null;
  }
  const at = question.settling ? undefined : consequenceAt(question);
  if (at === undefined) return null;
  return (
    <span class={`end${isSoon(reader, at) ? " due" : ""}`}>
      <Left reader={reader} until={at} as="run.left" />
    </span>
  );
}

function isSoon(reader: Reader, at: Instant): boolean {
  return msBetween(reader.now, at) < 6 * HOUR_MS;
}

/** What a run is called: `#42 add-caching`. */
export function runName(run: Run): string {
  return makeVisible(`${run.externalId ?? `#${run.number}`} ${run.name}`);
}

/** What there is to tell where nothing waits. */
export interface IdleView {
  reader: Reader;
  /** Runs that work. */
  running: number;
  /** The last question that somebody answered, and how long it took. */
  last: { at: Instant; tookMs: number; by: Actor } | undefined;
  /** Nothing was ever asked. */
  isNew: boolean;
  find: string;
}

/** The place of the card when no question is open. */
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
          {running > 0 ? (
            <>
              <a href="/runs?state=working">
                {tell(reader, running === 1 ? "empty.runs.one" : "empty.runs", { n: running })}
              </a>{" "}
            </>
          ) : null}
          {last ? (
            <>
              {tell(reader, "empty.last", { took: tellSpan(reader, last.tookMs), who: makeVisible(sayActor(last.by)) })}{" "}
              <Since reader={reader} at={last.at} as="run.ago" />.
            </>
          ) : null}
        </p>
      )}
      {isNew ? <TryIt reader={reader} /> : null}
    </main>
  );
}

/** Shows how it goes to somebody whose agents have not asked yet. */
function TryIt({ reader }: { reader: Reader }) {
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
