import type { QuestionId } from "../../core/id.ts";
import type { PageCall, PagesDeps } from "./deps.ts";
import { readInbox } from "./read/read-inbox.ts";
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

/** The path of the next waiting question, or of the inbox. */
export async function nextQuestionPath(context: PageCall, { engine }: PagesDeps, id: QuestionId): Promise<string> {
  const { waiting } = await readInbox(engine, await readReader(context, engine));
  const next = waiting.find((question) => question.id !== id);
  return next ? `/q/${next.id}` : "/";
}
