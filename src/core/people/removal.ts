import { z } from "zod";
import { sayActor } from "./actor.ts";
import type { At, Changes, Read } from "../changes.ts";
import { setClock } from "../question/question-timer.ts";
import { questionEvent, type Event } from "../trail/event.ts";
import { QuestionId } from "../id.ts";
import { type Person, changePerson } from "./person.ts";
import type { Pending } from "../question/question.ts";
import { Refusal } from "../refusal.ts";
import { joinChanges } from "../trail/store-event.ts";
import { type Token, changeToken, handOverToken, isAdminToken, isUsable } from "./token.ts";

const HeldQuestion = z.object({ id: QuestionId, title: z.string() });

/** What somebody holds who is removed, and what becomes of each. */
export const Removal = z.object({
  person: z.string(),
  /** False where it was only asked what would happen. */
  isRemoved: z.boolean(),
  /** Questions that they claimed: they are released. */
  claims: z.array(HeldQuestion),
  /** Questions assigned to them: they are for the others who are named, or for everybody. */
  assignments: z.array(HeldQuestion.extend({ to: z.array(z.string()) })),
  /** Open questions with a vote of theirs, which no longer counts. */
  votes: z.array(HeldQuestion),
  /** Open approvals that the remaining people cannot meet: they wait for their deadline. */
  approvals: z.array(HeldQuestion.extend({ need: z.int(), left: z.int(), dueAt: z.string().optional() })),
  /** Tokens that speak for them or that they made: revoked, or handed over. */
  tokens: z.array(
    z.object({
      id: z.string(),
      name: z.string().optional(),
      scope: z.string(),
      subject: z.string(),
      handedTo: z.string().optional(),
    }),
  ),
});
export type Removal = z.infer<typeof Removal>;

const HeldView = z.object({ id: z.string(), title: z.string() });

/** The same as programs see it; `then` says what becomes of each. */
export const RemovalView = z.object({
  person: z.string(),
  removed: z.boolean(),
  claims: z.array(HeldView.extend({ then: z.literal("released") })),
  assignments: z.array(HeldView.extend({ then: z.literal("unassigned"), to: z.array(z.string()) })),
  votes: z.array(HeldView.extend({ then: z.literal("not_counted") })),
  approvals: z.array(
    HeldView.extend({
      then: z.literal("waits_for_deadline"),
      need: z.int(),
      left: z.int(),
      due_at: z.string().nullable(),
    }),
  ),
  tokens: z.array(
    z.object({
      id: z.string(),
      name: z.string().nullable(),
      scope: z.string(),
      subject: z.string(),
      then: z.enum(["revoked", "handed_over"]),
      handed_to: z.string().nullable(),
    }),
  ),
});
export type RemovalView = z.infer<typeof RemovalView>;

export function viewRemoval({
  person,
  isRemoved,
  claims,
  assignments,
  votes,
  approvals,
  tokens,
}: Removal): RemovalView {
  return {
    person,
    removed: isRemoved,
    claims: claims.map(({ id, title }) => ({ id, title, then: "released" })),
    assignments: assignments.map(({ id, title, to }) => ({ id, title, then: "unassigned", to })),
    votes: votes.map(({ id, title }) => ({ id, title, then: "not_counted" })),
    approvals: approvals.map(({ id, title, need, left, dueAt }) => ({
      id,
      title,
      need,
      left,
      then: "waits_for_deadline",
      due_at: dueAt ?? null,
    })),
    tokens: tokens.map(({ id, name, scope, subject, handedTo }) => ({
      id,
      scope,
      subject,
      name: name ?? null,
      then: handedTo === undefined ? "revoked" : "handed_over",
      handed_to: handedTo ?? null,
    })),
  };
}

/** All that has to be read to remove somebody. */
export interface RemovalRead {
  person: Person;
  /** Everybody on the list, the one who is removed included. */
  people: readonly Person[];
  tokens: readonly Token[];
  /** Every open question. */
  open: readonly Pending[];
}

/** Says whether anything is taken away from anybody. */
export function takesSomething(removal: Removal): boolean {
  const { claims, assignments, votes, approvals, tokens } = removal;
  return [claims, assignments, votes, approvals, tokens].some((held) => held.length > 0);
}

/** Lists what a person holds, and what becomes of each when they are removed. */
export function findHoldings(read: RemovalRead, handOverTo: string | undefined, at: At): Removal {
  const { person, people, open } = read;
  if (handOverTo !== undefined && !people.some(({ id }) => id === handOverTo && id !== person.id)) {
    throw new Refusal("bad_input", `Tokens cannot be handed over to "${handOverTo}": nobody else has that id`, {
      hint: "See everybody: askd user list",
    });
  }
  const ending = findEndingTokens(read, at);
  return {
    person: person.id,
    isRemoved: false,
    claims: open.filter((question) => isClaimedBy(question, person.id)).map(held),
    assignments: open
      .filter(({ to }) => to.includes(person.id))
      .map((question) => ({ ...held(question), to: withoutName(question.to, person.id) })),
    votes: open.filter((question) => hasVoteOf(question, person.id)).map(held),
    approvals: open.flatMap((question) => unmetApproval(question, read)),
    tokens: ending.map((token) => ({
      id: token.id,
      name: token.name,
      scope: token.scope,
      subject: token.subject,
      handedTo: isHandedOver(token, person.id) ? handOverTo : undefined,
    })),
  };
}

