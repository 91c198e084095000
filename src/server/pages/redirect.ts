import { compareUrgency } from "../../core/people/inbox.ts";
import { type Question, isPending } from "../../core/question/question.ts";
import type { PageCall, PagesDeps } from "./deps.ts";
import { readWaiting } from "./read/read-inbox.ts";
import { readReader } from "./read/read-reader.ts";

/** Redirects after a form: the script gets the path as JSON, a browser a redirect. */
export function redirectTo(context: PageCall, path: string): Response {
  return isFromScript(context) ? context.json({ go: path }) : context.redirect(path, 303);
}

/** True if the page's script sent the request, not the browser itself. */
export function isFromScript(context: PageCall): boolean {
  return context.req.header("x-askd") === "1";
}

/** The run page that a form was sent from; people who answer there stay there. */
export function originRunPage(context: PageCall): string | undefined {
  const before = context.req.header("referer") ?? "";
  const path = URL.canParse(before) ? new URL(before).pathname : "";
  return /^\/r\/r_[0-9a-z]{26}$/.test(path) ? path : undefined;
}

/** The path of the waiting question after this one in the list, of the first after the last one, or of the inbox. */
export async function nextQuestionPath(context: PageCall, { engine }: PagesDeps, before: Question): Promise<string> {
  const waiting = await readWaiting(engine, await readReader(context, engine));
  const others = waiting.filter(({ id }) => id !== before.id);
  const next = others.find((question) => isPending(before) && compareUrgency(question, before) > 0) ?? others[0];
  return next ? `/q/${next.id}` : "/";
}
