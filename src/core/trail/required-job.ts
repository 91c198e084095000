import { timerKey, holdCheckAt } from "../question/question-timer.ts";
import { jobKey } from "../run/job.ts";
import { type Question, isOutcomeOpen, isPending } from "../question/question.ts";
import type { Run } from "../run/run.ts";

/** Keys of the jobs a run in this state must have, or it would never continue. */
export function requiredRunJobs(run: Run): string[] {
  const keys: string[] = [];
  if (run.status === "resuming" && run.giveBack === "worker" && run.worker === undefined) {
    keys.push(jobKey("resume", run.id));
  }
  if (run.worker !== undefined) keys.push(jobKey("carry", run.id));
  return keys;
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