/** Takes somebody off the list, with everything that lets them in and everything that they hold. */
export function removePerson(
  read: RemovalRead,
  reads: readonly Read[],
  handOverTo: string | undefined,
  at: At,
): Changes {
  const { person } = read;
  requireAnotherAdmin(read, handOverTo, at);
  const gone: Person = { id: person.id, version: person.version, groups: [], removed: true };
  return joinChanges([changePerson(person, gone, at), endHoldings(read, reads, handOverTo, at)]);
}

/** Ends or hands over the tokens of a person, and frees the questions that they hold something of. */
export function endHoldings(
  read: RemovalRead,
  reads: readonly Read[],
  handOverTo: string | undefined,
  at: At,
): Changes {
  const { person } = read;
  const tokens = findEndingTokens(read, at).map((token) =>
    handOverTo !== undefined && isHandedOver(token, person.id)
      ? handOverToken(token, handOverTo, at)
      : changeToken("revoked", token, { ...token, revokedAt: at.now }, at),
  );
  const questions = reads.map((each) => letGo(each, person.id, at));
  return joinChanges([...tokens, ...questions]);
}

/** Says whether a person holds something of this question. */
export function isHeldBy(question: Pending, person: string): boolean {
  return isClaimedBy(question, person) || question.to.includes(person) || hasVoteOf(question, person);
}

/** The question without the votes of people who were removed. */
export function withoutVotesOf<Voted extends Pick<Pending, "votes">>(
  question: Voted,
  gone: ReadonlySet<string>,
): Voted {
  const votes = question.votes.filter(({ by }) => !gone.has(sayActor(by)));
  return votes.length === question.votes.length ? question : { ...question, votes };
}

/**
 * Everything that the person could still come in with: what speaks for them and what they made, and what was made in
 * turn with a token of another name that ends with them.
 */
function findEndingTokens({ person, people, tokens }: RemovalRead, at: At): Token[] {
  const usable = tokens.filter((token) => isUsable(token, at.now));
  const gone = new Set([person.id]);
  for (;;) {
    const ending = usable.filter(({ subject, maker = "" }) => subject === person.id || gone.has(maker));
    const lasting = new Set(usable.filter((token) => !ending.includes(token)).map(({ subject }) => subject));
    const more = ending.filter(
      ({ subject, scope }) =>
        scope !== "agent" && !gone.has(subject) && !lasting.has(subject) && !people.some(({ id }) => id === subject),
    );
    if (more.length === 0) return ending;
    for (const { subject } of more) gone.add(subject);
  }
}

/** A token for somebody or something else can go on in other hands; one that speaks for the person cannot. */
function isHandedOver({ subject, scope, isSession }: Token, person: string): boolean {
  return subject !== person && scope !== "link" && scope !== "login" && !isSession;
}

function requireAnotherAdmin(read: RemovalRead, handOverTo: string | undefined, at: At): void {
  const admins = read.tokens.filter((token) => isAdminToken(token, at.now));
  const ending = findEndingTokens(read, at).filter(
    (token) => handOverTo === undefined || !isHandedOver(token, read.person.id),
  );
  if (admins.length === 0 || admins.some((token) => !ending.includes(token))) return;
  throw lastAdmin(read.person.id);
}

/** Why the last token of an admin cannot go. */
export function lastAdmin(name: string): Refusal {
  return new Refusal("not_permitted", `${name} is the last admin; nothing was changed`, {
    hint: "Make another admin first: askd token create --scope admin --subject <name>",
  });
}

function unmetApproval(question: Pending, { person, people }: RemovalRead): Removal["approvals"] {
  const { need, from } = question.approvals;
  if (need === 1 && from.length === 0) return [];
  // Where everybody may vote, those on the list who remain do, and somebody who is not on it, whatever their name.
  const others = people.length - 1;
  const left = from.length > 0 ? withoutName(from, person.id).length : others + 1;
  const isTheirs = from.length === 0 || from.includes(person.id);
  if (!isTheirs || left >= need) return [];
  return [{ ...held(question), need, left, dueAt: question.dueAt }];
}

/** Frees an open question from everything that a person has in it. */
function letGo(read: Read, person: string, at: At): Changes {
  const { question } = read;
  if (question.status !== "pending") return {};
  const hadVote = hasVoteOf(question, person);
  const isSettling = question.settling !== undefined && hadVote;
  const after: Pending = {
    ...withoutVotesOf(question, new Set([person])),
    claim: isClaimedBy(question, person) ? undefined : question.claim,
    to: withoutName(question.to, person),
    settling: isSettling ? undefined : question.settling,
  };
  const detail = { removed: person };
  const events: Event[] = [];
  if (isClaimedBy(question, person)) events.push(questionEvent("released", question, after, at, detail));
  if (after.to.length < question.to.length) {
    events.push(questionEvent("assigned", question, after, at, { to: after.to, ...detail }));
  }
  if (hadVote) events.push(questionEvent("vote_removed", question, after, at, detail));
  if (events.length === 0) return {};
  return { runs: [read.run], questions: [after], events, ...(isSettling && setClock(after, at.rules)) };
}

function held({ id, title }: Pending): z.infer<typeof HeldQuestion> {
  return { id, title };
}

function isClaimedBy({ claim }: Pending, person: string): boolean {
  return claim !== undefined && sayActor(claim.by) === person;
}

function hasVoteOf({ votes }: Pending, person: string): boolean {
  return votes.some(({ by }) => sayActor(by) === person);
}

function withoutName(names: readonly string[], person: string): string[] {
  return names.filter((name) => name !== person);
}
