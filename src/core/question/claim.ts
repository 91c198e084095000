import { requireAccess } from "../people/access.ts";
import { actorName } from "../people/actor.ts";
import type { DecisionContext, Changes, QuestionSnapshot } from "../changes.ts";
import { requirePending } from "./require-pending.ts";
import { changeQuestion } from "../trail/event.ts";
import { quoteName, requireVisibleLine } from "../text/foreign-text.ts";
import type { Instant } from "../instant.ts";
import { plainName } from "../people/person.ts";
import { requirePlain } from "../text/plain-text.ts";
import type { PendingQuestion } from "./question.ts";
import { Refusal } from "../refusal.ts";

/** Claims the question for a person; reminders stop, the deadline stays. */
export function claim(read: QuestionSnapshot, at: DecisionContext): Changes {
  const question = requireOpen(read, "claim", at);
  const holder = question.claim;
  if (holder && actorName(holder.by) !== actorName(at.by)) {
    throw new Refusal("already_pending", `${quoteName(actorName(holder.by))} has claimed this question`, {
      hint: "Ask them to release it, or answer it anyway",
      fact: { is: "claimed", by: actorName(holder.by) },
    });
  }
  return changeQuestion(read, { ...question, claim: { by: at.by, at: at.now } }, "claimed", at);
}

/** Releases a claim. */
export function release(read: QuestionSnapshot, at: DecisionContext): Changes {
  const question = requireOpen(read, "release", at);
  if (!question.claim) {
    throw new Refusal("bad_input", "Nobody has claimed this question; there is nothing to release", {
      hint: "Assigning a question ends its claim. Claim it again with: askd claim",
      fact: { is: "unclaimed" },
    });
  }
  return changeQuestion(read, { ...question, claim: undefined }, "released", at);
}

/** Assigns the question to people. */
export function assign(read: QuestionSnapshot, to: readonly string[], at: DecisionContext): Changes {
  const question = requireOpen(read, "assign", at);
  const names = to.map(plainName).filter((name) => name !== "");
  if (names.length === 0) {
    throw new Refusal("bad_input", "Name at least one person or group", { fact: { is: "nobody_named" } });
  }
  for (const name of names) requireVisibleLine(name, "the name of a person or group");
  return changeQuestion(read, { ...question, to: names, claim: undefined }, "assigned", at, { to: names });
}

/** Hides a question until then; the deadline stays. */
export function snooze(read: QuestionSnapshot, until: Instant, at: DecisionContext): Changes {
  const question = requireOpen(read, "snooze", at);
  if (until <= at.now) {
    const fact = { is: "snooze_past" as const };
    throw new Refusal("bad_input", "Snooze until a time in the future, like 1h", { fact });
  }
  return changeQuestion(read, { ...question, snoozedUntil: until }, "snoozed", at, { until });
}

/** Adds a comment for other people; the agent does not see it. */
export function comment(read: QuestionSnapshot, text: string, at: DecisionContext): Changes {
  requireAccess("comment", at.by, read.question);
  const said = text.trim();
  if (said === "") throw new Refusal("empty_answer", "A comment cannot be empty", { fact: { is: "empty_comment" } });
  requirePlain(said, at.rules.limits.answerBytes, "comment");
  const { question } = read;
  const count = question.comments.length;
  if (count >= at.rules.limits.comments) {
    throw new Refusal("too_many", `This question has ${count} comments; no more are accepted`, {
      fact: { is: "many_comments", count },
    });
  }
  const commented = { ...question, comments: [...question.comments, { by: at.by, at: at.now, text: said }] };
  return changeQuestion(read, commented, "commented", at);
}

function requireOpen(
  read: QuestionSnapshot,
  verb: "claim" | "release" | "assign" | "snooze",
  at: DecisionContext,
): PendingQuestion {
  requireAccess(verb, at.by, read.question);
  return requirePending(read, at);
}
