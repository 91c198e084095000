import type { Changes, DecisionContext, Entry } from "../../core/changes.ts";
import { QuestionId, RunId, STORE_CHAIN } from "../../core/id.ts";
import { questionEvent, unchangedRunEvent, type Event } from "../../core/trail/event.ts";
import {
  ROW_DAMAGED,
  closeDamagedQuestion,
  failDamagedRun,
  rebuildDamagedRun,
  rebuildJob,
} from "../../core/trail/rebuilt-row.ts";
import { parseCheckpoint } from "../../core/workflow/checkpoint.ts";
import { findWaitingWorkflows, wakeWorkflows } from "../../core/workflow/wake-parent.ts";
import { DeliveryRef } from "../../core/channel/delivery/delivery-ref.ts";
import { type Job, stepJob } from "../../core/run/job.ts";
import { hasEnded } from "../../core/run/run.ts";
import { type RowDigests, digestOf } from "../../core/trail/row-digest.ts";
import { contentName, hashContent } from "../../core/question/content.ts";
import { missingJobs } from "../../core/trail/required-job.ts";
import { UNREADABLE_CONTENT } from "../../store/row.ts";
import { type Question, isPending } from "../../core/question/question.ts";
import type { Actor } from "../../core/people/actor.ts";
import type { CommitResult, DamagedRows, Store } from "../../store/store.ts";
import { allQuestions } from "../row-cache.ts";
import { type UnreadableRow, findChains, findUnreadableRows } from "./unreadable-row.ts";

/** Later ones need the rows of earlier ones. A line of the trail cannot be replaced: its hash proves what it said. */
const ORDER = ["run", "content", "entry", "question", "job"] as const;

/** The rows of a store that cannot be read. */
export function listDamagedRows(store: Store): Promise<UnreadableRow[]> {
  return store.readSnapshot(findUnreadableRows);
}

/**
 * Puts a row that can be read in the place of each damaged one, and keeps the damaged text as an entry of the store.
 * Returns the rows that were replaced.
 */
export async function setRowsAside(
  store: Store,
  rows: readonly UnreadableRow[],
  at: DecisionContext,
): Promise<UnreadableRow[]> {
  const names = rows.map(({ trailName }) => trailName).filter((name) => name.includes(" "));
  const chains = await store.readSnapshot((snapshot) => findChains(snapshot, names));
  const done: UnreadableRow[] = [];
  for (const table of ORDER) {
    for (const row of rows.filter((each) => each.table === table)) {
      const { gone, changes } = await replace(store, row, { at, chains: chains.get(row.trailName) ?? [] });
      const copies = row.lost ? [] : [copyOf(row, at)];
      const entries = [...(changes.entries ?? []), ...copies];
      const waiting = await store.readRuns(findWaitingWorkflows(changes));
      const woken = wakeWorkflows({ ...changes, entries }, waiting, at.now);
      const committed = await store.replaceDamaged(gone, woken);
      if (committed.ok) done.push(row);
    }
  }
  return done;
}

function copyOf({ table, kind, id, columns, body }: UnreadableRow, { now }: Pick<DecisionContext, "now">): Entry {
  const name = [table, kind, id].filter((part) => part !== undefined).join(" ");
  return {
    kind: "quarantine",
    id: `${now} ${name}`,
    version: 0,
    body: { table, kind, id, columns, text: body, at: now },
  };
}

interface Replacement {
  gone: DamagedRows;
  changes: Changes;
}

interface ReplaceContext {
  at: DecisionContext;
  /** The chains that tell of the row. */
  chains: readonly RunId[];
}

async function replace(store: Store, row: UnreadableRow, { at, chains }: ReplaceContext): Promise<Replacement> {
  switch (row.table) {
    case "run":
      return { gone: lostRunOf(row), changes: await replaceRun(store, row, at) };
    case "question":
      return { gone: lostQuestionOf(row), changes: await replaceQuestion(store, row, at) };
    case "job":
      return { gone: {}, changes: await replaceJob(store, row, at) };
    case "content": {
      const told = { [row.trailName]: digestOf(JSON.stringify(UNREADABLE_CONTENT)) };
      const events = await setAsideEvents(store, chains, { row, told, at });
      const contents = [{ hash: row.id, content: UNREADABLE_CONTENT }];
      return { gone: { contents: [row.id] }, changes: { contents, events } };
    }
    default:
      return replaceEntry(store, row, { at, chains });
  }
}

