import { HOUR_MS, type Instant, MINUTE_MS, later } from "../../instant.ts";
import { type Job, jobKey } from "../../run/job.ts";
import type { ApprovedWorkflow } from "../approval.ts";
import type { WorkflowDefinition } from "../definition/definition.ts";
import { labelsOf, schedulesOf } from "./match-trigger.ts";
import { findNextDue } from "./schedule.ts";

/** A job looks at least this often, so that a changed file or clock is noticed. */
const LONGEST_MS = 12 * HOUR_MS;
/** How often issues are looked at for labels. */
const LABEL_MS = MINUTE_MS;

/** The job that starts runs of a workflow by its triggers; a workflow without such triggers has none. */
export function firstTriggerJobs(workflow: ApprovedWorkflow, definition: WorkflowDefinition, now: Instant): Job[] {
  const dueAt = nextLookAt(definition, now);
  return dueAt === undefined ? [] : [triggerJob(workflow, dueAt)];
}

export function triggerJob({ id, host }: Pick<ApprovedWorkflow, "id" | "host">, dueAt: Instant): Job {
  return { key: jobKey("trigger", id), kind: "trigger", dueAt, host, tries: 0 };
}

/** When the triggers are looked at next; undefined if nothing of them is found by looking. */
export function nextLookAt(definition: WorkflowDefinition, now: Instant): Instant | undefined {
  const times = schedulesOf(definition).flatMap(({ trigger }) => findNextDue(trigger, now) ?? []);
  const looks = labelsOf(definition).length > 0 ? [later(now, LABEL_MS)] : [];
  const [first] = [...times, ...looks].toSorted();
  if (first === undefined) return undefined;
  const latest = later(now, LONGEST_MS);
  return first < latest ? first : latest;
}
