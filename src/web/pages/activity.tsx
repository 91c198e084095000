import { trailActorName } from "../../core/people/actor.ts";
import { type Event, EventType } from "../../core/trail/event.ts";
import { type QuestionId, type RunId, shortId } from "../../core/id.ts";
import type { Run } from "../../core/run/run.ts";
import { makeVisible } from "../../core/text/visible.ts";
import { kindWords, trailWords } from "../words/event-words.ts";
import { runName } from "./inbox.tsx";
import { channelWords } from "../card/outcome.tsx";
import { type PageReader, tell } from "../parts/page-reader.ts";
import { Moment } from "../parts/time.tsx";

const DETAIL_CHARS = 1_000;

/** Filter of the audit trail; empty fields match everything. */
export interface ActivityFilter {
  run: string;
  kind: string;
  person: string;
}

/** Result of verifying the whole audit trail. */
export interface TrailCheck {
  runs: number;
  events: number;
  seals: number;
  problems: readonly string[];
}

export interface ActivityView {
  reader: PageReader;
  filter: ActivityFilter;
  /** Newest first. */
  events: ReadonlyArray<{ event: Event; run: Run | undefined }>;
  /** Titles of the questions they belong to. */
  titles: ReadonlyMap<QuestionId, string>;
  /** Numbers of the runs whose agents acted. */
  runNumbers: ReadonlyMap<RunId, number>;
  /** Number of events that were searched. */
  searched: number;
  /** Cursor of the next page. */
  next: string | undefined;
  isFirst: boolean;
  /** The filter names a run that does not exist. */
  isRunMissing: boolean;
  check?: TrailCheck | undefined;
}

/** The audit trail, newest first. */
export function ActivityPage({ view }: { view: ActivityView }) {
  const { reader, filter, events, titles, runNumbers, next, isFirst, check } = view;
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
      <Filters reader={reader} filter={filter} />
      <div id="trail" data-live={isFirst}>
        {events.length === 0 ? (
          <Nothing view={view} />
        ) : (
          <ol class="rows trail">
            {events.map(({ event, run }) => (
              <TrailRow
                reader={reader}
                event={event}
                run={run}
                title={event.questionId && titles.get(event.questionId)}
                runNumbers={runNumbers}
              />
            ))}
          </ol>
        )}
        <p class="paging">
          {isFirst ? null : <a href={addressOf(filter)}>{tell(reader, "page.newest")}</a>}
          {next === undefined ? null : <a href={addressOf(filter, next)}>{tell(reader, "page.older")}</a>}
        </p>
      </div>
    </main>
  );
}

/** Says why the list is empty, and how to clear the filter. */
function Nothing({ view: { reader, filter, searched, isFirst, isRunMissing } }: { view: ActivityView }) {
  const isAll = Object.values(filter).every((text) => text === "");
  const isNew = searched === 0 && isFirst && !isRunMissing;
  if (isAll || isNew) return <p class="quiet">{tell(reader, "act.none")}</p>;
  return (
    <p class="quiet">
      {isRunMissing
        ? tell(reader, "act.noRun", { name: makeVisible(filter.run) })
        : tell(reader, "act.nothing", { n: searched })}{" "}
      <a href="/activity">{tell(reader, "act.clear")}</a>
    </p>
  );
}

function addressOf(filter: ActivityFilter, before?: string) {
  const query = new URLSearchParams(Object.entries(filter).filter(([, text]) => text !== ""));
  if (before !== undefined) query.set("before", before);
  return query.size === 0 ? "/activity" : `/activity?${query.toString()}`;
}

function Checked({ reader, check }: { reader: PageReader; check: TrailCheck }) {
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

function Filters({ reader, filter }: { reader: PageReader; filter: ActivityFilter }) {
  return (
    <form class="filters" method="get" action="/activity" role="search">
      <div>
        <label class="t" for="run">
          {tell(reader, "act.run")}
        </label>
        <input id="run" name="run" type="text" value={filter.run} placeholder={tell(reader, "act.run.about")} />
      </div>
      <div>
        <label class="t" for="kind">
          {tell(reader, "act.kind")}
        </label>
        <select id="kind" name="kind">
          <option value="">{tell(reader, "page.all")}</option>
          {EventType.options.map((type) => (
            <option value={type} selected={type === filter.kind}>
              {kindWords(reader, type)}
            </option>
          ))}
        </select>
      </div>
      <div>
        <label class="t" for="person">
          {tell(reader, "act.person")}
        </label>
        <input id="person" name="person" type="text" value={filter.person} autocomplete="off" />
      </div>
      <button type="submit">{tell(reader, "page.filter")}</button>
    </form>
  );
}

interface RowView {
  reader: PageReader;
  event: Event;
  run: Run | undefined;
  /** The title of its question. */
  title: string | undefined;
  runNumbers: ReadonlyMap<RunId, number>;
}

function TrailRow({ reader, event, run, title, runNumbers }: RowView) {
  const name = trailActorName(event.by, runNumbers, (number) => tell(reader, "act.agent", { run: number }));
  const by = makeVisible(name);
  const words = trailWords(reader, event, name);
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
      <span class="quiet">{`${by} (${channelWords(reader, event.by)})`}</span>
    </li>
  );
}

function detailOf({ detail, from, to }: Event) {
  const change = from === undefined || from === to ? {} : { from, to };
  const all = { ...change, ...detail };
  if (Object.keys(all).length === 0) return undefined;
  const text = makeVisible(JSON.stringify(all, null, 2));
  return text.length > DETAIL_CHARS ? `${text.slice(0, DETAIL_CHARS)} …` : text;
}