/** The row that has to be there again, at the end of its chain, before it can be replaced. */
function lostRunOf({ id, number = 0, version, lost }: UnreadableRow): DamagedRows {
  return lost?.head ? { lostRuns: [{ id: id as RunId, number, version, head: lost.head }] } : {}; // as in its lines
}

function lostQuestionOf({ columns, version, lost }: UnreadableRow): DamagedRows {
  if (!lost) return {};
  const { id, runId } = { id: QuestionId.parse(columns["id"]), runId: RunId.parse(columns["runId"]) };
  const status = columns["status"] as Question["status"]; // as an event that we wrote says
  return { lostQuestions: [{ id, runId, key: String(columns["key"]), version, status }] };
}

async function replaceRun(store: Store, { id, number = 0, columns, lost }: UnreadableRow, at: DecisionContext) {
  const questions = await allQuestions(store, id as RunId); // as it is in the table
  const first = lost ? lost.first : (await store.readChain(id as RunId)).events[0]?.event;
  const checkpoints = await store.listEntries("checkpoint");
  const hasSteps = checkpoints.some((entry) => entry.id === id);
  const waitedForBy = checkpoints.find((entry) => startedRuns(entry).includes(id))?.id as RunId | undefined; // its run
  return rebuildDamagedRun({ columns, number, questions, first, waitedForBy, hasSteps }, at);
}

/** The runs that a workflow has started, as its checkpoint says. */
function startedRuns(entry: Entry): readonly string[] {
  const { steps } = parseCheckpoint(entry).checkpoint;
  return Object.values(steps).flatMap(({ runs = {} }) => Object.values(runs));
}

async function replaceQuestion(store: Store, { id, runId, columns }: UnreadableRow, at: DecisionContext) {
  const run = await store.findRun(runId as RunId);
  if (!run) return {};
  const { events } = await store.readChain(run.id);
  const asked = events.find(({ event }) => event.type === "question.asked" && event.questionId === id);
  const name = asked && findContentName(asked.body);
  const known = name === undefined ? undefined : await store.findContent(name);
  const own = contentName(id, hashContent(UNREADABLE_CONTENT));
  const content = known ?? UNREADABLE_CONTENT;
  const deliveries = (await store.listEntries("delivery", id)).flatMap(toDeliveryRef);
  const closed = closeDamagedQuestion(
    { columns, run, asked: asked?.event, contentName: known && name !== undefined ? name : own, content, deliveries },
    at,
  );
  return known ? closed : { ...closed, contents: [{ hash: own, content }] };
}

function toDeliveryRef({ id, body }: Entry) {
  return DeliveryRef.safeParse({ id, channel: body["channel"], person: body["person"] }).data ?? [];
}

/** The text that the commit of an ask wrote together with its question. */
function findContentName(body: string) {
  const { rows = {} } = JSON.parse(body) as { rows?: RowDigests }; // read as an event before
  return Object.keys(rows)
    .find((row) => row.startsWith("content "))
    ?.slice("content ".length);
}

/** The job as its columns describe it; where that is not enough, those that its run must have. */
async function replaceJob(store: Store, { id: key, columns }: UnreadableRow, at: DecisionContext): Promise<Changes> {
  const owner = key.slice(key.indexOf(":") + 1);
  const question = owner.startsWith("q_") ? await store.findQuestion(owner as QuestionId) : undefined;
  const runId = question?.runId ?? (owner.startsWith("r_") ? (owner as RunId) : undefined);
  const run = runId && (await store.findRun(runId));
  if (!run) return { dropped: [key] };
  const job = rebuildJob(columns, { runId: run.id, questionId: question?.id });
  const questions = question ? [question] : [];
  const required = missingJobs({ run, questions }, { keys: new Set(), now: at.now, rules: at.rules });
  const scheduled = required.filter((each) => each.key === key);
  const event = setAsideEvent({ runId: run.id, to: run.status, version: run.version }, { row: key, at });
  if (scheduled.length > 0 || job)
    return { scheduled: scheduled.length > 0 ? scheduled : job ? [job] : [], events: [event] };
  return { dropped: [key], events: [event] };
}

