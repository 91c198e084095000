import { sayActor } from "./actor.ts";
import { type Instant, earlier } from "../instant.ts";
import type { Pending } from "../question/question.ts";

/** Where a pending question stands for one person. */
export type Place = "waiting" | "claimed" | "others" | "snoozed";

const RISKS = ["high", "medium", "low"] as const;

/** Who looks, under all names by which a question may be for them. */
export interface Looker {
  id: string;
  groups: readonly string[];
}

/** When something happens if nobody answers; a held agent that only stops loses nothing by it. */
export function consequenceAt({ dueAt, hold }: Pick<Pending, "dueAt" | "hold">): Instant | undefined {
  if (hold?.after !== "proceed") return dueAt;
  return earlier(hold.until, dueAt);
}

/** Orders questions by soonest consequence, then risk, then age. */
export function compareUrgency(one: Pending, other: Pending): number {
  return (
    compare(consequenceAt(one) ?? "9", consequenceAt(other) ?? "9") ||
    RISKS.indexOf(one.risk) - RISKS.indexOf(other.risk) ||
    compare(one.askedAt, other.askedAt) ||
    compare(one.id, other.id)
  );
}

/** By characters: what is compared is plain, and a thousand questions are sorted with every page. */
function compare(one: string, other: string): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}

/** In which part of somebody's inbox a question belongs. */
export function placeOf(question: Pending, looker: Looker, now: Instant): Place {
  if (question.snoozedUntil !== undefined && question.snoozedUntil > now) return "snoozed";
  if (question.claim && sayActor(question.claim.by) !== looker.id) return "claimed";
  if (question.to.length > 0 && !question.to.some((name) => isMeant(name, looker))) return "others";
  return "waiting";
}

/** Says whether somebody is among those who alone may answer. */
export function mayAnswer({ approvals: { from } }: Pick<Pending, "approvals">, { id, groups }: Looker): boolean {
  return from.length === 0 || from.includes(id) || groups.some((group) => from.includes(group));
}

function isMeant(name: string, { id, groups }: Looker): boolean {
  const plain = name.replace(/^@/, "");
  return plain === id || groups.includes(plain);
}
