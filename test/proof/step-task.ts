import { z } from "zod";
import { Place } from "./place.ts";

/** The task of a worker in a process of its own that does steps of workflows. */
export const StepTask = z.object({
  place: Place,
  stateDir: z.string(),
  /** The address of the GitHub service. */
  github: z.string(),
  leaseMs: z.int(),
  /** The station at which it kills itself. */
  kill: z.string().optional(),
});
export type StepTask = z.infer<typeof StepTask>;
