import { actorName } from "./actor.ts";
import { type Instant, earlier } from "../instant.ts";
import type { PendingQuestion } from "../question/question.ts";
import { isAddressed } from "./person.ts";

/** The section of one person's inbox that lists a pending question. */
export type InboxSection = "waiting" | "claimed" | "others" | "snoozed";

const RISKS = ["high", "medium", "low"] as const;

/** The person who views an inbox, with all names a question may address them by. */
export interface InboxViewer {
  id: string;
  groups: readonly string[];
}

/** When silence has a consequence; the end of a hold that only parks is none. */
export function consequenceAt({ dueAt, hold }: Pick<PendingQuestion, "dueAt" | "hold">): Instant | undefined {
  if (hold?.after !== "proceed") return dueAt;
  return earlier(hold.until, dueAt);
}

/** Orders questions by soonest consequence, then risk, then age. */
export function compareUrgency(one: PendingQuestion, other: PendingQuestion): number {
  return (
    compare(consequenceAt(one) ?? "9", consequenceAt(other) ?? "9") ||
    RISKS.indexOf(one.risk) - RISKS.indexOf(other.risk) ||
    compare(one.askedAt, other.askedAt) ||
    compare(one.id, other.id)
  );
}

/** By code units: the values are ASCII, and each page sorts a thousand questions. */
function compare(one: string, other: string) {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}

/** The inbox section a question belongs to for this viewer. */
export function inboxSectionOf(question: PendingQuestion, looker: InboxViewer, now: Instant): InboxSection {
  if (question.snoozedUntil !== undefined && question.snoozedUntil > now) return "snoozed";
  if (question.claim && actorName(question.claim.by) !== looker.id) return "claimed";
  if (question.to.length > 0 && !isMeant(question, looker)) return "others";
  if (!mayAnswer(question, looker)) return "others";
  return "waiting";
}

/** A delegate of somebody who is away is meant as they are. */
function isMeant({ to, delegates = [] }: PendingQuestion, looker: InboxViewer) {
  return isAddressed(to, looker) || delegates.some(({ delegate }) => delegate === looker.id);
}

/** Says whether the viewer is among the people who may answer. */
export function mayAnswer({ approvals: { from } }: Pick<PendingQuestion, "approvals">, looker: InboxViewer): boolean {
  return from.length === 0 || isAddressed(from, looker);
}
