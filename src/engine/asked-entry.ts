import type { Entry } from "../core/changes.ts";
import { QuestionId } from "../core/id.ts";

/** Of the same thing, asked again and again or by many at once, the latest are remembered. */
const MOST_REMEMBERED = 20;

/** The questions that were asked under a name, oldest first. */
export function readAsked(entry: Entry | undefined): QuestionId[] {
  const parsed = QuestionId.array().safeParse(entry?.body["questions"]);
  return parsed.success ? parsed.data : [];
}

/** The entry with one question more. */
export function addAsked(name: string, entry: Entry | undefined, id: QuestionId): Entry {
  const questions = [...readAsked(entry).slice(1 - MOST_REMEMBERED), id];
  return { kind: "ask", id: name, version: entry?.version ?? 0, body: { questions } };
}
