import type { Context } from "hono";
import { Refusal, type RefusalCode } from "../core/refusal.ts";

/** A "no" as RFC 9457 describes it, with our code so that programs need not read the words. */
export interface Problem {
  type: string;
  title: string;
  status: number;
  code: RefusalCode | "internal";
  detail: string;
  hint?: string;
}

/** Turns whatever was thrown into a reply; what is not expected tells the caller nothing. */
export function replyProblem(context: Context, error: unknown, onBug: (error: unknown) => void): Response {
  if (!(error instanceof Refusal)) {
    onBug(error);
    return problem(context, {
      code: "internal",
      status: 500,
      detail: "Something went wrong here; it was written down",
    });
  }
  if (error.retryAfterMs !== undefined) context.header("Retry-After", String(Math.ceil(error.retryAfterMs / 1000)));
  return problem(context, {
    code: error.code,
    status: error.httpStatus,
    detail: error.message,
    ...(error.hint && { hint: error.hint }),
  });
}

function problem(context: Context, given: Omit<Problem, "type" | "title">): Response {
  const body: Problem = { type: `urn:askd:problem:${given.code}`, title: given.code.replaceAll("_", " "), ...given };
  return context.newResponse(JSON.stringify(body), {
    status: given.status as 400,
    headers: { "Content-Type": "application/problem+json" },
  }); // any of our statuses
}
