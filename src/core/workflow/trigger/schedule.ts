import { type Instant, MINUTE_MS, later } from "../../instant.ts";
import type { WorkflowTrigger } from "../definition/definition.ts";
import { nextDue, parseCron } from "./cron.ts";

/** A run that starts this late still counts as on time. */
const GRACE_MS = 5 * MINUTE_MS;
const DEFAULT_ZONE = "UTC";

export type ScheduleTrigger = Extract<WorkflowTrigger, { schedule: string }>;

/** Says whether a run starts now, and when the next one is due. */
export interface ScheduleDecision {
  isDue: boolean;
  nextAt: Instant | undefined;
}

/** The first time of a schedule after an instant. */
export function findNextDue({ schedule, timezone }: ScheduleTrigger, after: Instant): Instant | undefined {
  return nextDue(parseCron(schedule), timezone ?? DEFAULT_ZONE, after);
}

/**
 * Decides about a schedule that was due at `dueAt`, some time before `now`. However many times were missed, `run_once`
 * starts one run in their place; `skip` starts one only if the last of them was just now.
 */
export function decideSchedule(trigger: ScheduleTrigger, dueAt: Instant, now: Instant): ScheduleDecision {
  if (now < dueAt) return { isDue: false, nextAt: dueAt };
  const nextAt = findNextDue(trigger, now);
  if ((trigger.missed ?? "run_once") === "run_once") return { isDue: true, nextAt };
  const graceStart = later(now, -GRACE_MS);
  const isOnTime = dueAt >= graceStart || isBefore(findNextDue(trigger, graceStart), now);
  return { isDue: isOnTime, nextAt };
}

function isBefore(at: Instant | undefined, now: Instant) {
  return at !== undefined && at <= now;
}
