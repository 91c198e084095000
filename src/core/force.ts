import type { Question } from "./question/question.ts";
import type { Run } from "./run/run.ts";

/** Says whether a run that ended for want of an answer can still be taken up by a forced one. */
export function mayForce(run: Run, question: Question): boolean {
  if (question.status !== "timeout" || question.forced !== undefined || run.lastQuestionId !== question.id)
    return false;
  return (
    run.status === "completed" ||
    run.status === "skipped" ||
    (run.status === "failed" && run.reason === "input_timeout")
  );
}
