import { listPendingPages } from "../engine/pending-questions.ts";
import type { QuestionId, RunId } from "../core/id.ts";
import { isTimer } from "../core/question/question-timer.ts";
import type { Question } from "../core/question/question.ts";
import { pluralize } from "../core/text/plural.ts";
import { missingJobs } from "../core/trail/required-job.ts";
import type { Rules } from "../core/rules.ts";
import { LIVE_STATUSES } from "../core/run/run.ts";
import { expiryJob, parseToken } from "../core/people/token.ts";
import type { Job } from "../core/run/job.ts";
import type { Store } from "../store/store.ts";
import type { Finding } from "./finding.ts";

const MOST_JOBS = 1_000_000;
const PAGE = 200;

/** Schedules and drops jobs. */
export type MendJobs = (jobs: { scheduled: readonly Job[]; dropped: readonly string[] }) => Promise<void>;

/** Checks that every pending question has its timer and every run its job, and that no timer is left of a question that is closed or gone. */
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

async function listMissing(store: Store, questions: readonly Question[], known: Parameters<typeof missingJobs>[1]) {
  const runs = await store.readRuns([...new Set(questions.map(({ runId }) => runId))]);
  return runs.flatMap((run) =>
    missingJobs({ run, questions: questions.filter(({ runId }) => runId === run.id) }, known),
  );
}
