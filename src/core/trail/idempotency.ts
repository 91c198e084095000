import { type Actor, actorName } from "../people/actor.ts";
import type { Entry } from "../changes.ts";
import { hashText } from "../question/content.ts";
import type { QuestionId } from "../id.ts";
import { Refusal } from "../refusal.ts";

/** Identifies a change, so that a client that missed the response can send it again: it counts once. */
export interface IdempotentChange {
  key?: string;
}

/** The row that identifies a repeated change; it is committed with the change. */
export function idempotencyEntry(
  { key, questionId, by }: { key: string; questionId: QuestionId; by: Actor },
  change: readonly unknown[],
): Entry {
  const id = hashText(`${actorName(by)}\n${questionId}\n${key}`);
  return { kind: "inbox", id, parent: questionId, version: 0, body: { change: hashText(JSON.stringify(change)) } };
}

/** Refuses a key that was used for another change. */
export function requireSameChange(before: Entry, again: Entry): void {
  if (before.body["change"] === again.body["change"]) return;
  throw new Refusal("key_reused", "This Idempotency-Key was used for another change of this question", {
    hint: "Use a new key for each change",
  });
}
