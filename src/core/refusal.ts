import { EXIT_CODE, type ExitCodeName } from "./exit-code.ts";
import type { RefusalFact } from "./refusal-fact.ts";

/** Every expected "no" of the product: its HTTP status and the exit code of the command line. */
export const REFUSALS = {
  bad_input: codes(400, "usage"),
  too_large: codes(413, "usage"),
  empty_answer: codes(422, "usage"),
  no_such_option: codes(422, "usage"),
  ambiguous_answer: codes(422, "usage"),
  missing_items: codes(422, "usage"),
  answer_mismatch: codes(422, "usage"),
  outcome_not_accepted: codes(422, "usage"),
  asks_for_secret: codes(422, "usage"),
  ambiguous_ref: codes(409, "usage"),
  not_found: codes(404, "notFound"),
  not_pending: codes(409, "conflict"),
  settling: codes(409, "conflict"),
  not_settling: codes(409, "conflict"),
  already_pending: codes(409, "conflict"),
  key_reused: codes(409, "conflict"),
  run_ended: codes(409, "conflict"),
  moved: codes(409, "conflict"),
  stale_epoch: codes(409, "conflict"),
  version_changed: codes(412, "conflict"),
  sign_in: codes(401, "signIn"),
  not_permitted: codes(403, "notPermitted"),
  needs_person: codes(403, "notPermitted"),
  needs_confirmation: codes(428, "usage"),
  rate_limited: codes(429, "error"),
  too_many: codes(429, "error"),
  store_unusable: codes(503, "error"),
  newer_schema: codes(503, "error"),
  store_unreachable: codes(503, "unreachable"),
};

export type RefusalCode = keyof typeof REFUSALS;

/** An expected "no", with what is so and what to do next. */
export class Refusal extends Error {
  readonly code: RefusalCode;
  /** The next command or action; shown on a line of its own. */
  readonly hint: string | undefined;
  readonly retryAfterMs: number | undefined;
  /** The facts of the message, for translations. */
  readonly fact: RefusalFact | undefined;

  constructor(
    code: RefusalCode,
    message: string,
    more: { hint?: string; retryAfterMs?: number; cause?: unknown; fact?: RefusalFact } = {},
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

function codes(http: number, exit: ExitCodeName) {
  return { http, exit: EXIT_CODE[exit] };
}
