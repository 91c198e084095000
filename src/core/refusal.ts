import { EXIT_CODE } from "./exit-code.ts";
import type { RefusalFact } from "./refusal-fact.ts";

/** Every expected "no" of the product: its HTTP status and the exit code of the command line. */
export const REFUSALS = {
  bad_input: { http: 400, exit: EXIT_CODE.usage },
  too_large: { http: 413, exit: EXIT_CODE.usage },
  empty_answer: { http: 422, exit: EXIT_CODE.usage },
  no_such_option: { http: 422, exit: EXIT_CODE.usage },
  ambiguous_answer: { http: 422, exit: EXIT_CODE.usage },
  missing_items: { http: 422, exit: EXIT_CODE.usage },
  answer_mismatch: { http: 422, exit: EXIT_CODE.usage },
  outcome_not_accepted: { http: 422, exit: EXIT_CODE.usage },
  asks_for_secret: { http: 422, exit: EXIT_CODE.usage },
  ambiguous_ref: { http: 409, exit: EXIT_CODE.usage },
  not_found: { http: 404, exit: EXIT_CODE.notFound },
  not_pending: { http: 409, exit: EXIT_CODE.conflict },
  settling: { http: 409, exit: EXIT_CODE.conflict },
  not_settling: { http: 409, exit: EXIT_CODE.conflict },
  already_pending: { http: 409, exit: EXIT_CODE.conflict },
  key_reused: { http: 409, exit: EXIT_CODE.conflict },
  run_ended: { http: 409, exit: EXIT_CODE.conflict },
  moved: { http: 409, exit: EXIT_CODE.conflict },
  stale_epoch: { http: 409, exit: EXIT_CODE.conflict },
  version_changed: { http: 412, exit: EXIT_CODE.conflict },
  sign_in: { http: 401, exit: EXIT_CODE.signIn },
  not_permitted: { http: 403, exit: EXIT_CODE.notPermitted },
  needs_person: { http: 403, exit: EXIT_CODE.notPermitted },
  needs_confirmation: { http: 428, exit: EXIT_CODE.usage },
  rate_limited: { http: 429, exit: EXIT_CODE.error },
  too_many: { http: 429, exit: EXIT_CODE.error },
  store_unusable: { http: 503, exit: EXIT_CODE.error },
  newer_schema: { http: 503, exit: EXIT_CODE.error },
  store_unreachable: { http: 503, exit: EXIT_CODE.unreachable },
} as const;

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
