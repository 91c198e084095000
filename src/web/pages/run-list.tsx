import type { QuestionSnapshot } from "../../core/changes.ts";
import type { AwayMachine } from "../../core/run/machine.ts";
import { isPending } from "../../core/question/question.ts";
import { type Run, hasEnded } from "../../core/run/run.ts";
import type { UsageRow } from "../../core/run/usage.ts";
import { makeVisible } from "../../core/text/visible.ts";
import { Command } from "../parts/command.tsx";
import { factWords } from "../words/fact-words.ts";
import { runName } from "./inbox.tsx";
import { sayCost, sayTurns } from "../parts/usage.ts";
import { type PageReader, tell } from "../parts/page-reader.ts";
import { RunActions } from "../parts/run-actions.tsx";
import { RunBadge } from "../parts/run-badge.tsx";
import { TimeSince } from "../parts/time.tsx";

/** Groups of runs by state. */
export const RUN_GROUPS = ["all", "waiting", "working", "ended", "failed"] as const;
export type RunGroup = (typeof RUN_GROUPS)[number];

/** A run with its open question and its child runs. */
export interface RunRow {
  run: Run;
  pending: QuestionSnapshot | undefined;
  /** The machine that the run waits for, if it is away. */
  away?: AwayMachine | undefined;
  usage: UsageRow | undefined;
  /** Its parent, if that is not on the same page. */
  parent: Run | undefined;
  children: readonly RunRow[];
}

export interface RunsView {
  reader: PageReader;
  group: RunGroup;
  rows: readonly RunRow[];
  /** Cursor of the next page. */
  next: string | undefined;
  isFirst: boolean;
  /** There was never a run. */
  isNew: boolean;
  /** There is a page of workflows to go to. */
  hasWorkflows: boolean;
}

/** All runs, newest first; child runs below their parent. */
export function RunsPage({ view }: { view: RunsView }) {
  const { reader, group, rows, next, isFirst, isNew, hasWorkflows } = view;
  return (
    <main id="main" class="page wide">
      <h1>{tell(reader, "runs.title")}</h1>
      {hasWorkflows ? (
        <p>
          <a href="/workflows">{tell(reader, "w.title")}</a>
        </p>
      ) : null}
      <nav class="tabs" aria-label={tell(reader, "page.what")}>
        {RUN_GROUPS.map((name) => (
          <a href={name === "all" ? "/runs" : `/runs?state=${name}`} aria-current={name === group ? "page" : undefined}>
            {tell(reader, `runs.${name}`)}
          </a>
        ))}
      </nav>
      <div id="runs" data-live>
        {rows.length === 0 ? <Empty reader={reader} isNew={isNew} /> : <Rows reader={reader} rows={rows} />}
        <p class="paging">
          {isFirst ? null : <a href={addressOf(group)}>{tell(reader, "page.newest")}</a>}
          {next === undefined ? null : <a href={addressOf(group, next)}>{tell(reader, "page.older")}</a>}
        </p>
      </div>
    </main>
  );
}

function addressOf(group: RunGroup, after?: string) {
  const query = new URLSearchParams({
    ...(group !== "all" && { state: group }),
    ...(after !== undefined && { after }),
  });
  return query.size === 0 ? "/runs" : `/runs?${query.toString()}`;
}

function Empty({ reader, isNew }: { reader: PageReader; isNew: boolean }) {
  if (!isNew) return <p class="quiet">{tell(reader, "runs.none")}</p>;
  return (
    <>
      <p>{tell(reader, "runs.first")}</p>
      <Command reader={reader} id="start" text={'askd run -- claude -p "…"'} />
    </>
  );
}

function Rows({ reader, rows }: { reader: PageReader; rows: readonly RunRow[] }) {
  return (
    <ul class="runs">
      {rows.map((row) => (
        <li>
          <RunItem reader={reader} row={row} />
          {row.children.length === 0 ? null : <Rows reader={reader} rows={row.children} />}
        </li>
      ))}
    </ul>
  );
}

function RunItem({ reader, row: { run, pending, away, usage, parent } }: { reader: PageReader; row: RunRow }) {
  const question = pending && isPending(pending.question) ? pending.question : undefined;
  return (
    <div class="run-row" data-run={run.id} data-status={run.status}>
      <div class="run-what">
        <a class="q" href={`/r/${run.id}`}>
          {runName(run)}
        </a>
        <RunMeta reader={reader} run={run} usage={usage} />
        {parent ? (
          <p class="quiet">
            {tell(reader, "runs.part")} <a href={`/r/${parent.id}`}>{runName(parent)}</a>
          </p>
        ) : null}
        {question ? (
          <p class="run-asks">
            <a href={`/q/${question.id}`}>{makeVisible(question.title)}</a>
          </p>
        ) : null}
      </div>
      <div class="run-state">
        <RunBadge reader={reader} run={run} pending={question} away={away} />
        {question ? (
          <span class="quiet">
            <TimeSince reader={reader} at={question.askedAt} as="run.waiting" />
          </span>
        ) : null}
      </div>
      <RunActions reader={reader} run={run} />
    </div>
  );
}

/** Agent, repository, usage and age of a run, in one muted line. */
export function RunMeta({ reader, run, usage }: { reader: PageReader; run: Run; usage: UsageRow | undefined }) {
  const at = hasEnded(run) ? (run.endedAt ?? run.createdAt) : (run.startedAt ?? run.createdAt);
  return (
    <p class="crumb">
      {run.agent === "none" ? null : <span>{makeVisible(run.agent)}</span>}
      {run.repo === undefined ? null : <span>{makeVisible(factWords(reader, run, "repo", run.repo))}</span>}
      {run.branch === undefined ? null : <span class="mono">{makeVisible(run.branch)}</span>}
      {usage ? <span>{sayTurns(reader, usage)}</span> : null}
      {usage ? <span>{sayCost(reader, usage, "r.cost")}</span> : null}
      <span>
        {tell(reader, hasEnded(run) ? "runs.ended.at" : "runs.started")}{" "}
        <TimeSince reader={reader} at={at} as="run.ago" />
      </span>
    </p>
  );
}
