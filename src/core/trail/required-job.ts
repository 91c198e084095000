import type { Instant } from "../instant.ts";
import { holdCheckAt, setTimer, timerJob, timerKey } from "../question/question-timer.ts";
import { startJob } from "../run/handover.ts";
import { type Job, jobKey, questionJob, runJob } from "../run/job.ts";
import { type Question, isOutcomeOpen, isPending } from "../question/question.ts";
import type { Rules } from "../rules.ts";
import type { Run } from "../run/run.ts";
import type { WorkflowRef } from "../workflow/workflow-ref.ts";

/** Keys of the jobs a run in this state must have, or it would never continue. */
export function requiredRunJobs(run: Run): string[] {
  if (run.workflow) return isStepDue(run, run.workflow) ? [jobKey("step", run.id)] : [];
  const keys: string[] = [];
  if (run.status === "resuming" && run.giveBack === "worker" && run.worker === undefined) {
    keys.push(jobKey("resume", run.id));
  }
  if (run.worker !== undefined) keys.push(jobKey("carry", run.id));
  return keys;
}

/** Says whether a workflow has something to do: it waits neither for a person nor for runs that it started. */
function isStepDue({ status }: Run, { isWaiting = false }: WorkflowRef) {
  return status === "queued" || status === "resuming" || (status === "running" && !isWaiting);
}

/** Keys of the jobs a question in this state must have, or it would never time out or reach its callback. */
export function requiredQuestionJobs(question: Question, run: Run): string[] {
  if (isPending(question)) {
    const isTimed =
      question.settling !== undefined || question.dueAt !== undefined || holdCheckAt(question) !== undefined;
    return isTimed ? [timerKey(question)] : [];
  }
  return run.callback !== undefined && run.giveBack === "callback" && isOutcomeOpen(question)
    ? [jobKey("callback", question.id)]
    : [];
}

interface KnownJobs {
  keys: ReadonlySet<string>;
  now: Instant;
  /** By which people are reminded; without them a timer is for the deadline. */
  rules?: Rules;
}

/** The jobs that a run and its questions must have and that are not among these keys, ready to be scheduled. */
export function missingJobs(
  { run, questions }: { run: Run; questions: readonly Question[] },
  { keys, now, rules }: KnownJobs,
): Job[] {
  const isMissing = (key: string) => !keys.has(key);
  return [
    ...requiredRunJobs(run)
      .filter(isMissing)
      .map((key) => (key === jobKey("carry", run.id) ? runJob("carry", run, now) : startJob(run, now))),
    ...questions.flatMap((question) =>
      requiredQuestionJobs(question, run)
        .filter(isMissing)
        .map(() => questionTimer(question, { now, rules })),
    ),
  ];
}

/** The next thing that time does to a question: an answer settles, a vanished caller is looked for, the deadline. */
function questionTimer(question: Question, { now, rules }: Omit<KnownJobs, "keys">): Job {
  if (!isPending(question)) return questionJob("callback", question, now);
  const next = rules && setTimer(question, rules).scheduled[0];
  if (next) return next;
  const { settling, dueAt } = question;
  if (settling) return timerJob("settle", question, settling.until);
  const checkAt = holdCheckAt(question);
  if (checkAt !== undefined && (dueAt === undefined || checkAt < dueAt)) return timerJob("watch", question, checkAt);
  return timerJob("expire", question, dueAt ?? now);
}
