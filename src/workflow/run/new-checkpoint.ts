import type { Instant } from "../../core/instant.ts";
import type { Checkpoint } from "../../core/workflow/checkpoint.ts";

/** The checkpoint of a run that has done nothing yet. */
export function newCheckpoint(data: Readonly<Record<string, unknown>>, now: Instant): Checkpoint {
  return { list: "steps", index: 0, data: { ...data }, steps: {}, started: 0, updatedAt: now };
}
