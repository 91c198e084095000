import { channelsOf } from "../../config/reach.ts";
import { parseQuietHours, quietUntil } from "../../core/people/quiet-hours.ts";
import { later } from "../../core/instant.ts";
import type { Context } from "../context.ts";

export const BELL = "\x07";

/** The bell for a terminal; empty in quiet hours, or if the bell is off. */
export function bellFor(context: Pick<Context, "stderr" | "isQuiet" | "config" | "now" | "ahead">): string {
  const { values } = context.config;
  const { bell: isWanted = true } = channelsOf(values).terminal ?? {};
  const quiet = values.notifications?.quiet_hours;
  if (!context.stderr.isTty || context.isQuiet || !isWanted) return "";
  return quiet !== undefined && isWithinHours(quiet, context) ? "" : BELL;
}

/** Says whether it is within these hours, by this machine's clock unless they name a time zone. */
function isWithinHours(hours: string, { now, ahead }: Pick<Context, "now" | "ahead">) {
  const quiet = parseQuietHours(hours);
  if (!quiet) return false;
  const { zone, ...range } = quiet;
  const at = now();
  if (zone !== undefined) return quietUntil({ ...range, zone }, at) !== undefined;
  return quietUntil({ ...range, zone: "UTC" }, later(at, ahead(at))) !== undefined;
}
