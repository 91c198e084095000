import { listPendingPages } from "../engine/pending-questions.ts";
import type { QuestionId, RunId } from "../core/id.ts";
import { isTimer } from "../core/question/question-timer.ts";
import { type Question, isPending } from "../core/question/question.ts";
import { pluralize } from "../core/text/plural.ts";
import { missingJobs } from "../core/trail/required-job.ts";
import type { Rules } from "../core/rules.ts";
import { LIVE_STATUSES } from "../core/run/run.ts";
import { expiryJob, parseToken } from "../core/people/token.ts";
import { type Job, jobKey, runJob } from "../core/run/job.ts";
import { type Delivery, deliverJob, parseDelivery } from "../core/channel/delivery/delivery.ts";
import { parseApproved } from "../core/workflow/approval.ts";
import { parseEntry } from "../store/row.ts";
import type { StoredEntry } from "../store/snapshot.ts";
import type { Store } from "../store/store.ts";
import { WorkflowDefinition } from "../core/workflow/definition/definition.ts";
import { firstTriggerJobs } from "../core/workflow/trigger/trigger-job.ts";
import type { Finding } from "./finding.ts";

const MOST_JOBS = 1_000_000;
const PAGE = 200;

type KnownJobs = Pick<Parameters<typeof missingJobs>[1], "keys" | "now">;

/** Schedules and drops jobs. */
export type MendJobs = (jobs: { scheduled: readonly Job[]; dropped: readonly string[] }) => Promise<void>;

/** Checks that every pending question, run, trigger and message has the job it needs, and that no timer is left of a question that is closed or gone. */
export async function checkTimers(store: Store, rules: Rules, mend: MendJobs): Promise<Finding[]> {
  const jobs = await store.listJobs(MOST_JOBS);
  const now = await store.now();
  const keys = new Set(jobs.map(({ key }) => key));
  const missing: Job[] = [];
  const pending = new Set<QuestionId>();
  for await (const page of listPendingPages(store)) {
    for (const { id } of page) pending.add(id);
    missing.push(...(await listMissing(store, page, { keys, now, rules })));
  }
  missing.push(
    ...(await listMissingOfRuns(store, { keys: new Set([...keys, ...missing.map(({ key }) => key)]), now })),
  );
  missing.push(...(await listMissingOfTokens(store, keys)));
  missing.push(...(await listMissingOfTriggers(store, { keys, now })));
  missing.push(...(await listMissingOfMessages(store, { keys, now })));
  missing.push(...(await listMissingOfCancelled(store, { keys, now })));
  const orphans = jobs.filter((job) => isTimer(job) && job.questionId !== undefined && !pending.has(job.questionId));
  const findings: Finding[] = [];
  if (missing.length > 0) {
    findings.push({
      code: "timer_missing",
      area: "queue",
      level: "problem",
      text: `${pluralize(missing.length, "job")} missing: without them questions and runs would wait for ever`,
      fix: "askd doctor --fix",
      repair: () => mend({ scheduled: missing, dropped: [] }),
    });
  }
  if (orphans.length > 0) {
    findings.push({
      code: "timer_orphaned",
      area: "queue",
      level: "warning",
      text: `${pluralize(orphans.length, "job")} left of questions that are closed or not there`,
      fix: "askd doctor --fix",
      repair: () => mend({ scheduled: [], dropped: orphans.map(({ key }) => key) }),
    });
  }
  return findings;
}

/** Missing jobs of runs that have not ended: to be resumed, to be checked on, to be told of an outcome. */
async function listMissingOfRuns(store: Store, known: Parameters<typeof missingJobs>[1]) {
  const missing: Job[] = [];
  for (let after: RunId | undefined; ;) {
    const filter = { statuses: LIVE_STATUSES, order: "oldest", limit: PAGE } as const;
    const runs = await store.listRuns(after === undefined ? filter : { ...filter, after });
    const owed = await store.readQuestions(runs.flatMap(({ owes }) => owes));
    for (const run of runs) {
      const questions = owed.filter(({ runId }) => runId === run.id);
      missing.push(...missingJobs({ run, questions }, known));
    }
    after = runs.at(-1)?.id;
    if (runs.length < PAGE) return missing;
  }
}

/** Missing jobs that end tokens in time; a token is refused after its time anyway. */
async function listMissingOfTokens(store: Store, keys: ReadonlySet<string>) {
  const tokens = (await store.listEntries("token")).map(parseToken);
  return tokens
    .filter(({ expiredAt }) => expiredAt === undefined)
    .flatMap((token) => expiryJob(token) ?? [])
    .filter(({ key }) => !keys.has(key));
}

/** Missing jobs of approved workflows, without which their triggers start nothing. */
async function listMissingOfTriggers(store: Store, { keys, now }: KnownJobs): Promise<Job[]> {
  const jobs: Job[] = [];
  for (const workflow of (await store.listEntries("workflow")).map(parseApproved)) {
    const entry = await store.findEntry("definition", workflow.definition);
    if (!entry) continue; // without its definition it starts nothing either
    jobs.push(...firstTriggerJobs(workflow, WorkflowDefinition.parse(entry.body["definition"]), now));
  }
  return jobs.filter(({ key }) => !keys.has(key));
}

/** Missing jobs of messages that were not sent, or that show a question as open although it is closed. */
async function listMissingOfMessages(store: Store, { keys, now }: KnownJobs): Promise<Job[]> {
  const missing: Job[] = [];
  for (let after = ""; ;) {
    const page = await store.readSnapshot((snapshot) => snapshot.listEntries("delivery", after, PAGE));
    const waiting = page.flatMap(readDelivery).filter(({ id }) => !keys.has(jobKey("deliver", id)));
    const questions = await store.readQuestions(waiting.flatMap(({ questionId }) => questionId ?? []));
    const byId = new Map(questions.map((question) => [question.id, question]));
    for (const { id, state, questionId, notice } of waiting) {
      const question = questionId && byId.get(questionId);
      const isOutdated = state === "sent" && question !== undefined && !isPending(question);
      if (state !== "due" && !isOutdated) continue;
      missing.push(deliverJob(id, { runId: question?.runId ?? notice?.runId, questionId }, now));
    }
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE) return missing;
    after = last.id;
  }
}

function readDelivery(row: StoredEntry): Delivery[] {
  try {
    return [parseDelivery(parseEntry(row))];
  } catch {
    return []; // the check of the rows names it
  }
}

/** Missing jobs that stop agents: a cancelled run without a worker has none that could be alive. */
async function listMissingOfCancelled(store: Store, { keys, now }: KnownJobs): Promise<Job[]> {
  const missing: Job[] = [];
  for (let after: RunId | undefined; ;) {
    const runs = await store.listRuns({ statuses: ["cancelled"], order: "oldest", limit: PAGE, after });
    const owned = runs.filter(({ worker, giveBack }) => worker !== undefined && giveBack === "worker");
    missing.push(...owned.flatMap((run) => [runJob("stop", run, now), runJob("carry", run, now)]));
    after = runs.at(-1)?.id;
    if (runs.length < PAGE) return missing.filter(({ key }) => !keys.has(key));
  }
}

async function listMissing(store: Store, questions: readonly Question[], known: Parameters<typeof missingJobs>[1]) {
  const runs = await store.readRuns([...new Set(questions.map(({ runId }) => runId))]);
  return runs.flatMap((run) =>
    missingJobs({ run, questions: questions.filter(({ runId }) => runId === run.id) }, known),
  );
}
