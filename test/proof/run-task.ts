import { z } from "zod";
import { Place } from "./place.ts";

/** What a worker in a process of its own is told. */
export const WorkerTask = z.object({
  place: Place,
  stateDir: z.string(),
  askd: z.array(z.string()),
  /** Where it ends or stops itself: at the so-manieth time that it comes to this step. */
  at: z.object({ step: z.string(), nth: z.int().positive(), signal: z.enum(["SIGKILL", "SIGSTOP"]) }).optional(),
});
export type WorkerTask = z.infer<typeof WorkerTask>;
