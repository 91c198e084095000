const HOURS = /^([01]?\d|2[0-3]):([0-5]\d)\s*-\s*([01]?\d|2[0-3]):([0-5]\d)$/;

/** Says whether this is a time range such as `22:00-07:00`. */
export function isHours(given: string): boolean {
  return HOURS.test(given);
}

/** Parses a time range to minutes of the day; the end may be on the next day. */
export function parseHours(given: string): { from: number; to: number } {
  const [, fromHour, fromMinute, toHour, toMinute] = HOURS.exec(given) ?? [];
  return { from: Number(fromHour) * 60 + Number(fromMinute), to: Number(toHour) * 60 + Number(toMinute) };
}
