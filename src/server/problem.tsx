import type { Context } from "hono";
import { Refusal, type RefusalCode } from "../core/refusal.ts";
import type { Reply } from "./reply.ts";

/** A "no" as RFC 9457 describes it, with our code so that programs need not read the words. */
export interface Problem {
  type: string;
  title: string;
  status: number;
  code: RefusalCode | "internal";
  detail: string;
  hint?: string;
}

/** Replies with the problem for a thrown error. */
export function replyProblem(context: Context, error: unknown, onBug: (error: unknown) => void): Response {
  const { status, headers, body } = sayProblem(error, onBug);
  return context.newResponse(body, { status: status as 400, headers }); // any of our statuses
}

/** Turns a thrown error into a reply; the text of an unexpected error never reaches the caller. */
export function sayProblem(error: unknown, onBug: (error: unknown) => void): Reply {
  if (!(error instanceof Refusal)) {
    onBug(error);
    return problem({
      code: "internal",
      status: 500,
      detail: "Something went wrong here; it was written down",
    });
  }
  const { retryAfterMs } = error;
  return problem(
    { code: error.code, status: error.httpStatus, detail: error.message, ...(error.hint && { hint: error.hint }) },
    retryAfterMs === undefined ? {} : { "Retry-After": sayRetryAfter(retryAfterMs) },
  );
}

/** The value of Retry-After, in whole seconds. */
export function sayRetryAfter(ms: number): string {
  return String(Math.ceil(ms / 1000));
}

function problem(given: Omit<Problem, "type" | "title">, headers: Record<string, string> = {}): Reply {
  const body: Problem = { type: `urn:askd:problem:${given.code}`, title: given.code.replaceAll("_", " "), ...given };
  return {
    status: given.status,
    headers: { ...headers, "Content-Type": "application/problem+json" },
    body: JSON.stringify(body),
  };
}
