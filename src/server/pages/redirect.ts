import type { QuestionId } from "../../core/id.ts";
import type { Call, PagesDeps } from "./deps.ts";
import { readInbox } from "./read/read-inbox.ts";
import { readReader } from "./read/read-reader.ts";

/** Where to go on after a form: the script is told, a browser without it is sent. */
export function goTo(context: Call, path: string): Response {
  return isFromScript(context) ? context.json({ go: path }) : context.redirect(path, 303);
}

/** Says whether the script of a page asks, which puts what comes into the page. */
export function isFromScript(context: Call): boolean {
  return context.req.header("x-askd") === "1";
}

/** The page of a run from which a form was sent; who answers there stays there. */
export function runPageBefore(context: Call): string | undefined {
  const before = context.req.header("referer") ?? "";
  const path = URL.canParse(before) ? new URL(before).pathname : "";
  return /^\/r\/r_[0-9a-z]{26}$/.test(path) ? path : undefined;
}

/** The question to look at after this one; the inbox where there is none. */
export async function nextAddress(context: Call, { engine }: PagesDeps, id: QuestionId): Promise<string> {
  const { waiting } = await readInbox(engine, await readReader(context, engine));
  const next = waiting.find((question) => question.id !== id);
  return next ? `/q/${next.id}` : "/";
}
