import { z } from "zod";
import type { Entry } from "../changes.ts";
import { QuestionId, RunId } from "../id.ts";
import { Instant } from "../instant.ts";

/** The lists of steps in a definition. */
export const StepList = z.enum(["steps", "on_timeout", "on_failure"]);
export type StepList = z.infer<typeof StepList>;

/** Why a step failed; `code` is one of a few words, for programs. */
export const StepFailure = z.object({
  code: z.string(),
  message: z.string(),
  /** The end of what a program printed, with its lines, without secrets. */
  output: z.string().optional(),
});
export type StepFailure = z.infer<typeof StepFailure>;

/** How far one step has come. */
export const StepRecord = z.object({
  /** `running`: its start is recorded, its end is not. `suspended`: it waits for a person. `waiting`: for other runs. */
  status: z.enum(["running", "suspended", "waiting", "retrying", "completed", "skipped", "failed"]),
  tool: z.string(),
  startedAt: Instant,
  endedAt: Instant.optional(),
  /** Counts from 1; a step that is repeated after a failure counts on. */
  attempt: z.int(),
  /** The input as people may see it, without secrets. */
  input: z.unknown().optional(),
  output: z.unknown().optional(),
  failure: StepFailure.optional(),
  questionId: QuestionId.optional(),
  /** The runs that it started, by branch; an agent's run has the name of the step. */
  runs: z.record(z.string(), RunId).optional(),
  /** Of a step that is done for each item of a list: the outputs of the items that are done. */
  outputs: z.array(z.unknown()).optional(),
});
export type StepRecord = z.infer<typeof StepRecord>;

/** Where a workflow run stands: everything that is needed to go on with it after any crash. */
export const Checkpoint = z.object({
  /** Where the next step is looked for, or the one that was started. */
  list: StepList,
  index: z.int(),
  /** The step whose start is recorded and whose end is not. */
  current: z.string().optional(),
  /** The values that expressions see: inputs, outputs of steps, values that `on_resume` injected. */
  data: z.record(z.string(), z.unknown()),
  steps: z.record(z.string(), StepRecord),
  /** How many steps were started, over all repetitions. */
  started: z.int(),
  /** How the run ends after the steps of `on_timeout` or `on_failure`. */
  ending: z
    .object({ status: z.enum(["skipped", "failed", "blocked"]), reason: z.string(), summary: z.string().optional() })
    .optional(),
  pendingQuestionId: QuestionId.optional(),
  suspendedAt: Instant.optional(),
  resumedAt: Instant.optional(),
  updatedAt: Instant,
});
export type Checkpoint = z.infer<typeof Checkpoint>;

/** A checkpoint as read, with the version that the next one replaces; 0 if it is new. */
export interface KeptCheckpoint {
  version: number;
  checkpoint: Checkpoint;
}

export function checkpointEntry(runId: RunId, { version, checkpoint }: KeptCheckpoint): Entry {
  return { kind: "checkpoint", id: runId, parent: runId, version, body: { ...checkpoint } };
}

export function parseCheckpoint({ version, body }: Pick<Entry, "version" | "body">): KeptCheckpoint {
  return { version, checkpoint: Checkpoint.parse(body) };
}
