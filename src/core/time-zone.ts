import { DAY_MS, MINUTE_MS } from "./instant.ts";

/** The moments at which a clock on the wall shows this: one; two when clocks go back; the jump when it is skipped. */
export function momentsOf(wallMs: number, offsetOf: (ms: number) => number): number[] {
  const [before, after] = [offsetOf(wallMs - DAY_MS), offsetOf(wallMs + DAY_MS)];
  const moments = [before, after].map((offset) => wallMs - offset).filter((ms) => ms + offsetOf(ms) === wallMs);
  return moments.length > 0 ? moments : [findJump(wallMs - after, wallMs - before, offsetOf)];
}

/** The first moment with the offset of the later one. */
function findJump(earlyMs: number, lateMs: number, offsetOf: (ms: number) => number): number {
  let [low, high] = [earlyMs, lateMs];
  while (high - low > MINUTE_MS) {
    const middle = low + Math.floor((high - low) / 2 / MINUTE_MS) * MINUTE_MS;
    if (offsetOf(middle) === offsetOf(lateMs)) high = middle;
    else low = middle;
  }
  return high;
}

/** How far the clocks of a zone are ahead of UTC at a time. */
export function offsetIn(zone: string): (ms: number) => number {
  const format = formatOf(zone);
  return (ms) => {
    // `1/1/2026, GMT+05:30`; plain GMT in UTC.
    const [, sign = "+", hours = "0", minutes = "0"] = /GMT([+-])(\d+):(\d+)/.exec(format.format(ms)) ?? [];
    return Number(`${sign}1`) * (Number(hours) * 60 + Number(minutes)) * MINUTE_MS;
  };
}

// Making a format takes longer than most decisions, and people live in few zones.
const formats = new Map<string, Intl.DateTimeFormat>();
const MOST_FORMATS = 100;

function formatOf(zone: string) {
  const known = formats.get(zone);
  if (known) return known;
  if (formats.size >= MOST_FORMATS) formats.clear();
  const format = new Intl.DateTimeFormat("en-US", { timeZone: zone, timeZoneName: "longOffset" });
  formats.set(zone, format);
  return format;
}

/** Says whether there is a time zone of this name, such as `Europe/Berlin`. */
export function isTimeZone(zone: string): boolean {
  try {
    return formatOf(zone).format(0) !== "";
  } catch {
    return false; // there is no such zone
  }
}
