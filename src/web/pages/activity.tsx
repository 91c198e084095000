import { sayActor } from "../../core/people/actor.ts";
import { type Event, EventType } from "../../core/trail/event.ts";
import { type QuestionId, shortId } from "../../core/id.ts";
import type { Run } from "../../core/run/run.ts";
import { makeVisible } from "../../core/text/visible.ts";
import { kindWords, trailWords } from "../words/event-words.ts";
import { runName } from "./inbox.tsx";
import { wayWords } from "../card/outcome.tsx";
import { type Reader, tell } from "../parts/reader.ts";
import { Moment } from "../parts/time.tsx";

const DETAIL_CHARS = 1_000;

/** Which events are wanted; empty means all. */
export interface TrailWish {
  run: string;
  kind: string;
  person: string;
}

/** What reading the whole trail found. */
export interface TrailCheck {
  runs: number;
  events: number;
  seals: number;
  problems: readonly string[];
}

export interface ActivityView {
  reader: Reader;
  wish: TrailWish;
  /** Newest first. */
  events: ReadonlyArray<{ event: Event; run: Run | undefined }>;
  /** What they are about. */
  titles: ReadonlyMap<QuestionId, string>;
  /** How many events were looked at for them. */
  looked: number;
  /** Where the next page begins. */
  next: string | undefined;
  isFirst: boolean;
  /** There is no such run as is wanted. */
  isNowhere: boolean;
  check?: TrailCheck | undefined;
}

/** The audit trail, newest first. */
export function ActivityPage({ view }: { view: ActivityView }) {
  const { reader, wish, events, titles, next, isFirst, check } = view;
  return (
    <main id="main" class="page wide">
      <div class="head">
        <h1>{tell(reader, "act.title")}</h1>
        <form data-plain method="post" action="/activity/verify">
          <input type="hidden" name="csrf" value={reader.csrf} />
          <button type="submit" title={tell(reader, "act.verify.about")}>
            {tell(reader, "act.verify")}
          </button>
        </form>
      </div>
      {check ? <Checked reader={reader} check={check} /> : null}
      <Filters reader={reader} wish={wish} />
      <div id="trail" data-live={isFirst}>
        {events.length === 0 ? (
          <Nothing view={view} />
        ) : (
          <ol class="rows trail">
            {events.map(({ event, run }) => (
              <TrailRow {...{ reader, event, run }} title={event.questionId && titles.get(event.questionId)} />
            ))}
          </ol>
        )}
        <p class="paging">
          {isFirst ? null : <a href={addressOf(wish)}>{tell(reader, "page.newest")}</a>}
          {next === undefined ? null : <a href={addressOf(wish, next)}>{tell(reader, "page.older")}</a>}
        </p>
      </div>
    </main>
  );
}

/** Why nothing is listed, and how to see everything again. */
function Nothing({ view: { reader, wish, looked, isFirst, isNowhere } }: { view: ActivityView }) {
  const isAll = Object.values(wish).every((text) => text === "");
  const isNew = looked === 0 && isFirst && !isNowhere;
  if (isAll || isNew) return <p class="quiet">{tell(reader, "act.none")}</p>;
  return (
    <p class="quiet">
      {isNowhere
        ? tell(reader, "act.noRun", { name: makeVisible(wish.run) })
        : tell(reader, "act.nothing", { n: looked })}{" "}
      <a href="/activity">{tell(reader, "act.clear")}</a>
    </p>
  );
}

function addressOf(wish: TrailWish, before?: string): string {
  const query = new URLSearchParams(Object.entries(wish).filter(([, text]) => text !== ""));
  if (before !== undefined) query.set("before", before);
  return query.size === 0 ? "/activity" : `/activity?${query.toString()}`;
}

function Checked({ reader, check }: { reader: Reader; check: TrailCheck }) {
  const { problems, ...counts } = check;
  const isGood = problems.length === 0;
  return (
    <div class={`banner ${isGood ? "ok" : "bad"}`} role="status">
      <p>{tell(reader, isGood ? "act.verified" : "act.broken", counts)}</p>
      {problems.map((problem) => (
        <p>{makeVisible(problem)}</p>
      ))}
    </div>
  );
}

function Filters({ reader, wish }: { reader: Reader; wish: TrailWish }) {
  return (
    <form class="filters" method="get" action="/activity" role="search">
      <div>
        <label class="t" for="run">
          {tell(reader, "act.run")}
        </label>
        <input id="run" name="run" type="text" value={wish.run} placeholder={tell(reader, "act.run.about")} />
      </div>
      <div>
        <label class="t" for="kind">
          {tell(reader, "act.kind")}
        </label>
        <select id="kind" name="kind">
          <option value="">{tell(reader, "page.all")}</option>
          {EventType.options.map((type) => (
            <option value={type} selected={type === wish.kind}>
              {kindWords(reader, type)}
            </option>
          ))}
        </select>
      </div>
      <div>
        <label class="t" for="person">
          {tell(reader, "act.person")}
        </label>
        <input id="person" name="person" type="text" value={wish.person} autocomplete="off" />
      </div>
      <button type="submit">{tell(reader, "page.filter")}</button>
    </form>
  );
}

interface RowView {
  reader: Reader;
  event: Event;
  run: Run | undefined;
  /** The question that it is about. */
  title: string | undefined;
}

function TrailRow({ reader, event, run, title }: RowView) {
  const by = makeVisible(sayActor(event.by));
  const words = trailWords(reader, event);
  const detail = detailOf(event);
  return (
    <li>
      <Moment reader={reader} at={event.at} />
      <div>
        <p title={event.type}>{words}</p>
        <div class="meta quiet">
          {run ? <a href={`/r/${run.id}`}>{runName(run)}</a> : null}
          {event.questionId === undefined ? null : (
            <a href={`/q/${event.questionId}`}>{makeVisible(title ?? shortId(event.questionId))}</a>
          )}
          {detail === undefined ? null : (
            <details class="fold">
              <summary>{tell(reader, "act.detail")}</summary>
              <pre tabindex={0}>{detail}</pre>
            </details>
          )}
        </div>
      </div>
      <span class="quiet">{`${by} (${wayWords(reader, event.by)})`}</span>
    </li>
  );
}

function detailOf({ detail, from, to }: Event): string | undefined {
  const change = from === undefined || from === to ? {} : { from, to };
  const all = { ...change, ...detail };
  if (Object.keys(all).length === 0) return undefined;
  const text = makeVisible(JSON.stringify(all, null, 2));
  return text.length > DETAIL_CHARS ? `${text.slice(0, DETAIL_CHARS)} …` : text;
}
