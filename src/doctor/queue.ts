import { findWayOn } from "../agents/runner/takeover.ts";
import { sayMany } from "../core/text/plural.ts";
import { sayDuration } from "../core/text/duration.ts";
import { shortId } from "../core/id.ts";
import { DAY_MS, type Instant, MINUTE_MS, later, msBetween } from "../core/instant.ts";
import type { Job, JobKind } from "../core/run/job.ts";
import type { Question } from "../core/question/question.ts";
import { hasLivingWorker } from "../agents/runner/worker-row.ts";
import { type Run, isAnswerUntaken } from "../core/run/run.ts";
import { isUrgent } from "../engine/jobs/job-retry.ts";
import type { KeptJob, Store } from "../store/store.ts";
import type { Finding } from "./finding.ts";
import type { Patient } from "./doctor-context.ts";

/** How long something may be overdue while somebody is there to do it. */
const GRACE_MS = MINUTE_MS;
/** Leases are seconds; one this long was made by a clock that was wrong. */
const LONG_LEASE_MS = 10 * MINUTE_MS;
const MOST_JOBS = 10_000;
const MOST_CLOSED = 500;
const MOST_RUNS = 200;
const RECENT_MS = 7 * DAY_MS;
/** Tried so often, and still not done: somebody should look. */
const MANY_TRIES = 3;
/** What only a worker on the run's host does. */
const FOR_A_WORKER: ReadonlySet<JobKind> = new Set(["resume", "carry", "stop"]);
/** What brings something to people or programs outside. */
const OUTWARD: ReadonlySet<JobKind> = new Set(["deliver", "update", "callback"]);

type At = Pick<Patient, "host" | "env" | "doDue" | "startWorker"> & {
  release(jobs: readonly Job[]): Promise<void>;
};

/** What waits, what is stuck, and what did not reach anybody. */
export async function checkQueue(store: Store, at: At): Promise<Finding[]> {
  const now = await store.now();
  const jobs = await store.listJobs(MOST_JOBS);
  const isWorker = await hasLivingWorker(store, at.host);
  const stuck = jobs.filter((job) => isStuck(job, { now, host: at.host, isWorker }));
  const lost = await listLost(store, now);
  const failing = jobs.filter(isFailing);
  const untaken = await listUntaken(store, at);
  return [
    ...(await sayWaiting(store, now)),
    ...(stuck.length > 0 ? [describeStuck(stuck, now, { ...at, isWorker })] : []),
    ...lost.map((question) => describeLost(question, now)),
    ...(await describeAllFailing(failing, store, now)),
    ...untaken,
    {
      ...{ code: "jobs", area: "queue", level: "ok" },
      text: `${stuck.length} stuck; ${failing.length > 0 ? `${failing.length} failing; ` : ""}${lost.length + untaken.length} undelivered`,
    },
  ];
}

async function sayWaiting(store: Store, now: Instant): Promise<Finding[]> {
  const count = await store.countQuestions("pending");
  const [oldest] = await store.listQuestions({ status: "pending", order: "oldest", limit: 1 });
  const age = oldest ? `, oldest ${sayDuration(msBetween(oldest.askedAt, now))}` : "";
  return [{ code: "waiting", area: "queue", level: "ok", text: `${count} waiting${age}` }];
}

/** When the job could be claimed. */
function readyAt({ dueAt, leaseUntil }: KeptJob): Instant {
  return leaseUntil !== undefined && leaseUntil > dueAt ? leaseUntil : dueAt;
}

/**
 * A job whose lease ended long ago and that nobody took up again, one that a wrong clock has locked away, or one that
 * is overdue though somebody is there. What falls due while nothing runs is no such job: the next command does it.
 */
function isStuck(job: KeptJob, { now, host, isWorker }: { now: Instant; host: string; isWorker: boolean }): boolean {
  if (job.host !== undefined && job.host !== host) return false;
  if (job.leaseUntil !== undefined && msBetween(now, job.leaseUntil) > LONG_LEASE_MS) return true;
  const isOverdue = msBetween(readyAt(job), now) > GRACE_MS;
  return isOverdue && (job.leaseUntil !== undefined || isWorker || FOR_A_WORKER.has(job.kind));
}

