import { requireMay } from "../people/access.ts";
import { sayActor } from "../people/actor.ts";
import type { At, Changes, Read } from "../changes.ts";
import { requirePending } from "./require-pending.ts";
import { questionEvent } from "../trail/event.ts";
import { quoteName, requireVisibleLine } from "../text/foreign-text.ts";
import type { Instant } from "../instant.ts";
import { requirePlain } from "../text/plain-text.ts";
import type { Pending } from "./question.ts";
import { Refusal } from "../refusal.ts";

/** Says that somebody is on it; reminders stop, the clock does not. */
export function claim(read: Read, at: At): Changes {
  const question = requireOpen(read, "claim", at);
  const holder = question.claim;
  if (holder && sayActor(holder.by) !== sayActor(at.by)) {
    throw new Refusal("already_pending", `${quoteName(sayActor(holder.by))} has claimed this question`, {
      hint: "Ask them to release it, or answer it all the same",
      fact: { is: "claimed", by: sayActor(holder.by) },
    });
  }
  return change(read, { ...question, claim: { by: at.by, at: at.now } }, "claimed", at);
}

/** Gives a claim back. */
export function release(read: Read, at: At): Changes {
  const question = requireOpen(read, "release", at);
  if (!question.claim) {
    throw new Refusal("bad_input", "Nobody has claimed this question; there is nothing to give back", {
      fact: { is: "unclaimed" },
    });
  }
  return change(read, { ...question, claim: undefined }, "released", at);
}

/** Names the people whom the question is for. */
export function assign(read: Read, to: readonly string[], at: At): Changes {
  const question = requireOpen(read, "assign", at);
  const names = to.map((name) => name.trim()).filter((name) => name !== "");
  if (names.length === 0) {
    throw new Refusal("bad_input", "Name at least one person or group", { fact: { is: "nobody_named" } });
  }
  for (const name of names) requireVisibleLine(name, "the name of a person or group");
  return change(read, { ...question, to: names, claim: undefined }, "assigned", at, { to: names });
}

/** Keeps a question out of sight until then; the deadline stays where it is. */
export function snooze(read: Read, until: Instant, at: At): Changes {
  const question = requireOpen(read, "snooze", at);
  if (until <= at.now) {
    const fact = { is: "snooze_past" as const };
    throw new Refusal("bad_input", "Snooze until a time that is still to come, like 1h", { fact });
  }
  return change(read, { ...question, snoozedUntil: until }, "snoozed", at, { until });
}

/** Adds a remark for the other people who look at the question; the agent does not see it. */
export function comment(read: Read, text: string, at: At): Changes {
  requireMay("comment", at.by, read.question);
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
  return { runs: [read.run], questions: [commented], events: [questionEvent("commented", question, commented, at)] };
}

function requireOpen(read: Read, verb: "claim" | "release" | "assign" | "snooze", at: At): Pending {
  requireMay(verb, at.by, read.question);
  return requirePending(read, at.now);
}

function change(
  read: Read,
  after: Pending,
  name: "claimed" | "released" | "assigned" | "snoozed",
  at: At,
  detail?: Record<string, unknown>,
): Changes {
  return { runs: [read.run], questions: [after], events: [questionEvent(name, read.question, after, at, detail)] };
}
