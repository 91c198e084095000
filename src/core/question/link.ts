import { z } from "zod";
import { actorName } from "../people/actor.ts";
import { requireAccess } from "../people/access.ts";
import type { DecisionContext, Changes, QuestionSnapshot } from "../changes.ts";
import { requirePending } from "./require-pending.ts";
import { unchangedEvent } from "../trail/event.ts";
import { type QuestionId, shortId } from "../id.ts";
import type { Instant } from "../instant.ts";
import { isNamed } from "../people/person.ts";
import { Refusal } from "../refusal.ts";
import { entryTrace } from "../trail/store-event.ts";
import { type Token, tokenEntry, tokenId, tokenText } from "../people/token.ts";

/** The name of a person in links and tokens. */
export const PersonName = z.string().regex(/^[A-Za-z0-9][\w.@-]{0,63}$/);

interface LinkInput {
  questionId: QuestionId;
  person: string;
  createdAt: Instant;
  maker?: string | undefined;
}

/** Creates a link: its text, and the token that is stored. */
export function newLink(input: LinkInput, random: Uint8Array): { text: string; token: Token } {
  const { questionId, person: subject, createdAt, maker } = input;
  const text = tokenText("link", random);
  return {
    text,
    token: { id: tokenId(text), version: 0, scope: "link", subject, questionId, onBehalf: false, maker, createdAt },
  };
}

/** The path of a link's page. */
export function linkPath(text: string): string {
  return `/a/${text}`;
}

/**
 * Stores a link with which one person can answer one question. Its maker could use it, so only an admin makes one for
 * another person.
 */
export function addLink(read: QuestionSnapshot, token: Token, at: DecisionContext): Changes {
  requireAccess("link", at.by, read.question);
  const question = requirePending(read, at);
  const person = token.subject;
  if (!PersonName.safeParse(person).success) {
    throw new Refusal("bad_input", "A person's name has letters, digits and . _ @ - only, 64 at most");
  }
  if (at.by.scope === "human" && actorName(at.by) !== person) {
    throw new Refusal("not_permitted", `A link for ${person} can only be made by ${person} or an admin`);
  }
  if (question.risk === "high") {
    throw new Refusal("needs_person", "This question is high risk, and a link does not prove who opens it", {
      hint: `Answer it where askd runs, with: askd answer ${shortId(question.id)}`,
    });
  }
  const { from } = question.approvals;
  if (from.length > 0 && !isNamed(from, person, read.people)) {
    throw new Refusal("not_permitted", `This question is for ${from.join(", ")}, not for ${person}`);
  }
  const entry = tokenEntry(token);
  return {
    entries: [entry],
    events: [unchangedEvent("linked", question, at, { for: person, ...entryTrace(entry) })],
  };
}
