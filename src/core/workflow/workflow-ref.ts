import { z } from "zod";
import { RunId } from "../id.ts";

/** The work of a workflow run: a definition that it keeps to its end, or one branch of a step of it. */
export const WorkflowRef = z.object({
  name: z.string(),
  /** The hash of the definition. */
  definition: z.string(),
  /** The parallel step and the branch of it that this run does for its parent. */
  branch: z.object({ step: z.string(), name: z.string() }).optional(),
  /** The name of the working tree that it and its branches share. */
  tree: z.string(),
  /** Of the runs with the same key only one is live. */
  key: z.string().optional(),
  /** It waits for runs that it started: it has no job until one of them ends. */
  isWaiting: z.boolean().optional(),
  /** A person repeats it: other runs may have taken its place since it ended. */
  isRepeated: z.literal(true).optional(),
  /** It came with an import: its steps wait until a person has approved the definition in this store. */
  isImported: z.literal(true).optional(),
});
export type WorkflowRef = z.infer<typeof WorkflowRef>;

/** The workflow run that waits for a run. */
export const WaitingWorkflow = z.object({ runId: RunId });
