import { z } from "zod";
import { Instant } from "./instant.ts";
import { JobKind } from "./job.ts";

/** A job that failed when it was last done, and the run that waits for it. */
export const FailingJob = z.object({
  key: z.string(),
  kind: JobKind,
  /** How often it failed. */
  tries: z.int(),
  why: z.string(),
  failedAt: Instant,
  /** When it is tried again. */
  nextAt: Instant,
  run: z.object({ id: z.string(), number: z.int(), name: z.string() }).optional(),
  questionId: z.string().optional(),
});
export type FailingJob = z.infer<typeof FailingJob>;

/** What keeps questions and runs from going on as they should. */
export const Troubles = z.object({ failing: z.array(FailingJob) });
export type Troubles = z.infer<typeof Troubles>;

const FailingJobView = z.object({
  kind: z.string(),
  run: z.int().nullable(),
  run_id: z.string().nullable(),
  question_id: z.string().nullable(),
  tries: z.int(),
  why: z.string(),
  failed_at: Instant,
  next_at: Instant,
});
export const TroublesView = z.object({ failing: z.array(FailingJobView) });
export type TroublesView = z.infer<typeof TroublesView>;

/** The same for programs. */
export function viewTroubles({ failing }: { failing: readonly FailingJob[] }): TroublesView {
  return { failing: failing.map(viewFailing) };
}

function viewFailing({ kind, run, questionId, tries, why, failedAt, nextAt }: FailingJob): TroublesView["failing"][0] {
  return {
    ...{ kind, run: run?.number ?? null, run_id: run?.id ?? null, question_id: questionId ?? null },
    ...{ tries, why, failed_at: failedAt, next_at: nextAt },
  };
}
