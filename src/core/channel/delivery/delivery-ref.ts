import { z } from "zod";

/** A message about a question or a run, as the row of that names it: its delivery row has the rest. */
export const DeliveryRef = z.object({
  id: z.string(),
  channel: z.string(),
  person: z.string().optional(),
  /** How often its recipient was named again since, by an escalation or an assignment. */
  calls: z.int().optional(),
});
export type DeliveryRef = z.infer<typeof DeliveryRef>;
