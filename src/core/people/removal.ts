import { z } from "zod";
import { actorName } from "./actor.ts";
import type { DecisionContext, Changes, QuestionSnapshot } from "../changes.ts";
import { setTimer } from "../question/question-timer.ts";
import { questionEvent, type Event } from "../trail/event.ts";
import { QuestionId } from "../id.ts";
import { type Person, changePerson, isAddressed, isNamed } from "./person.ts";
import { type PendingQuestion, namesPeople } from "../question/question.ts";
import { withQuorum } from "../answer/vote.ts";
import { Refusal } from "../refusal.ts";
import { joinChanges } from "../trail/store-event.ts";
import { type Token, changeToken, handOverToken, isAdminToken, isTokenUsable } from "./token.ts";

const HeldQuestion = z.object({ id: QuestionId, title: z.string() });

/** Everything a removed person holds, and what becomes of it. */
export const Removal = z.object({
  person: z.string(),
  /** False for a dry run. */
  isRemoved: z.boolean(),
  /** Claimed questions: they are released. */
  claims: z.array(HeldQuestion),
  /** Assigned questions: they go to the other assignees, or to everybody. */
  assignments: z.array(HeldQuestion.extend({ to: z.array(z.string()) })),
  /** Open questions with their vote, which no longer counts. */
  votes: z.array(HeldQuestion),
  /** Open approvals whose quorum can no longer be reached: they wait for their deadline. */
  approvals: z.array(HeldQuestion.extend({ need: z.int(), left: z.int(), dueAt: z.string().optional() })),
  /** Tokens of theirs or made by them: revoked, or handed over. */
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

/** The wire format of a removal; `then` says what becomes of each item. */
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

/** The rows needed to remove a person. */
export interface RemovalSnapshot {
  person: Person;
  /** All listed people, the removed one included. */
  people: readonly Person[];
  tokens: readonly Token[];
  /** Every open question. */
  open: readonly PendingQuestion[];
}

/** Says whether the person holds anything. */
export function hasHoldings(removal: Removal): boolean {
  const { claims, assignments, votes, approvals, tokens } = removal;
  return [claims, assignments, votes, approvals, tokens].some((held) => held.length > 0);
}

/** Lists a person's holdings and what becomes of each when they are removed. */
export function findHoldings(read: RemovalSnapshot, handOverTo: string | undefined, at: DecisionContext): Removal {
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
    claims: open.filter((question) => isClaimedBy(question, person.id)).map(heldQuestion),
    assignments: open
      .filter(({ to }) => to.includes(person.id))
      .map((question) => ({ ...heldQuestion(question), to: withoutName(question.to, person.id) })),
    votes: open.filter((question) => hasVoteOf(question, person.id)).map(heldQuestion),
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

/** Removes a person with their credentials and everything they hold. */
export function removePerson(
  read: RemovalSnapshot,
  reads: readonly QuestionSnapshot[],
  handOverTo: string | undefined,
  at: DecisionContext,
): Changes {
  const { person } = read;
  requireAnotherAdmin(read, handOverTo, at);
  const gone: Person = { id: person.id, version: person.version, groups: [], removed: true };
  return joinChanges([changePerson(person, gone, at), endHoldings(read, reads, handOverTo, at)]);
}

/** Revokes or hands over a person's tokens and releases the questions they hold. */
export function endHoldings(
  read: RemovalSnapshot,
  reads: readonly QuestionSnapshot[],
  handOverTo: string | undefined,
  at: DecisionContext,
): Changes {
  const { person } = read;
  const tokens = findEndingTokens(read, at).map((token) =>
    handOverTo !== undefined && isHandedOver(token, person.id)
      ? handOverToken(token, handOverTo, at)
      : changeToken("revoked", token, { ...token, revokedAt: at.now }, at),
  );
  const left = read.people.map((each) =>
    each.id === person.id ? { ...each, groups: [], removed: true as const } : each,
  );
  const questions = reads.map((each) => releaseHoldings({ ...each, people: left }, person.id, at));
  return joinChanges([...tokens, ...questions]);
}

/** Says whether a person has claimed, is assigned to, has voted or may vote on this question. */
export function isHeldBy(question: PendingQuestion, { person, people }: RemovalSnapshot): boolean {
  const { id } = person;
  const mayVote = question.approvals.from.length > 0 && isNamed(question.approvals.from, id, people);
  return isClaimedBy(question, id) || question.to.includes(id) || hasVoteOf(question, id) || mayVote;
}

/** The question without the votes of removed people. */
export function withoutVotesOf<Voted extends Pick<PendingQuestion, "votes">>(
  question: Voted,
  gone: ReadonlySet<string>,
): Voted {
  const votes = question.votes.filter(({ by }) => !gone.has(actorName(by)) && !gone.has(by.id));
  return votes.length === question.votes.length ? question : { ...question, votes };
}

/**
 * All tokens that end with the person: those that speak for them, those they made, and those made with such a token.
 */
function findEndingTokens({ person, people, tokens }: RemovalSnapshot, at: DecisionContext): Token[] {
  const usable = tokens.filter((token) => isTokenUsable(token, at.now));
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

/** A token for another subject can be handed over; one that speaks for the person cannot. */
function isHandedOver({ subject, scope, isSession }: Token, person: string) {
  return subject !== person && scope !== "link" && scope !== "login" && !isSession;
}

function requireAnotherAdmin(read: RemovalSnapshot, handOverTo: string | undefined, at: DecisionContext) {
  const admins = read.tokens.filter((token) => isAdminToken(token, at.now));
  const ending = findEndingTokens(read, at).filter(
    (token) => handOverTo === undefined || !isHandedOver(token, read.person.id),
  );
  if (admins.length === 0 || admins.some((token) => !ending.includes(token))) return;
  throw lastAdminRefusal(read.person.id);
}

/** The refusal to revoke the last admin token. */
export function lastAdminRefusal(name: string): Refusal {
  return new Refusal("not_permitted", `${name} is the last admin; nothing was changed`, {
    hint: "Make another admin first: askd token create --scope admin --subject <name>",
  });
}

function unmetApproval(question: PendingQuestion, { person, people }: RemovalSnapshot): Removal["approvals"] {
  const { need, from } = question.approvals;
  if (need === 1 && from.length === 0) return [];
  const others = people.filter(({ id }) => id !== person.id);
  // Where everybody may vote, the remaining listed people can, and one unlisted voter.
  const left = from.length > 0 ? countVoters(from, people, others) : others.length + 1;
  const isTheirs = from.length === 0 || isNamed(from, person.id, people);
  if (!isTheirs || left >= need) return [];
  return [{ ...heldQuestion(question), need, left, dueAt: question.dueAt }];
}

/** Counts the people whom these names leave able to vote: members of groups, and each name that is on no list. */
function countVoters(from: readonly string[], people: readonly Person[], others: readonly Person[]) {
  const unlisted = from.filter((name) => !people.some((person) => isAddressed([name], person)));
  return others.filter(({ id }) => isNamed(from, id, people)).length + unlisted.length;
}

/** Releases a person's claim, assignment and vote on an open question. */
function releaseHoldings(read: QuestionSnapshot, person: string, at: DecisionContext): Changes {
  const { question } = read;
  if (question.status !== "pending") return {};
  const hadVote = hasVoteOf(question, person);
  const isSettling = question.settling !== undefined && hadVote;
  const released: PendingQuestion = {
    ...withoutVotesOf(question, new Set([person])),
    claim: isClaimedBy(question, person) ? undefined : question.claim,
    to: withoutName(question.to, person),
    settling: isSettling ? undefined : question.settling,
  };
  const after = namesPeople(question) ? withQuorum(released, read.people) : released;
  const detail = { removed: person };
  const events: Event[] = [];
  if (isClaimedBy(question, person)) events.push(questionEvent("released", question, after, at, detail));
  if (after.to.length < question.to.length) {
    events.push(questionEvent("assigned", question, after, at, { to: after.to, ...detail }));
  }
  if (hadVote) events.push(questionEvent("vote_removed", question, after, at, detail));
  if (after.isUnreachable !== question.isUnreachable) {
    const unreachable = after.isUnreachable ?? false;
    events.push(questionEvent("quorum_changed", question, after, at, { unreachable, ...detail }));
  }
  if (events.length === 0) return {};
  return { runs: [read.run], questions: [after], events, ...(isSettling && setTimer(after, at.rules)) };
}

function heldQuestion({ id, title }: PendingQuestion): z.infer<typeof HeldQuestion> {
  return { id, title };
}

function isClaimedBy({ claim }: PendingQuestion, person: string) {
  return claim !== undefined && actorName(claim.by) === person;
}

function hasVoteOf({ votes }: PendingQuestion, person: string) {
  return votes.some(({ by }) => actorName(by) === person);
}

function withoutName(names: readonly string[], person: string) {
  return names.filter((name) => name !== person);
}
