import { SECOND_MS } from "../../core/instant.ts";
import { formatDuration } from "../../core/text/duration.ts";
import { REFUSALS, Refusal, type RefusalCode } from "../../core/refusal.ts";

const LONGEST_RETRY_AFTER_MS = 30 * SECOND_MS;
/** Replies of a proxy without a server behind it; those above 504 are Cloudflare's. */
const AWAY: ReadonlySet<number> = new Set([502, 503, 504, 520, 521, 522, 523, 524]);
/** The connection was not made: nothing of the request has gone out. */
const NOT_CONNECTED: ReadonlySet<string> = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "UND_ERR_CONNECT_TIMEOUT",
]);

/** A "no" of the server, as far as it says which one. */
export interface Problem {
  code: RefusalCode;
  detail: string;
  hint?: string;
}

/** A try that reached no server that could have done it. */
export class Absence {
  /** It is unknown whether the server got the request. */
  readonly mayHaveArrived: boolean;
  /** The shortest wait before the next try, from Retry-After. */
  readonly retryAfterMs: number;
  readonly #say: (url: string) => Problem;
  readonly #cause: unknown;

  constructor(given: {
    mayHaveArrived: boolean;
    retryAfterMs?: number;
    say: (url: string) => Problem;
    cause?: unknown;
  }) {
    this.mayHaveArrived = given.mayHaveArrived;
    this.retryAfterMs = given.retryAfterMs ?? 0;
    this.#say = given.say;
    this.#cause = given.cause;
  }

  /** The refusal after the last try; it says so if one of the tries may have made the change. */
  refusal(url: string, { mayHaveArrived }: { mayHaveArrived: boolean }): Refusal {
    const { code, detail, hint } = this.#say(url);
    const doubt = "it is not known whether it did what it was asked";
    const look = "Look before you do it again: askd status";
    return new Refusal(code, mayHaveArrived ? `${detail}; ${doubt}` : detail, {
      cause: this.#cause,
      ...(this.retryAfterMs > 0 && { retryAfterMs: this.retryAfterMs }),
      ...((hint !== undefined || mayHaveArrived) && {
        hint: [hint, ...(mayHaveArrived ? [look] : [])].filter((line) => line !== undefined).join("\n"),
      }),
    });
  }
}

/** The absence that a call ended in without a whole reply. */
export function absenceAfter(cause: unknown): Absence {
  return new Absence({
    cause,
    mayHaveArrived: !isNotConnected(cause),
    say: (url) => ({
      code: "store_unreachable",
      detail: `The server at ${url} cannot be reached`,
      hint: "Start it with: askd serve, or unset ASKD_URL",
    }),
  });
}

/** The absence of a server that took the call and did not reply in this time. */
export function absenceInSilence(waitedMs: number): Absence {
  return new Absence({
    mayHaveArrived: true,
    say: (url) => ({
      code: "store_unreachable",
      detail: `The server at ${url} did not reply within ${formatDuration(waitedMs)}`,
      hint: "Try again, or type the same on the server's machine, without ASKD_URL",
    }),
  });
}

/** The absence that a reply reports: by a proxy, or by a server whose own store is away. */
export function absenceIn(response: Response, text: string): Absence | undefined {
  const problem = parseProblem(text);
  if (problem ? problem.code !== "store_unreachable" : !AWAY.has(response.status)) return undefined;
  const { status } = response;
  return new Absence({
    mayHaveArrived: true,
    retryAfterMs: Math.min(retryAfterOf(response), LONGEST_RETRY_AFTER_MS),
    say: (url) =>
      problem ?? {
        code: "store_unreachable",
        detail: `The server at ${url} is away: the proxy before it replied ${status}`,
        hint: "Try again in a moment; if it stays so, start the server where it is: askd serve",
      },
  });
}

/** How long to wait before the next try; a date is no number of seconds. */
export function retryAfterOf(response: Response): number {
  const seconds = Number(response.headers.get("retry-after"));
  return seconds > 0 ? seconds * SECOND_MS : 0;
}

export function parseProblem(text: string): Problem | undefined {
  try {
    const value: unknown = JSON.parse(text);
    if (value === null || typeof value !== "object" || !("code" in value) || !("detail" in value)) return undefined;
    const { code, detail } = value;
    if (typeof code !== "string" || !isCode(code)) return undefined;
    const hint = "hint" in value && typeof value.hint === "string" ? value.hint : undefined;
    return { code, detail: String(detail), hint };
  } catch {
    return undefined; // not ours: something before the server replied
  }
}

function isCode(code: string): code is RefusalCode {
  return Object.hasOwn(REFUSALS, code);
}

/** Returns whether no address of the name accepted a connection. */
function isNotConnected(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (error instanceof AggregateError && error.errors.length > 0) return error.errors.every(isNotConnected);
  if ("code" in error && typeof error.code === "string") return NOT_CONNECTED.has(error.code);
  return error.cause !== undefined && isNotConnected(error.cause);
}
