import { DAY_MS, HOUR_MS, type Instant, MINUTE_MS, epochMs, instant } from "../../instant.ts";
import { momentsOf, offsetIn } from "../../time-zone.ts";

const MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const DAYS = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];
const DAYS_OF_MONTH = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
const LONGEST_TEXT = 200;
/** February 29 is at most eight years away, around a year such as 2100. */
const MOST_DAYS = 9 * 366;
/** Clocks are moved by less than this; candidates this near to each other may change their order. */
const LARGEST_SHIFT_MS = 3 * HOUR_MS;

interface FieldRange {
  name: string;
  least: number;
  most: number;
  /** Words for the values, from the least. */
  words?: readonly string[];
}

const MINUTE: FieldRange = { name: "minute", least: 0, most: 59 };
const HOUR: FieldRange = { name: "hour", least: 0, most: 23 };
const DAY: FieldRange = { name: "day of the month", least: 1, most: 31 };
const MONTH: FieldRange = { name: "month", least: 1, most: 12, words: MONTHS };
const WEEKDAY: FieldRange = { name: "day of the week", least: 0, most: 7, words: DAYS };

/** One field: its values in order, and whether it began with a star, which restricts nothing by itself. */
interface CronField {
  values: readonly number[];
  isStar: boolean;
}

/** A parsed cron expression. */
export interface Cron {
  minute: CronField;
  hour: CronField;
  day: CronField;
  month: CronField;
  weekday: CronField;
}

/** A mistake in a cron expression. */
export class CronProblem extends Error {
  constructor(message: string) {
    super(message);
    this.name = "CronProblem";
  }
}

/** Parses five fields: minute, hour, day of the month, month, day of the week (0 and 7 are Sunday). */
export function parseCron(text: string): Cron {
  const fields = text
    .slice(0, LONGEST_TEXT + 1)
    .trim()
    .split(/\s+/);
  if (text.length > LONGEST_TEXT) throw new CronProblem(`a schedule has at most ${LONGEST_TEXT} characters`);
  const [minute = "", hour = "", day = "", month = "", weekday = ""] = fields;
  if (fields.length !== 5) {
    throw new CronProblem(
      `a schedule has five fields (minute, hour, day, month, day of the week), and this one has ${fields.length}`,
    );
  }
  const cron = {
    minute: parseField(minute, MINUTE),
    hour: parseField(hour, HOUR),
    day: parseField(day, DAY),
    month: parseField(month, MONTH),
    weekday: parseWeekday(weekday),
  };
  const [firstDay = 1] = cron.day.values;
  const mayBe = !cron.weekday.isStar || cron.month.values.some((each) => firstDay <= (DAYS_OF_MONTH[each - 1] ?? 0));
  if (!mayBe) throw new CronProblem(`no such month has a day ${firstDay}`);
  return cron;
}

/**
 * The first time after an instant that a schedule names, by the clock of a time zone. When clocks are moved:
 * - A fixed hour (`30 2 * * *`) comes once a day. If it is skipped, it comes when clocks are moved forward; if it comes
 *   twice, the first one counts.
 * - An hour that begins with a star follows the clock: skipped hours do not come, repeated ones come twice.
 */
export function nextDue(cron: Cron, zone: string, after: Instant): Instant | undefined {
  const afterMs = epochMs(after);
  const offsetOf = offsetIn(zone);
  const fromWallMs = afterMs + offsetOf(afterMs) - LARGEST_SHIFT_MS;
  let best: number | undefined;
  for (const wallMs of wallTimes(cron, fromWallMs)) {
    if (best !== undefined && wallMs > best + offsetOf(best) + LARGEST_SHIFT_MS) break;
    const due = dueMoments(cron, wallMs, offsetOf).filter((ms) => ms > afterMs);
    best = Math.min(...due, best ?? Infinity);
    if (best === Infinity) best = undefined;
  }
  return best === undefined ? undefined : instant(best);
}

/** The moments that count of those at which the clock shows this. */
function dueMoments({ hour }: Cron, wallMs: number, offsetOf: (ms: number) => number): number[] {
  const moments = momentsOf(wallMs, offsetOf).sort((one, other) => one - other);
  if (hour.isStar) return moments.filter((ms) => ms + offsetOf(ms) === wallMs);
  return moments.slice(0, 1);
}

/** The times that the fields name, as a clock shows them, in order. */
function* wallTimes({ minute, hour, day, month, weekday }: Cron, fromMs: number): Generator<number> {
  const firstDayMs = Math.floor(fromMs / DAY_MS) * DAY_MS;
  for (let index = 0; index < MOST_DAYS; index += 1) {
    const dayMs = firstDayMs + index * DAY_MS;
    const date = new Date(dayMs);
    if (!month.values.includes(date.getUTCMonth() + 1)) continue;
    const isDay = day.values.includes(date.getUTCDate());
    const isWeekday = weekday.values.includes(date.getUTCDay());
    // As in every cron: if both are restricted, either is enough.
    const isEither = !day.isStar && !weekday.isStar;
    if (isEither ? !isDay && !isWeekday : !isDay || !isWeekday) continue;
    for (const hourValue of hour.values) {
      for (const minuteValue of minute.values) {
        const wallMs = dayMs + hourValue * HOUR_MS + minuteValue * MINUTE_MS;
        if (wallMs >= fromMs) yield wallMs;
      }
    }
  }
}

function parseWeekday(text: string): CronField {
  const { values, isStar } = parseField(text, WEEKDAY);
  return { values: [...new Set(values.map((value) => value % 7))].sort((one, other) => one - other), isStar };
}

function parseField(text: string, range: FieldRange): CronField {
  const values = text.split(",").flatMap((part) => parsePart(part, range));
  return { values: [...new Set(values)].sort((one, other) => one - other), isStar: text.startsWith("*") };
}

/** `*`, `5`, `1-5`, each with a step after a slash. */
function parsePart(part: string, range: FieldRange): number[] {
  const [span = "", stepText, more] = part.split("/");
  const step = stepText === undefined ? 1 : Number(/^\d{1,2}$/.test(stepText) ? stepText : Number.NaN);
  if (more !== undefined || !(step >= 1)) throw new CronProblem(`"${part}" is no step of a ${range.name}`);
  const [from, to] = parseSpan(span, range, stepText !== undefined);
  if (from > to) throw new CronProblem(`"${span}" ends before it begins`);
  return Array.from({ length: Math.floor((to - from) / step) + 1 }, (_, index) => from + index * step);
}

function parseSpan(span: string, range: FieldRange, hasStep: boolean): [number, number] {
  // Sunday is 0 and 7, so a star stops before the second one.
  if (span === "*") return [range.least, range === WEEKDAY ? 6 : range.most];
  const [first = "", last, more] = span.split("-");
  if (more !== undefined) throw new CronProblem(`"${span}" is no range of a ${range.name}`);
  const from = parseValue(first, range);
  if (last === undefined) return [from, hasStep ? range.most : from];
  const to = parseValue(last, range);
  // `fri-sun` ends with the Sunday after it.
  return [from, range === WEEKDAY && to === 0 && from > 0 ? 7 : to];
}

function parseValue(text: string, { name, least, most, words }: FieldRange): number {
  const word = words?.indexOf(text.toLowerCase()) ?? -1;
  const value = word >= 0 ? word + least : Number(/^\d{1,2}$/.test(text) ? text : Number.NaN);
  if (value >= least && value <= most) return value;
  const names = words ? `, or ${words[0]} to ${words.at(-1)}` : "";
  throw new CronProblem(`"${text}" is no ${name}; write a number from ${least} to ${most}${names}`);
}
