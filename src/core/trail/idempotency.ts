import { type Actor, sayActor } from "../people/actor.ts";
import type { Entry } from "../changes.ts";
import { hashText } from "../question/content.ts";
import type { QuestionId } from "../id.ts";
import { Refusal } from "../refusal.ts";

/** Names a change, so that whoever did not hear what became of it can send it again: it counts once. */
export interface Once {
  key?: string;
}

/** The row by which a change is known when it comes again; it is written together with the change. */
export function onceEntry(
  { key, questionId, by }: { key: string; questionId: QuestionId; by: Actor },
  change: readonly unknown[],
): Entry {
  const id = hashText(`${sayActor(by)}\n${questionId}\n${key}`);
  return { kind: "inbox", id, parent: questionId, version: 0, body: { change: hashText(JSON.stringify(change)) } };
}

/** Refuses a key that was used for something else. */
export function requireSameChange(before: Entry, again: Entry): void {
  if (before.body["change"] === again.body["change"]) return;
  throw new Refusal("key_reused", "This Idempotency-Key was used for another change of this question", {
    hint: "Use a new key for each change",
  });
}
