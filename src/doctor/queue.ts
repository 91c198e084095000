import { adviseResume } from "../agents/runner/takeover.ts";
import { pluralize } from "../core/text/plural.ts";
import { formatDuration } from "../core/text/duration.ts";
import { shortId } from "../core/id.ts";
import { DAY_MS, type Instant, MINUTE_MS, later, msBetween } from "../core/instant.ts";
import type { JobKind } from "../core/run/job.ts";
import type { Question } from "../core/question/question.ts";
import { hasLivingWorker } from "../agents/runner/worker-row.ts";
import { type Run, hasEnded, isAnswerUntaken } from "../core/run/run.ts";
import { listPending } from "../engine/pending-questions.ts";
import { isUrgent } from "../engine/jobs/job-retry.ts";
import type { KeptJob, Store } from "../store/store.ts";
import type { Finding } from "./finding.ts";
import type { DoctorContext } from "./doctor-context.ts";

/** How long a job may be overdue while a worker is alive. */
const GRACE_MS = MINUTE_MS;
/** Leases last seconds; one this long was made by a wrong clock. */
const LONG_LEASE_MS = 10 * MINUTE_MS;
const MOST_JOBS = 10_000;
const MOST_CLOSED = 500;
const MOST_RUNS = 200;
const RECENT_MS = 7 * DAY_MS;
/** Attempts after which a failing job is reported. */
const MANY_TRIES = 3;
/** Jobs that only a worker on the run's host does. */
const FOR_A_WORKER: ReadonlySet<JobKind> = new Set(["resume", "carry", "stop"]);
/** Jobs that reach people or programs outside. */
const OUTWARD: ReadonlySet<JobKind> = new Set(["deliver", "mark_issue", "callback"]);

type QueueContext = Pick<DoctorContext, "agents" | "host" | "env" | "doDue" | "startWorker"> & {
  release(jobs: readonly KeptJob[]): Promise<void>;
};

/** Checks pending questions, stuck jobs and failed deliveries. */
export async function checkQueue(store: Store, at: QueueContext): Promise<Finding[]> {
  const now = await store.now();
  const jobs = await store.listJobs(MOST_JOBS);
  const isWorker = await hasLivingWorker(store, at.host);
  const stuck = jobs.filter((job) => isStuck(job, { now, host: at.host, isWorker }));
  const lost = await listLost(store, now);
  const failing = jobs.filter(isFailing);
  const untaken = await listUntaken(store, at);
  return [
    ...(await countWaiting(store, now)),
    ...(stuck.length > 0 ? [describeStuck(stuck, now, { ...at, isWorker })] : []),
    ...lost.map((question) => describeLost(question, now)),
    ...(await describeAllFailing(failing, store, now)),
    ...untaken,
    ...(await listUnreachable(store)),
    {
      code: "jobs",
      area: "queue",
      level: "ok",
      text: `${stuck.length} stuck; ${failing.length > 0 ? `${failing.length} failing; ` : ""}${lost.length + untaken.length} undelivered`,
    },
  ];
}

async function countWaiting(store: Store, now: Instant): Promise<Finding[]> {
  const count = await store.countQuestions("pending");
  const [oldest] = await store.listQuestions({ status: "pending", order: "oldest", limit: 1 });
  const age = oldest ? `, oldest ${formatDuration(msBetween(oldest.askedAt, now))}` : "";
  return [{ code: "waiting", area: "queue", level: "ok", text: `${count} waiting${age}` }];
}

/** When the job can be claimed. */
function readyAt({ dueAt, leaseUntil }: KeptJob): Instant {
  return leaseUntil !== undefined && leaseUntil > dueAt ? leaseUntil : dueAt;
}

/**
 * Says whether a job is stuck: its lease ended long ago, a wrong clock leased it for too long, or it is overdue though
 * a worker is alive. A job that is due while nothing runs is not stuck: the next command does it.
 */
function isStuck(job: KeptJob, { now, host, isWorker }: { now: Instant; host: string; isWorker: boolean }): boolean {
  if (job.host !== undefined && job.host !== host) return false;
  if (job.leaseUntil !== undefined && msBetween(now, job.leaseUntil) > LONG_LEASE_MS) return true;
  const isOverdue = msBetween(readyAt(job), now) > GRACE_MS;
  return isOverdue && (job.leaseUntil !== undefined || isWorker || FOR_A_WORKER.has(job.kind));
}

