import type { ChannelResult } from "../../core/channel/channel.ts";
import { networkFailure } from "../outbound.ts";

type Failure = Extract<ChannelResult, { ok: false }>;

/** Slack refuses the token for good: a person has to make a new one. */
const REFUSED: ReadonlySet<string> = new Set([
  "invalid_auth",
  "not_authed",
  "token_revoked",
  "token_expired",
  "account_inactive",
  "not_allowed_token_type",
  "no_permission",
]);
/** The message to change is not there, or can no longer be changed. */
const GONE: ReadonlySet<string> = new Set(["message_not_found", "cant_update_message", "edit_window_closed"]);
/** A person can put this right in Slack. */
const FIXABLE: Readonly<Record<string, string>> = {
  channel_not_found: "Slack does not know the channel; invite the app there with /invite @askd",
  not_in_channel: "the app is not in the channel; invite it there with /invite @askd",
  is_archived: "the channel is archived",
  missing_scope: "the app lacks a permission; update its manifest with: askd setup slack --manifest",
};

/** Reads the error of a client library: by its fields, because a bundle may hold its classes twice. */
export function readFailure(error: unknown): { code: string; status: number; retryAfterS: number | undefined } {
  const fields: Readonly<Record<string, unknown>> = error !== null && typeof error === "object" ? { ...error } : {};
  const { data, statusCode, retryAfter } = fields;
  const code = data !== null && typeof data === "object" && "error" in data ? String(data.error) : "";
  return {
    code,
    status: typeof statusCode === "number" ? statusCode : 0,
    retryAfterS: typeof retryAfter === "number" ? retryAfter : undefined,
  };
}

/** Says whether Slack refused the token, so that trying again is useless. */
export function isTokenRefused(error: unknown): boolean {
  return REFUSED.has(readFailure(error).code);
}

/** Decides what a failure means: gone, refused, limited, final, or worth another try. */
export function judgeFailure(error: unknown): Failure {
  const { code, status, retryAfterS } = readFailure(error);
  if (retryAfterS !== undefined) return { ok: false, why: "Slack limits the rate", retryAfterMs: retryAfterS * 1000 };
  if (status !== 0) return { ok: false, why: `status ${status}`, mayBeThere: false };
  if (code === "") {
    // Only the client's own errors are failures of the network; anything else is a bug.
    if (error === null || typeof error !== "object" || !("original" in error)) throw error;
    return networkFailure(error.original);
  }
  if (REFUSED.has(code)) return { ok: false, why: `Slack refuses the token (${code})`, isRefused: true };
  if (GONE.has(code)) return { ok: false, why: code, isGone: true };
  const fix = Object.hasOwn(FIXABLE, code) ? FIXABLE[code] : undefined;
  if (fix !== undefined) return { ok: false, why: `${fix} (${code})`, isRefused: true };
  // Some errors of the service itself come with a code.
  const isTransient = /^(fatal_error|internal_error|service_unavailable|request_timeout|ratelimited|rate_limited)$/;
  return { ok: false, why: `Slack refuses it (${code})`, isFinal: !isTransient.test(code) };
}
