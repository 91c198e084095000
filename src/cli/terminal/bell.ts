import { channelsOf } from "../../config/reach.ts";
import { parseQuietHours, quietUntil } from "../../core/people/quiet-hours.ts";
import { later } from "../../core/instant.ts";
import type { Context } from "../context.ts";
import { oneLine } from "../view/sanitise.ts";
import { cutCells } from "./terminal.ts";

export const BELL = "\x07";
const STRING_END = "\x1b\\";
const TITLE_CELLS = 120;
/** Terminals that keep the former title of their window and bring it back. */
const HAS_TITLE = /^(?:xterm|foot|rxvt|alacritty)/;

/** The part of a command's context that the bell needs. */
type BellContext = Pick<Context, "stderr" | "isQuiet" | "isAccessible" | "config" | "env" | "now" | "ahead">;

/**
 * The bell for a terminal, and the question as a notification of the terminal where it is known to have that; empty in
 * quiet hours, or if both are off.
 */
export function bellFor(context: BellContext, title = "A question is waiting"): string {
  const { stderr, isQuiet, config } = context;
  const { bell = true, notify = bell } = channelsOf(config.values).terminal ?? {};
  const quiet = config.values.notifications?.quiet_hours;
  if (!stderr.isTty || isQuiet || (quiet !== undefined && isWithinHours(quiet, context))) return "";
  return `${bell ? BELL : ""}${notify ? notificationFor(context, title) : ""}`;
}

/** Shows in the title of the window that a question waits, and brings the former title back; empty where that is unknown. */
export function windowTitle(context: BellContext): { show: string; restore: string } {
  const { stderr, isQuiet, isAccessible, config, env } = context;
  const { bell = true, notify = bell } = channelsOf(config.values).terminal ?? {};
  const isKnown = stderr.isTty && !isQuiet && !isAccessible && HAS_TITLE.test(env["TERM"] ?? "");
  return isKnown && notify
    ? { show: `\x1b[22;2t\x1b]2;(1) askd${STRING_END}`, restore: "\x1b[23;2t" }
    : { show: "", restore: "" };
}

/** The sequence of this terminal for a notification: without one it might print the text. */
function notificationFor({ env, isAccessible }: BellContext, title: string) {
  const { TERM = "", TERM_PROGRAM = "", TMUX, STY } = env;
  // A multiplexer keeps such a sequence to itself.
  if (isAccessible || TERM === "dumb" || TMUX !== undefined || STY !== undefined) return "";
  const text = cutCells(oneLine(title).replaceAll(";", ","), TITLE_CELLS);
  if (TERM === "xterm-kitty") return `\x1b]99;;askd: ${text}${STRING_END}`;
  if (/^(?:foot|rxvt-unicode)/.test(TERM)) return `\x1b]777;notify;askd;${text}${STRING_END}`;
  return /^(?:iTerm\.app|WezTerm|ghostty)$/.test(TERM_PROGRAM) ? `\x1b]9;askd: ${text}${STRING_END}` : "";
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
