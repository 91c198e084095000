import { quoteLine } from "./foreign-text.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from "../instant.ts";
import { Refusal } from "../refusal.ts";

const UNIT_MS: Record<string, number> = {
  ms: 1,
  s: SECOND_MS,
  m: MINUTE_MS,
  h: HOUR_MS,
  d: DAY_MS,
  w: 7 * DAY_MS,
};
const MAX_MS = 366 * DAY_MS;

/** Parses `90s`, `3m`, `1h30m`, `24h`, `2d`; a bare number counts seconds. */
export function parseDuration(text: string): number {
  const parts = [...text.trim().matchAll(/(\d+(?:\.\d+)?)\s*(ms|s|m|h|d|w)?\s*/gy)];
  const readable = parts.length > 0 && parts.map((part) => part[0]).join("") === text.trim();
  const bareParts = parts.filter((part) => part[2] === undefined);
  if (!readable || (bareParts.length > 0 && parts.length > 1)) {
    throw new Refusal("bad_input", `${quoteLine(text)} is not a duration; write it like 90s, 3m, 24h or 2d`, {
      fact: { is: "no_duration", said: text },
    });
  }
  const ms = parts.reduce((sum, part) => sum + Number(part[1]) * (UNIT_MS[part[2] ?? "s"] ?? 0), 0);
  if (ms > MAX_MS) {
    throw new Refusal("bad_input", `${quoteLine(text)} is longer than a year; use at most 366d`, {
      fact: { is: "endless_duration", said: text },
    });
  }
  return Math.round(ms);
}

/** Formats a duration with its two largest units: `2h 5m`, `40s`, `3d`. */
export function formatDuration(ms: number): string {
  const units: Array<[string, number]> = [
    ["d", DAY_MS],
    ["h", HOUR_MS],
    ["m", MINUTE_MS],
    ["s", SECOND_MS],
  ];
  const largest = units.findIndex(([, size]) => ms >= size);
  if (largest < 0) return "0s";
  const [name, size] = units[largest] as [string, number];
  const count = Math.floor(ms / size);
  const next = units[largest + 1];
  const rest = next ? Math.floor((ms - count * size) / next[1]) : 0;
  return next && rest > 0 && name !== "m" ? `${count}${name} ${rest}${next[0]}` : `${count}${name}`;
}

/** Spells a duration out: `3 minutes`, `1 hour`, `2 days`. */
export function spellDuration(ms: number): string {
  const [word, size] = (
    [
      ["day", DAY_MS],
      ["hour", HOUR_MS],
      ["minute", MINUTE_MS],
      ["second", SECOND_MS],
    ] as const
  ).find(([, unitMs]) => ms >= unitMs && ms % unitMs === 0) ?? ["second", SECOND_MS];
  const count = Math.max(1, Math.round(ms / size));
  return `${count} ${word}${count === 1 ? "" : "s"}`;
}
