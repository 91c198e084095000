import type { Hono } from "hono";
import { RunId } from "../../core/id.ts";
import { hasEnded, type Run, type RunStatus, isAnswerUntaken } from "../../core/run/run.ts";
import { LogLines, type LogPart } from "../../web/parts/log.tsx";
import { runName } from "../../web/pages/inbox.tsx";
import { tell, type PageReader } from "../../web/parts/page-reader.ts";
import { RUN_GROUPS, RunsPage, type RunGroup, type RunRow } from "../../web/pages/run-list.tsx";
import { RunPage, type RunView } from "../../web/pages/run.tsx";
import { WorkSoFar } from "../../web/card/work.tsx";
import type { SignedIn } from "../credential.ts";
import type { PageCall, PagesDeps } from "./deps.ts";
import { getRun } from "./read/get-run.ts";
import { sayRefusal, sendFramedPage, sendPage } from "./send-page.tsx";
import { redirectTo } from "./redirect.ts";
import { languageOf, readReader } from "./read/read-reader.ts";
import { findAwayMachine } from "../../core/run/machine.ts";
import { readMachines } from "../../engine/machines.ts";
import { readResumeAttempts } from "../../core/run/resume-attempt.ts";
import type { QuestionSnapshot } from "../../core/changes.ts";
import { type Instant, msBetween } from "../../core/instant.ts";
import { type Question, findAnswer } from "../../core/question/question.ts";
import { redact } from "../../core/secret/redact.ts";
import type { Rules } from "../../core/rules.ts";
import { readCard } from "./read/read-card.ts";
import { readRunPicture } from "./read/read-workflow.ts";

const PAGE = 40;

const STATUSES: Readonly<Record<RunGroup, readonly RunStatus[] | undefined>> = {
  all: undefined,
  // A run with a held question is `running`, one with an untaken answer `resuming`; `isWaiting` drops the others.
  waiting: ["awaiting_input", "deferred", "blocked", "running", "resuming"],
  working: ["queued", "running", "resuming"],
  ended: ["completed", "failed", "skipped", "cancelled"],
  failed: ["failed"],
};
const MOST_EVENTS = 150;
const MOST_QUESTIONS = 25;
const MOST_CHILDREN = 50;

/** Routes of the list of runs and of each run. */
export function addRunPages(pages: Hono<SignedIn>, deps: PagesDeps): void {
  pages.get("/runs", (context) => showRuns(context, deps));
  pages.get("/r/:id", (context) => showRun(context, deps));
  pages.get("/r/:id/work", (context) => showWork(context, deps));
  pages.get("/r/:id/log", (context) => showLog(context, deps));
  pages.post("/r/:id/resume", (context) => change(context, deps, "resume"));
  pages.post("/r/:id/cancel", (context) => change(context, deps, "cancel"));
}

async function showRuns(context: PageCall, deps: PagesDeps) {
  const cursor = await deps.feed.findEnd();
  const reader = await readReader(context, deps.engine);
  const group = RUN_GROUPS.find((name) => name === context.req.query("state")) ?? "all";
  const after = RunId.safeParse(context.req.query("after"));
  const { rows, next } = await readRuns(deps, group, after.data);
  const hasWorkflows = ((await deps.workflows?.listEntries("workflow", undefined, { limit: 1 })) ?? []).length > 0;
  const isFirst = !after.success;
  const view = { reader, group, rows, next, isFirst, isNew: group === "all" && isFirst, hasWorkflows };
  return sendFramedPage(context, deps, {
    reader,
    page: "runs",
    title: tell(reader, "runs.title"),
    cursor,
    main: <RunsPage view={view} />,
  });
}

async function showRun(context: PageCall, deps: PagesDeps) {
  const name = context.req.param("id") ?? "";
  const run = await getRun(deps.engine, name);
  if (run.id !== name) return context.redirect(`/r/${run.id}`, 303);
  return sendRun(context, deps, run.id);
}

async function sendRun(
  context: PageCall,
  deps: PagesDeps,
  id: RunId,
  more: { problem?: string; status?: number } = {},
) {
  const { problem, status = 200 } = more;
  const cursor = await deps.feed.findEnd();
  const reader = await readReader(context, deps.engine);
  const view = await readRun(deps, reader, await getRun(deps.engine, id));
  return sendFramedPage(context, deps, {
    reader,
    page: "runs",
    title: runName(view.run),
    cursor,
    status,
    shows: view.card?.read.question.id,
    main: <RunPage view={{ ...view, problem }} />,
  });
}

/** The agent's changes as a page; the script puts them into the run page. */
async function showWork(context: PageCall, deps: PagesDeps) {
  const reader = await readReader(context, deps.engine);
  const run = await getRun(deps.engine, context.req.param("id") ?? "");
  const work = await deps.atHand?.work(run);
  return sendFramedPage(context, deps, {
    reader,
    page: "runs",
    title: tell(reader, "work"),
    main: (
      <main id="main" class="page">
        <p>
          <a href={`/r/${run.id}`}>{tell(reader, "r.back")}</a>
        </p>
        <h1>{runName(run)}</h1>
        <WorkSoFar reader={reader} run={run} work={work} />
      </main>
    ),
  });
}

