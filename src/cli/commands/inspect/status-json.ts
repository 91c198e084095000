import type { Run } from "../../../core/run/run.ts";
import { viewTroubles } from "../../../core/run/failing-job.ts";
import { viewUsage } from "../../../core/run/usage.ts";
import { viewQuestion, viewRun } from "../../../core/api/view.ts";
import type { StatusView } from "./status-view.ts";

/** The JSON of `askd status`. */
export function viewStatus(view: StatusView): object {
  const viewUsed = (run: Run) => ({ ...viewRun(run, view.machines), ...viewUsage(view.usage.get(run.id)) });
  return {
    waiting: view.waiting.map((read) => viewQuestion(read, view.machines)),
    waiting_total: view.waitingTotal,
    answered: [...view.answered, ...view.loggedOut].map(({ run, wayOn }) => ({
      ...viewUsed(run),
      resume_command: wayOn?.command ?? null,
    })),
    running: view.running.map(viewUsed),
    queued: view.queued.map(viewUsed),
    ...viewTroubles(view),
    failed: view.failed.map(({ run }) => viewUsed(run)),
    completed: view.completed.map(viewUsed),
    cancelled: view.cancelled.map(viewUsed),
  };
}
