import { z } from "zod";

/** The timeout policies. A file of its own, so that the command line can load it without the schemas of questions. */
export const TimeoutPolicy = z.enum(["wait", "proceed", "skip", "default", "escalate", "fail", "defer"]);
export type TimeoutPolicy = z.infer<typeof TimeoutPolicy>;