/** New log lines since the script's last request. */
async function showLog(context: PageCall, deps: PagesDeps) {
  const run = await getRun(deps.engine, context.req.param("id") ?? "");
  const from = context.req.query("from");
  if (from === undefined) return context.redirect(`/r/${run.id}`, 303);
  const log = await readLog(deps, run, from);
  if (!log) return context.body(null, 204);
  const reader = await readReader(context, deps.engine);
  context.header("X-Askd-Going", hasEnded(run) || run.status === "awaiting_input" ? "no" : "yes");
  return sendPage(context, <LogLines reader={reader} run={run} log={log} />);
}

async function change(context: PageCall, deps: PagesDeps, verb: "resume" | "cancel") {
  const { engine } = deps;
  const run = await getRun(engine, context.req.param("id") ?? "");
  const by = context.get("actor");
  try {
    const reader = await readReader(context, engine);
    if (verb === "resume") await engine.resumeRun(run.id, by);
    else await engine.cancelRun(run.id, by, tell(reader, "r.cancel.reason"));
  } catch (error) {
    return sendRun(context, deps, run.id, sayRefusal({ language: languageOf(context) }, error));
  }
  return redirectTo(context, `/r/${run.id}`);
}

/** Reads one page of runs, newest first; child runs below their parent if both are on it. */
async function readRuns(
  { engine, here }: Pick<PagesDeps, "engine" | "here">,
  group: RunGroup,
  after: RunId | undefined,
): Promise<{ rows: RunRow[]; next: string | undefined }> {
  const statuses = STATUSES[group];
  const page = await engine.listRuns({
    order: "newest",
    limit: PAGE,
    statuses,
    after,
  });
  const runs = page.filter((run) =>
    group === "waiting" ? isWaiting(run) : group !== "working" || !isAnswerUntaken(run),
  );
  const usage = await engine.usageOf(runs.map(({ id }) => id));
  const reads = await engine.readMany(runs.flatMap(({ pendingId }) => pendingId ?? []));
  const pending = new Map(reads.map((read) => [read.question.id, read]));
  const machines = await readMachines(engine, runs, here?.());
  const shown = new Map(runs.map((run) => [run.id, run]));
  const grow = async (run: Run): Promise<RunRow> => ({
    run,
    away: findAwayMachine(run, machines),
    pending: run.pendingId && pending.get(run.pendingId),
    usage: usage.find(({ runId }) => runId === run.id),
    parent: run.parentId && !shown.has(run.parentId) ? await engine.findRun(run.parentId) : undefined,
    children: await Promise.all(
      runs
        .filter(({ parentId }) => parentId === run.id)
        .toReversed()
        .map(grow),
    ),
  });
  const roots = runs.filter(({ parentId }) => parentId === undefined || !shown.has(parentId));
  return {
    rows: await Promise.all(roots.map(grow)),
    next: page.length === PAGE ? page.at(-1)?.id : undefined,
  };
}

function isWaiting(run: Run) {
  if (run.status === "resuming") return isAnswerUntaken(run);
  return !hasEnded(run) && (run.status !== "running" || run.pendingId !== undefined);
}

/** Reads all data of a run's page. */
async function readRun(deps: PagesDeps, reader: PageReader, run: Run): Promise<RunView> {
  const { engine, feed, atHand } = deps;
  const questions = await engine.listQuestions({ runId: run.id, order: "newest", limit: MOST_QUESTIONS });
  const reads: QuestionSnapshot[] = await engine.readMany(questions.map(({ id }) => id));
  const shown = reads.find(({ question }) => question.id === run.pendingId) ?? reads[0];
  const back = await feed.readBack({ runId: run.id, limit: MOST_EVENTS });
  const events = back.map(({ event }) => event).toReversed();
  const [usage] = await engine.usageOf([run.id]);
  const wholeMs = Math.max(0, msBetween(run.startedAt ?? run.createdAt, run.endedAt ?? reader.now));
  return {
    reader,
    run,
    usage,
    wholeMs,
    away: findAwayMachine(run, await readMachines(engine, [run], deps.here?.())),
    card: shown && (await readCard(deps, reader, shown)),
    timeline: { events, reads },
    attempts: readResumeAttempts(events),
    isTimelineCut: back.length === MOST_EVENTS,
    waitedMs: Math.min(wholeMs, sum(questions.map((question) => waitedMs(question, reader.now)))),
    parent: run.parentId && (await engine.findRun(run.parentId)),
    children: await engine.listRuns({ parentId: run.id, order: "oldest", limit: MOST_CHILDREN }),
    picture: await readRunPicture(deps, run),
    takeover: await atHand?.takeover(run),
    hasWork: atHand !== undefined && run.dir !== undefined,
    log: await readLog(deps, run),
  };
}

/** Reads an agent's log with secrets redacted. */
async function readLog(
  { atHand, rules }: { atHand?: PagesDeps["atHand"]; rules: Rules },
  run: Run,
  from?: string,
): Promise<LogPart | undefined> {
  const log = await atHand?.log?.(run, from);
  return (
    log && { ...log, entries: log.entries.map((entry) => ({ ...entry, text: redact(entry.text, [], rules.redact) })) }
  );
}

/** How long the run waited for a person on this question. */
function waitedMs(question: Question, now: Instant) {
  const until = closedAt(question) ?? now;
  return Math.max(0, msBetween(question.askedAt, until));
}

function closedAt(question: Question) {
  if (question.status === "pending") return question.settling?.answer.at;
  if (question.status === "cancelled") return question.cancelledAt;
  return question.status === "timeout" ? question.timedOutAt : findAnswer(question)?.at;
}

function sum(values: readonly number[]) {
  return values.reduce((total, value) => total + value, 0);
}
