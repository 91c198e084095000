import { parseDuration } from "../core/duration.ts";
import { type Instant, instant, later } from "../core/instant.ts";
import { Refusal } from "../core/refusal.ts";
import type { Ahead } from "./when.ts";

/** Reads a moment: so long ago (`7d`), a day on the reader's clock (`2026-11-01`), or an exact time. */
export function readMoment(text: string, now: Instant, ahead: Ahead): Instant {
  const word = text.trim();
  if (/^\d{4}-\d\d-\d\d$/.test(word) && !Number.isNaN(Date.parse(word))) {
    const midnight = instant(Date.parse(word));
    return later(midnight, -ahead(midnight));
  }
  if (/^\d{4}-\d\d-\d\dT/.test(word) && !Number.isNaN(Date.parse(word))) return instant(Date.parse(word));
  try {
    return later(now, -parseDuration(word));
  } catch (cause) {
    throw new Refusal("bad_input", `"${word.slice(0, 40)}" is no time; write it like 7d, 12h or 2026-11-01`, { cause });
  }
}
