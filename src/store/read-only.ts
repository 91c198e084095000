import { Refusal } from "../core/refusal.ts";

/** The refusal of a change to a store that was opened to be read only. */
export function readOnlyRefusal(cause?: unknown): Refusal {
  return new Refusal("store_unusable", "The store was opened to be read only; nothing was changed.", {
    hint: "Leave out --read-only; a command that only looks opens a store that --store names so.",
    cause,
  });
}
