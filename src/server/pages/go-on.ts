import type { QuestionId } from "../../core/id.ts";
import type { Call, PagesDeps } from "./deps.ts";
import { readInbox } from "./read-inbox.ts";
import { readReader } from "./reader.ts";

/** Where to go on after a form: the script is told, a browser without it is sent. */
export function goTo(context: Call, path: string): Response {
  return context.req.header("x-askd") === "1" ? context.json({ go: path }) : context.redirect(path, 303);
}

/** The question to look at after this one; the inbox where there is none. */
export async function nextAddress(context: Call, { engine }: PagesDeps, id: QuestionId): Promise<string> {
  const { waiting } = await readInbox(engine, await readReader(context, engine));
  const next = waiting.find((question) => question.id !== id);
  return next ? `/q/${next.id}` : "/";
}
