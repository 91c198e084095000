import { all, body, say } from "./dom.ts";

const UNITS: ReadonlyArray<readonly [string, number]> = [
  ["unit.d", 86_400_000],
  ["unit.h", 3_600_000],
  ["unit.m", 60_000],
  ["unit.s", 1000],
];

/** Formats a duration by its largest units, like the server does. */
export function saySpan(ms: number, most = 1): string {
  const first = UNITS.findIndex(([, unitMs]) => ms >= unitMs);
  if (first < 0) return `0${say("unit.s")}`;
  let rest = ms;
  const parts: string[] = [];
  for (const [key, unitMs] of UNITS.slice(first, first + most)) {
    const count = Math.floor(rest / unitMs);
    rest -= count * unitMs;
    if (count > 0 && !(parts.length > 0 && unitMs === 1000)) parts.push(`${count}${say(key)}`);
  }
  return parts.join(" ");
}

/** Updates every running time on the page. */
export function updateTimes(): void {
  const now = Date.now();
  for (const element of all<HTMLElement>("[data-until], [data-since]")) {
    const { until, since, as = "", units } = element.dataset;
    const ms = until === undefined ? now - Number(since) : Number(until) - now;
    const text = say(as, { span: saySpan(Math.max(0, ms), Number(units ?? 1)) });
    if (element.textContent !== text) element.textContent = text;
  }
  for (const toast of all<HTMLElement>("[data-ends]")) {
    if (Number(toast.dataset["ends"]) <= now) toast.remove();
  }
}

/** Sends the reader's time zone to the server; true if it was unknown. */
export function sendTimeZone(): boolean {
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  if (!zone || body.dataset["zone"] === zone) return false;
  document.cookie = `askd_zone=${encodeURIComponent(zone)}; path=/; max-age=31536000; SameSite=Strict`;
  return true;
}
