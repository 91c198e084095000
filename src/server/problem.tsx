import type { Context } from "hono";
import { Refusal, type RefusalCode } from "../core/refusal.ts";
import { API_PATH } from "../core/api/route.ts";
import { Bounce, PlainPage, ProblemWords } from "../web/pages/plain-page.tsx";
import { refusalWords } from "../web/words/refusal-words.ts";
import { say } from "../web/words/words.ts";
import { ASSETS } from "./pages/assets.ts";
import { sendPlainPage } from "./pages/send-page.tsx";
import { languageOf } from "./pages/read/read-reader.ts";
import { loginAddress } from "./pages/session.ts";

/** A "no" as RFC 9457 describes it, with our code so that programs need not read the words. */
export interface Problem {
  type: string;
  title: string;
  status: number;
  code: RefusalCode | "internal";
  detail: string;
  hint?: string;
}
/** A complete reply, before any of it is written. */
export interface Reply {
  status: number;
  headers: Record<string, string>;
  body: string;
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
function sayRetryAfter(ms: number) {
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

/** True if the request wants HTML, not an API response. */
export function wantsPage({ req }: Context): boolean {
  return (req.header("accept") ?? "").includes("text/html") && !req.path.startsWith(API_PATH);
}

/** Sends an error as a page, or redirects to the sign-in page. */
export function replyProblemPage(context: Context, error: unknown): Response | Promise<Response> {
  const language = languageOf(context);
  const refusal = error instanceof Refusal ? error : undefined;
  if (refusal?.code === "sign_in") return context.redirect(loginAddress(pathOf(context)), 303);
  const detail =
    refusal?.code === "not_found"
      ? say(language, "problem.missing")
      : refusal
        ? refusalWords({ language }, refusal)
        : say(language, "problem.internal");
  if (refusal?.retryAfterMs !== undefined) context.header("Retry-After", sayRetryAfter(refusal.retryAfterMs));
  return sendPlainPage(
    context,
    <PlainPage frame={{ language, assets: ASSETS, title: say(language, "problem.title") }}>
      <ProblemWords language={language} detail={detail} />
    </PlainPage>,
    refusal?.httpStatus ?? 500,
  );
}

/** Sends visitors from another site to the same address again, now from our own page. */
export function replyBounce(context: Context): Response | Promise<Response> {
  const language = languageOf(context);
  const path = pathOf(context);
  return sendPlainPage(
    context,
    <PlainPage frame={{ language, assets: ASSETS, title: say(language, "bounce.title"), goTo: path }}>
      <Bounce language={language} path={path} />
    </PlainPage>,
  );
}

/** The path of the request; `/` for a form, which has no address to return to. */
function pathOf({ req }: Context) {
  if (req.method !== "GET") return "/";
  const { pathname, search } = new URL(req.url);
  return `${pathname}${search}`;
}
