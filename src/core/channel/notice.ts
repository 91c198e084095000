import { z } from "zod";
import type { Event, EventType } from "../trail/event.ts";
import { RunId } from "../id.ts";
import { Instant } from "../instant.ts";
import type { Run } from "../run/run.ts";

/** News that is about no question: how a run ended, and alerts. */
export const NOTICES = [
  "run.completed",
  "run.failed",
  "run.skipped",
  "run.cancelled",
  "run.blocked",
  "alert.pending",
  "alert.timeout_rate",
  "alert.failing_jobs",
  "alert.silent_machine",
] as const satisfies readonly EventType[];
const NoticeName = z.enum(NOTICES);
export type NoticeName = z.infer<typeof NoticeName>;

/** News for people, with the values of its sentence. */
export const Notice = z.object({
  what: NoticeName,
  at: Instant,
  /** The run it is about, or the one that made the difference. */
  runId: RunId,
  values: z.record(z.string(), z.union([z.string(), z.number()])),
});
export type Notice = z.infer<typeof Notice>;

/** News of how a run ended or why it cannot go on; undefined for any other event. */
export function findRunNotice(run: Run, { type, at, runId }: Event): Notice | undefined {
  const { data: what } = NoticeName.safeParse(type);
  if (what === undefined || !what.startsWith("run.") || runId !== run.id) return undefined;
  return { what, at, runId, values: { reason: run.reason ?? "" } };
}

/** News that wait for no better time: something has stopped, and nobody else looks after it. */
export function isUrgentNotice({ what }: Notice): boolean {
  return what === "alert.failing_jobs" || what === "alert.silent_machine";
}
