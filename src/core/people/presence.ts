import { z } from "zod";
import type { Entry } from "../changes.ts";
import { Instant, SECOND_MS, later } from "../instant.ts";

/** How long a person counts as present after they were last seen at their inbox. */
const STAYS_MS = 30 * SECOND_MS;
/** A fresher sign of presence is not replaced: one person may have many pages open. */
const FRESH_MS = 5 * SECOND_MS;

/** Until when a person counts as present: at a page, `askd next` or `askd watch`. */
export const Presence = z.object({ until: Instant });
export type Presence = z.infer<typeof Presence>;

/** The presence of somebody who was seen now, with the row to write; no row if the known one will do. */
export function seePerson(
  id: string,
  known: Entry | undefined,
  now: Instant,
): { presence: Presence; entry: Entry | undefined } {
  const before = known && Presence.parse(known.body);
  const presence = { until: later(now, STAYS_MS) };
  if (before && before.until > later(presence.until, -FRESH_MS)) return { presence: before, entry: undefined };
  return { presence, entry: { kind: "presence", id, version: known?.version ?? 0, body: presence } };
}
