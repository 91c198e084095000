import { clockKey, lapseAt } from "../question/question-timer.ts";
import { jobKey } from "../run/job.ts";
import { type Question, isOutcomeOpen, isPending } from "../question/question.ts";
import type { Run } from "../run/run.ts";

/** Keys of the jobs without which a run would stay as it is for ever. */
export function requiredRunJobs(run: Run): string[] {
  const keys: string[] = [];
  if (run.status === "resuming" && run.giveBack === "worker" && run.worker === undefined) {
    keys.push(jobKey("resume", run.id));
  }
  if (run.worker !== undefined) keys.push(jobKey("carry", run.id));
  return keys;
}

/** Keys of the jobs without which a question would never time out, or its outcome never reach a callback. */
export function requiredQuestionJobs(question: Question, run: Run): string[] {
  if (isPending(question)) {
    const isTimed = question.settling !== undefined || question.dueAt !== undefined || lapseAt(question) !== undefined;
    return isTimed ? [clockKey(question)] : [];
  }
  return run.callback !== undefined && run.giveBack === "callback" && isOutcomeOpen(question)
    ? [jobKey("callback", question.id)]
    : [];
}
