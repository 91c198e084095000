import { channelsOf } from "../../config/reach.ts";
import { parseHours } from "../../config/hours.ts";
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

/** Says whether it is within these hours by this machine's clock; they may cross midnight. */
function isWithinHours(hours: string, { now, ahead }: Pick<Context, "now" | "ahead">) {
  const { from, to } = parseHours(hours);
  const at = now();
  const local = new Date(Date.parse(at) + ahead(at));
  const minute = local.getUTCHours() * 60 + local.getUTCMinutes();
  return from <= to ? minute >= from && minute < to : minute >= from || minute < to;
}
