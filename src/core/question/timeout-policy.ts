import { z } from "zod";

/** What can happen to a question that nobody answered in time. */
export const TimeoutDo = z.enum(["wait", "proceed", "skip", "default", "escalate", "fail", "defer"]);
export type TimeoutDo = z.infer<typeof TimeoutDo>;