async function replaceEntry(store: Store, row: UnreadableRow, { at, chains }: ReplaceContext): Promise<Replacement> {
  const { kind, id, columns } = row;
  if (kind === undefined) return { gone: {}, changes: {} };
  const gone: DamagedRows = { entries: [{ kind, id }] };
  const parent = columns["parent"];
  if (kind === "delivery" && typeof parent === "string")
    return { gone, changes: await dropDelivery(store, parent, row, at) };
  const events = await setAsideEvents(store, chains, { row, told: { [row.trailName]: null }, at });
  const run = kind === "checkpoint" ? await store.findRun(id as RunId) : undefined; // its name is that of its run
  if (!run || hasEnded(run)) return { gone, changes: { events } };
  const open = (await allQuestions(store, run.id)).filter((each) => isPending(each) || run.owes.includes(each.id));
  const failed = failDamagedRun({ run, open }, at);
  // The step job cancels the runs that it started.
  const scheduled = [stepJob(run, at.now)];
  return { gone, changes: { ...failed, events: [...events, ...(failed.events ?? [])], scheduled } };
}

/** Takes a message that is lost out of the list of its question or run: replies to it are no longer recognised. */
async function dropDelivery(
  store: Store,
  parent: string,
  { id }: UnreadableRow,
  at: DecisionContext,
): Promise<Changes> {
  const isLeft = (delivery: { id: string }) => delivery.id !== id;
  if (parent.startsWith("r_")) {
    const run = await store.findRun(parent as RunId);
    if (!run) return {};
    const after = { ...run, deliveries: run.deliveries?.filter(isLeft) };
    return { runs: [after], events: [unchangedRunEvent("delivery_failed", after, at, { reason: ROW_DAMAGED })] };
  }
  const question = await store.findQuestion(parent as QuestionId);
  const run = question && (await store.findRun(question.runId));
  if (!run) return {};
  const after = { ...question, deliveries: question.deliveries?.filter(isLeft) };
  const event = questionEvent("delivery_failed", question, after, at, { reason: ROW_DAMAGED });
  return { runs: [run], questions: [after], events: [event] };
}

interface SetAside {
  row: UnreadableRow;
  /** The digest of the row in the trail from now on. */
  told: RowDigests;
  at: DecisionContext;
}

async function setAsideEvents(store: Store, chains: readonly RunId[], { row, told, at }: SetAside): Promise<Event[]> {
  const runs = new Map((await store.readRuns(chains)).map((run) => [run.id, run]));
  return chains.flatMap((runId) => {
    const run = runs.get(runId);
    if (!run && runId !== STORE_CHAIN) return [];
    const state = run ? { to: run.status, version: run.version } : { to: "set_aside", version: 1 };
    return [setAsideEvent({ runId, ...state }, { row: row.name, told, at })];
  });
}

/** Schedules jobs that are missing and drops useless ones; the trail tells of it. */
export async function mendJobs(
  store: Store,
  { scheduled, dropped }: { scheduled: readonly Job[]; dropped: readonly string[] },
  by: Actor,
): Promise<void> {
  const now = await store.now();
  const runs = await store.readRuns([...new Set(scheduled.flatMap(({ runId }) => runId ?? []))]);
  for (const run of runs) {
    const jobs = scheduled.filter(({ runId }) => runId === run.id);
    const row = jobs.map(({ key }) => key).join(", ");
    const event = setAsideEvent({ runId: run.id, to: run.status, version: run.version }, { row, at: { now, by } });
    await requireCommit(store.commit({ scheduled: jobs, events: [event] }));
  }
  const rest = scheduled.filter(({ runId }) => runId === undefined);
  await requireCommit(store.commit({ scheduled: rest, dropped: [...dropped] }));
}

async function requireCommit(committing: Promise<CommitResult>) {
  const committed = await committing;
  if (!committed.ok) throw new Error(`the jobs could not be written: ${committed.why}`);
}

function setAsideEvent(
  state: Pick<Event, "runId" | "to" | "version">,
  { row, told, at }: { row: string; told?: RowDigests; at: Pick<DecisionContext, "now" | "by"> },
): Event {
  return { type: "row.set_aside", at: at.now, by: at.by, from: state.to, detail: { row }, rows: told, ...state };
}
