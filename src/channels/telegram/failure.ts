import type { ChannelResult } from "../../core/channel/channel.ts";

/** A refused or failed request to the Bot API; `code` is 0 if there was no reply. */
export interface TelegramFailure {
  ok: false;
  why: string;
  code: number;
  /** No reply came, so the message may be there. */
  mayBeThere?: boolean | undefined;
  retryAfterMs: number | undefined;
}

/** Decides what a failure means: already done, gone, refused for good, or worth another try. */
export function judgeFailure({ why, code, mayBeThere = false, retryAfterMs }: TelegramFailure): ChannelResult {
  // An edit repeated after a crash, and a tap that was answered too late, are no failures.
  if (/message is not modified|query is too old/i.test(why)) return { ok: true };
  if (/message to edit not found|message can't be edited|MESSAGE_ID_INVALID/i.test(why))
    return { ok: false, why, isGone: true };
  if (code === 401 || code === 404) return { ok: false, why: "Telegram refuses the bot's token", isRefused: true };
  if (code === 429) return { ok: false, why, retryAfterMs: retryAfterMs ?? 1000 };
  return { ok: false, why, mayBeThere, isFinal: code === 400 || code === 403, retryAfterMs };
}
