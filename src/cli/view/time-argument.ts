import { parseDuration } from "../../core/text/duration.ts";
import { DAY_MS, type Instant, instant, later } from "../../core/instant.ts";
import { Refusal } from "../../core/refusal.ts";
import { type ClockOffset, startOfDay } from "./relative-time.ts";

/** The current time, the reader's clock, and whether times lie in the past or the future. */
export interface MomentContext {
  now: Instant;
  ahead: ClockOffset;
  toward: "past" | "future";
}

/** Parses a time as people type it: `2h` relative to now, `14:00` on their clock, `2026-11-15`, or a full time. */
export function parseMoment(text: string, at: MomentContext): Instant {
  const said = text.trim();
  const time = /^([01]?\d|2[0-3]):([0-5]\d)$/.exec(said);
  if (time) return clockTime(Number(time[1]) * 60 + Number(time[2]), at);
  if (/^\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?)?(Z|[+-]\d{2}:\d{2})?$/.test(said))
    return dated(said, at);
  const ms = durationOf(said);
  return later(at.now, at.toward === "past" ? -ms : ms);
}

/** Parses a time in the past, as for `--since`. */
export function parsePast(text: string, now: Instant, { ahead }: Pick<MomentContext, "ahead">): Instant {
  return parseMoment(text, { now, ahead, toward: "past" });
}

function durationOf(text: string) {
  try {
    return parseDuration(text);
  } catch (cause) {
    if (!(cause instanceof Refusal)) throw cause;
    throw new Refusal("bad_input", `"${text}" is not a time; write it like 90m, 2h, 3d, 14:00 or 2026-11-15`, {
      cause,
    });
  }
}

/** The next or last time of day on the reader's clock. */
function clockTime(minutes: number, { now, ahead, toward }: MomentContext) {
  const today = later(startOfDay(now, ahead), minutes * 60_000);
  if (toward === "future") return today > now ? today : later(today, DAY_MS);
  return today <= now ? today : later(today, -DAY_MS);
}

/** Parses a date; without a zone it is local. */
function dated(text: string, { ahead }: MomentContext) {
  const hasZone = /(Z|[+-]\d{2}:\d{2})$/.test(text) && text.length > "2026-11-15".length;
  const time = text.length === "2026-11-15".length ? `${text}T00:00` : text.replace(" ", "T");
  const ms = Date.parse(hasZone ? time : `${time}Z`);
  if (Number.isNaN(ms)) throw new Refusal("bad_input", `"${text}" is not a date; write it like 2026-11-15`);
  return hasZone ? instant(ms) : instant(ms - ahead(instant(ms)));
}
