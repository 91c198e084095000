import { timerKey, holdCheckAt } from "../../src/core/question/question-timer.ts";
import type { Event } from "../../src/core/trail/event.ts";
import type { Instant } from "../../src/core/instant.ts";
import { type Job, jobKey } from "../../src/core/run/job.ts";
import { isPending, owesOutcome, type Question } from "../../src/core/question/question.ts";
import type { Run } from "../../src/core/run/run.ts";
import type { Store } from "../../src/store/store.ts";

const OUTCOMES: ReadonlySet<string> = new Set(["question.answered", "question.timed_out", "question.cancelled"]);
const PAGE = 500;
const MOST_JOBS = 1_000_000;

type DueAt = ReadonlyMap<string, Instant>;

/** Everything that is kept about one run. */
export interface Kept {
  run: Run;
  questions: Question[];
  events: Event[];
}

/** Reads all runs with what belongs to them; nobody may write meanwhile. */
export async function readAll(store: Store): Promise<{ kept: Kept[]; jobs: Job[] }> {
  const kept: Kept[] = [];
  for (let after: Run["id"] | undefined; ;) {
    const runs = await store.listRuns({ order: "oldest", limit: PAGE, ...(after && { after }) });
    kept.push(...(await Promise.all(runs.map((run) => readOne(store, run)))));
    after = runs.at(-1)?.id;
    if (runs.length < PAGE) break;
  }
  return { kept, jobs: await store.listJobs(MOST_JOBS) };
}

/** One line for each promise about questions, runs and their trail that does not hold. */
export function findBroken({ kept, jobs }: { kept: readonly Kept[]; jobs: readonly Job[] }): string[] {
  const dueAt: DueAt = new Map(jobs.map((job) => [job.key, job.dueAt]));
  return kept.flatMap(({ run, questions, events }) => [
    ...checkRun(run, questions, events, dueAt),
    ...questions.flatMap((question) => checkQuestion(question, events, dueAt)),
  ]);
}

async function readOne(store: Store, run: Run): Promise<Kept> {
  const [questions, chain] = await Promise.all([
    store.listQuestions({ runId: run.id, order: "oldest", limit: PAGE }),
    store.readChain(run.id),
  ]);
  return { run, questions, events: chain.events.map(({ event }) => event) };
}

function checkRun(run: Run, questions: readonly Question[], events: readonly Event[], jobs: DueAt): string[] {
  const problems: string[] = [];
  const pending = questions.filter(isPending).map((question) => question.id);
  if (pending.length > 1) problems.push(`${pending.length} questions of the run are pending`);
  if (run.pendingId !== pending[0]) problems.push(`it waits for ${run.pendingId}, pending is ${pending[0]}`);
  const owed = questions.filter(owesOutcome).map((question) => question.id);
  if ([...run.owes].sort().join() !== [...owed].sort().join())
    problems.push(`it owes [${run.owes.join()}], the questions say [${owed.join()}]`);
  let status: string | undefined;
  for (const event of events.filter((each) => each.questionId === undefined)) {
    if (event.from !== status) problems.push(`${event.type} came from ${event.from}, the line before left ${status}`);
    status = event.to;
  }
  if (status !== run.status) problems.push(`it is ${run.status}, its trail ends with ${status}`);
  const mustResume = run.status === "resuming" && run.giveBack === "worker";
  if (mustResume && !jobs.has(jobKey("resume", run.id))) problems.push("nothing will resume it");
  return problems.map((what) => `run ${run.id}: ${what}`);
}

function checkQuestion(question: Question, events: readonly Event[], jobs: DueAt): string[] {
  const problems: string[] = [];
  const own = events.filter((event) => event.questionId === question.id);
  const outcomes = own.filter((event) => OUTCOMES.has(event.type)).map((event) => event.type);
  if (outcomes.length !== (isPending(question) ? 0 : 1))
    problems.push(`it is ${question.status} and its trail has the outcomes [${outcomes.join()}]`);
  const versions = new Set(own.map((event) => event.version));
  for (let version = 1; version <= question.version; version += 1)
    if (!versions.has(version)) problems.push(`no event tells of the change to version ${version}`);
  const next = nextTime(question);
  const scheduled = jobs.get(timerKey(question));
  if (next !== undefined && (scheduled === undefined || scheduled > next))
    problems.push(`something happens at ${next}, its job is due ${scheduled ?? "never"}`);
  return problems.map((what) => `question ${question.id}: ${what}`);
}

/** When time does the next thing to a question that must not be forgotten. */
function nextTime(question: Question): Instant | undefined {
  if (!isPending(question)) return undefined;
  if (question.settling) return question.settling.until;
  return [question.dueAt, holdCheckAt(question)].filter((time) => time !== undefined).sort()[0];
}
