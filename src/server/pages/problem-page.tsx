import type { Context } from "hono";
import { API_PATH } from "../../core/api/route.ts";
import { Refusal } from "../../core/refusal.ts";
import { Bounce, PlainPage, ProblemWords } from "../../web/pages/plain-page.tsx";
import { refusalWords } from "../../web/words/refusal-words.ts";
import { say } from "../../web/words/words.ts";
import { sayRetryAfter } from "../problem.ts";
import { ASSETS } from "./assets.ts";
import { sendPlainPage } from "./send-page.ts";
import { languageOf } from "./read/read-reader.ts";
import { loginAddress } from "./session.ts";

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
function pathOf({ req }: Context): string {
  if (req.method !== "GET") return "/";
  const { pathname, search } = new URL(req.url);
  return `${pathname}${search}`;
}
