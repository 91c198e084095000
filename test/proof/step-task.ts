import { z } from "zod";
import { Place } from "./place.ts";

/** The task of a worker in a process of its own that does steps of workflows. */
export const StepTask = z.object({
  place: Place,
  stateDir: z.string(),
  /** The address of the GitHub service. */
  github: z.string(),
  leaseMs: z.int(),
  /** The station at which it kills itself; `committed each#2` is the second time that it comes there. */
  kill: z.string().optional(),
  /** The command line of its MCP server and of its agent. */
  tools: z.array(z.string()),
  agent: z.array(z.string()),
});
export type StepTask = z.infer<typeof StepTask>;
