import type { Fact } from "./refusal-fact.ts";

/**
 * Every expected "no" of the product: its HTTP status and the exit code of the command line.
 * Exit codes: 1 error, 2 usage, 3 not reachable, 4 sign in, 5 not found, 6 conflict, 7 not permitted,
 * 8 pending, 9 timed out, 10 cancelled or skipped.
 */
export const REFUSALS = {
  bad_input: { http: 400, exit: 2 },
  too_large: { http: 413, exit: 2 },
  empty_answer: { http: 422, exit: 2 },
  no_such_option: { http: 422, exit: 2 },
  ambiguous_answer: { http: 422, exit: 2 },
  missing_items: { http: 422, exit: 2 },
  answer_mismatch: { http: 422, exit: 2 },
  outcome_not_accepted: { http: 422, exit: 2 },
  asks_for_secret: { http: 422, exit: 2 },
  ambiguous_ref: { http: 409, exit: 2 },
  not_found: { http: 404, exit: 5 },
  not_pending: { http: 409, exit: 6 },
  settling: { http: 409, exit: 6 },
  not_settling: { http: 409, exit: 6 },
  already_pending: { http: 409, exit: 6 },
  key_reused: { http: 409, exit: 6 },
  run_ended: { http: 409, exit: 6 },
  not_forceable: { http: 409, exit: 6 },
  moved: { http: 409, exit: 6 },
  stale_epoch: { http: 409, exit: 6 },
  version_changed: { http: 412, exit: 6 },
  sign_in: { http: 401, exit: 4 },
  not_permitted: { http: 403, exit: 7 },
  needs_person: { http: 403, exit: 7 },
  needs_confirmation: { http: 428, exit: 2 },
  rate_limited: { http: 429, exit: 1 },
  too_many: { http: 429, exit: 1 },
  store_unusable: { http: 503, exit: 1 },
  newer_schema: { http: 503, exit: 1 },
  store_unreachable: { http: 503, exit: 3 },
} as const;

export type RefusalCode = keyof typeof REFUSALS;

/** An expected "no": says what is so and what to do next. */
export class Refusal extends Error {
  readonly code: RefusalCode;
  /** What to type or do next; shown on a line of its own. */
  readonly hint: string | undefined;
  readonly retryAfterMs: number | undefined;
  /** The same for those who say it in other words. */
  readonly fact: Fact | undefined;

  constructor(
    code: RefusalCode,
    message: string,
    more: { hint?: string; retryAfterMs?: number; cause?: unknown; fact?: Fact } = {},
  ) {
    super(message, more.cause === undefined ? undefined : { cause: more.cause });
    this.name = "Refusal";
    this.code = code;
    this.hint = more.hint;
    this.retryAfterMs = more.retryAfterMs;
    this.fact = more.fact;
  }

  get httpStatus(): number {
    return REFUSALS[this.code].http;
  }

  get exitCode(): number {
    return REFUSALS[this.code].exit;
  }
}