function describeStuck(stuck: readonly KeptJob[], now: Instant, at: QueueContext & { isWorker: boolean }): Finding {
  const first = stuck.toSorted((one, other) => (readyAt(one) < readyAt(other) ? -1 : 1))[0];
  const sinceMs = first ? Math.max(0, msBetween(readyAt(first), now)) : 0;
  const kinds = [...new Set(stuck.map(({ kind }) => kind))].join(", ");
  const text = `${pluralize(stuck.length, "job")} (${kinds}) stuck${sinceMs > 0 ? ` for ${formatDuration(sinceMs)}` : ""}: ${
    stuck.length === 1 ? "its worker is" : "their workers are"
  } gone, and nobody took over`;
  return {
    code: "job_stuck",
    area: "queue",
    level: "problem",
    text,
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

/** Questions whose hand-over was voided recently. */
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

/** Answers that only a person can hand to the agent, and that are still open. */
async function listUntaken(store: Store, at: QueueContext): Promise<Finding[]> {
  const runs = await store.listRuns({ statuses: ["resuming"], order: "oldest", limit: MOST_RUNS });
  return Promise.all(
    runs.filter(isAnswerUntaken).map(async (run) => {
      const { line, command } = await adviseResume(run, at, "askd");
      const text = `#${run.number} ${run.name} is answered, and nobody has brought the answer to ${run.agent === "none" ? "the program that asked" : run.agent}`;
      return { code: "answer_untaken", area: "queue", level: "warning", text, fix: command ?? line };
    }),
  );
}

/** Pending questions that too few people are left to decide. */
async function listUnreachable(store: Store): Promise<Finding[]> {
  const findings: Finding[] = [];
  for await (const { id, title, isUnreachable, approvals } of listPending(store)) {
    if (!isUnreachable) continue;
    findings.push({
      code: "votes_unreachable",
      area: "queue",
      level: "warning",
      text: `${shortId(id)} "${title}" needs ${approvals.need} of ${approvals.from.join(", ")}, and too few of them are left`,
      fix: `add a person: askd user add <name>; or withdraw it: askd cancel ${shortId(id)}`,
    });
  }
  return findings;
}

function describeLost(question: Question, now: Instant): Finding {
  const id = shortId(question.id);
  return {
    code: "undelivered",
    area: "queue",
    level: "problem",
    text: `the outcome of ${id} "${question.title}" was not delivered (asked ${formatDuration(msBetween(question.askedAt, now))} ago): its callback failed`,
    fix: `have its program ask: askd check ${id}; why: askd show ${id}`,
  };
}

function isFailing({ failure, kind, tries }: KeptJob): boolean {
  // A job of an import may carry only its number of failures.
  return failure !== undefined || (OUTWARD.has(kind) && tries >= MANY_TRIES);
}

async function describeAllFailing(jobs: readonly KeptJob[], store: Store, now: Instant): Promise<Finding[]> {
  const runs = await store.readRuns(jobs.flatMap(({ runId }) => runId ?? []));
  const byId = new Map(runs.map((run) => [run.id, run]));
  return jobs.map((job) => describeFailing(job, job.runId && byId.get(job.runId), now));
}

/** Describes a failing job: a problem if a run waits for it, a warning if a receiver outside does. */
function describeFailing(job: KeptJob, run: Run | undefined, now: Instant): Finding {
  const { kind, tries, failure, dueAt, questionId } = job;
  const id = questionId === undefined ? undefined : shortId(questionId);
  const whose = [...(id === undefined ? [] : [id]), ...(run ? [`#${run.number} ${run.name}`] : [])].join(", ");
  const inMs = Math.max(0, msBetween(now, dueAt));
  const isMany = tries >= MANY_TRIES;
  const often = tries === 1 ? "once" : `${tries} times`;
  const what = `the ${kind}${whose === "" ? "" : ` of ${whose}`} failed ${often}${failure ? `: ${failure.why}` : ""}`;
  const next = inMs < MINUTE_MS ? "soon" : `in ${formatDuration(inMs)}`;
  return {
    code: OUTWARD.has(kind) ? "delivery_failing" : "job_failing",
    area: "queue",
    level: isUrgent(job) && isMany ? "problem" : "warning",
    text: `${what}; it is tried again ${next}`,
    fix: /kill -9 [\d ]+/.exec(failure?.why ?? "")?.[0] ?? describeFix(run, id),
  };
}

function describeFix(run: Run | undefined, id: string | undefined): string {
  if (id !== undefined) return `put that right; see askd show ${id}`;
  return run && !hasEnded(run)
    ? `put that right, or end the run: askd runs cancel ${run.number}`
    : "put that right; askd goes on by itself";
}