function describeStuck(stuck: readonly KeptJob[], now: Instant, at: At & { isWorker: boolean }): Finding {
  const first = stuck.toSorted((one, other) => (readyAt(one) < readyAt(other) ? -1 : 1))[0];
  const sinceMs = first ? Math.max(0, msBetween(readyAt(first), now)) : 0;
  const kinds = [...new Set(stuck.map(({ kind }) => kind))].join(", ");
  const text = `${sayMany(stuck.length, "job")} (${kinds}) stuck${sinceMs > 0 ? ` for ${sayDuration(sinceMs)}` : ""}: ${
    stuck.length === 1 ? "its worker is" : "their workers are"
  } gone, and nobody took over`;
  return {
    ...{ code: "job_stuck", area: "queue", level: "problem", text },
    fix: "askd worker",
    repair: async () => {
      await at.release(stuck);
      if (stuck.some(({ kind }) => FOR_A_WORKER.has(kind)) && !at.isWorker && !(await at.startWorker())) {
        throw new Error("nothing may run in the background here; start it yourself: askd worker");
      }
      await at.doDue();
    },
  };
}

/** Questions whose outcome was given up on lately. */
async function listLost(store: Store, now: Instant): Promise<Question[]> {
  const since = later(now, -RECENT_MS);
  const pages = await Promise.all(
    (["answered", "timeout", "cancelled"] as const).map((status) =>
      store.listQuestions({ status, order: "newest", limit: MOST_CLOSED }),
    ),
  );
  return pages
    .flat()
    .filter((question) => question.askedAt >= since)
    .filter(
      (question) =>
        "handover" in question && question.handover?.state === "void" && question.handover.reason === "callback_failed",
    );
}

/** Answers that only a person can bring to the agent, and that nobody has brought yet. */
async function listUntaken(store: Store, at: At): Promise<Finding[]> {
  const runs = await store.listRuns({ statuses: ["resuming"], order: "oldest", limit: MOST_RUNS });
  return Promise.all(
    runs.filter(isAnswerUntaken).map(async (run) => {
      const { line, command } = await findWayOn(run, at, "askd");
      const text = `#${run.number} ${run.name} is answered, and nobody has brought the answer to ${run.agent}`;
      return { ...{ code: "answer_untaken", area: "queue", level: "warning", text }, fix: command ?? line };
    }),
  );
}

function describeLost(question: Question, now: Instant): Finding {
  const id = shortId(question.id);
  return {
    ...{ code: "undelivered", area: "queue", level: "problem" },
    text: `nobody took what became of ${id} "${question.title}" (asked ${sayDuration(msBetween(question.askedAt, now))} ago): its callback was given up`,
    fix: `have its program ask: askd check ${id}; why: askd show ${id}`,
  };
}

function isFailing({ failure, kind, tries }: KeptJob): boolean {
  // What another program scheduled, an import for example, may only say how often it failed.
  return failure !== undefined || (OUTWARD.has(kind) && tries >= MANY_TRIES);
}

async function describeAllFailing(jobs: readonly KeptJob[], store: Store, now: Instant): Promise<Finding[]> {
  const runs = await store.readRuns(jobs.flatMap(({ runId }) => runId ?? []));
  const byId = new Map(runs.map((run) => [run.id, run]));
  return jobs.map((job) => describeFailing(job, job.runId && byId.get(job.runId), now));
}

/** What was tried in vain and is tried again. A run that waits for it is a problem, somebody outside a warning. */
function describeFailing(job: KeptJob, run: Run | undefined, now: Instant): Finding {
  const { kind, tries, failure, dueAt, questionId } = job;
  const id = questionId === undefined ? undefined : shortId(questionId);
  const whose = [...(id === undefined ? [] : [id]), ...(run ? [`#${run.number} ${run.name}`] : [])].join(", ");
  const inMs = Math.max(0, msBetween(now, dueAt));
  const isMany = tries >= MANY_TRIES;
  const often = tries === 1 ? "once" : `${tries} times`;
  const what = `the ${kind}${whose === "" ? "" : ` of ${whose}`} failed ${often}${failure ? `: ${failure.why}` : ""}`;
  const next = inMs < MINUTE_MS ? "soon" : `in ${sayDuration(inMs)}`;
  return {
    ...{ code: OUTWARD.has(kind) ? "delivery_failing" : "job_failing", area: "queue" },
    level: isUrgent(job) && isMany ? "problem" : "warning",
    text: `${what}; it is tried again ${next}`,
    fix: sayFix(run, id),
  };
}

function sayFix(run: Run | undefined, id: string | undefined): string {
  if (id !== undefined) return `put that right; see askd show ${id}`;
  return run
    ? `put that right, or end the run: askd runs cancel ${run.number}`
    : "put that right; askd goes on by itself";
}
