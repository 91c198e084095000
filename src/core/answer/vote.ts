import { type Actor, actorName } from "../people/actor.ts";
import type { DecisionContext, Changes, PendingSnapshot, QuestionSnapshot } from "../changes.ts";
import { isDenial } from "../question/approval.ts";
import { settleOrClose } from "../question/settle.ts";
import { questionEvent } from "../trail/event.ts";
import { type Person, isAddressed, isNamed } from "../people/person.ts";
import type { Answer, Approvals, PendingQuestion, Question, Vote } from "../question/question.ts";
import { Refusal } from "../refusal.ts";
import { ALLOW_CHANGED } from "../question/run-permission.ts";

/** Counts a person's vote; a later one replaces the earlier. Enough equal votes, or a veto, close the question. */
export function vote(
  read: PendingSnapshot,
  given: Answer,
  how: { undoMs: number; resume: boolean },
  at: DecisionContext,
): Changes {
  const { run, question, content, people } = read;
  const votes = withVote(read, given, at);
  const voted = withQuorum({ ...question, votes }, people);
  const tally = countVotes(votes, choiceOf(given), people);
  const event = questionEvent("voted", question, voted, at, {
    choice: choiceOf(given),
    votes: tally,
    need: question.approvals.need,
    unreachable: voted.isUnreachable,
  });
  const isVetoed = question.approvals.veto && isDenial(content, given.items);
  if (tally < question.approvals.need && !isVetoed) return { runs: [run], questions: [voted], events: [event] };
  const closed = settleOrClose({ ...read, question: voted }, given, how, at);
  return { ...closed, events: [event, ...(closed.events ?? [])] };
}

/** Refuses a forced answer of one person where several must agree; votes from before the deadline count. */
export function requireEnoughVotes(read: QuestionSnapshot, given: Answer, at: DecisionContext): void {
  const { need } = read.question.approvals;
  const tally = countVotes(withVote(read, given, at), choiceOf(given), read.people);
  if (tally >= need || at.by.scope === "system") return;
  throw new Refusal("not_permitted", `${need} people have to agree on this question; with you it is ${tally}`, {
    hint: `Nobody can vote after the deadline; it has to be asked again. See it with: askd show ${read.run.number}`,
    fact: { is: "needs_votes", need },
  });
}

/**
 * The votes with this one; a later one of the same person replaces the earlier. Of the votes in somebody's name the last
 * one counts, and none where that person has voted in person.
 */
function withVote(
  { question, people }: { question: Question; people?: QuestionSnapshot["people"] },
  given: Answer,
  at: DecisionContext,
): Vote[] {
  const voter = voterOf(at.by, people);
  const name = actorName(at.by);
  const others = question.votes.filter((cast) => voterOf(cast.by, people) !== voter && cast.by.onBehalfOf !== name);
  const hasVoted = others.some(({ by }) => by.onBehalfOf === undefined && by.id === name);
  return hasVoted ? others : [...others, { by: at.by, at: at.now, answer: given }];
}

/** All unlisted names count as one voter: they may be the same person. */
const UNLISTED = "";

/**
 * The person a vote counts for: one on the list, one for all unlisted names, or nobody if that person was removed. Votes
 * in other people's names count for the person who gives them: one token that names several people is one person.
 */
function voterOf(by: Actor, people: readonly Person[] = []) {
  const named = findVoter(actorName(by), people);
  return named === undefined || by.onBehalfOf === undefined ? named : findVoter(by.id, people);
}

function findVoter(name: string, people: readonly Person[]) {
  const person = people.find(({ id }) => id === name);
  if (!person) return UNLISTED;
  return person.removed ? undefined : person.id;
}

/** Finds the votes that decided a question; undefined where one person's answer is enough. */
export function findTally(
  question: Question,
  answer: Answer,
): { votes: Vote[]; need: number; isVeto: boolean } | undefined {
  const { need } = question.approvals;
  const votes = question.votes.filter((cast) => choiceOf(cast.answer) === choiceOf(answer));
  if (!question.votes.some((cast) => cast.answer.id === answer.id)) return undefined;
  return { votes, need, isVeto: votes.length < need };
}

/** Groups votes by choice, in the order in which each choice was first made. */
export function groupVotes(votes: readonly Vote[]): Array<readonly [Vote, ...Vote[]]> {
  const tallies = new Map<string, readonly [Vote, ...Vote[]]>();
  for (const cast of votes) {
    const [first, ...others] = tallies.get(choiceOf(cast.answer)) ?? [];
    tallies.set(choiceOf(cast.answer), first ? [first, ...others, cast] : [cast]);
  }
  return [...tallies.values()];
}

/**
 * Names a choice: two votes agree if they choose the same in every item. Free text beside a choice does not count, a
 * changed command does.
 */
function choiceOf(answer: Answer) {
  const items = Object.keys(answer.items).sort();
  const chosen = items.map((id) => {
    const { values = [], text = null } = answer.items[id] ?? {};
    return [id, [...values].sort(), values.length > 0 && !values.includes(ALLOW_CHANGED) ? null : text];
  });
  return JSON.stringify([answer.outcome, chosen]);
}

/** Counts the voters for a choice. */
function countVotes(votes: readonly Vote[], choice: string, people: readonly Person[] | undefined) {
  const voters = votes.filter((cast) => choiceOf(cast.answer) === choice).map((cast) => voterOf(cast.by, people));
  return new Set(voters.filter((voter) => voter !== undefined)).size;
}

/** The question with the mark that its votes cannot decide it any more, or without it. */
export function withQuorum(question: PendingQuestion, people: readonly Person[] | undefined): PendingQuestion {
  return { ...question, isUnreachable: isUnreachable(question, people) ? true : undefined };
}

/** Looks again whether the people on the list can decide the question. */
export function recheckQuorum({ run, question, people }: QuestionSnapshot, at: DecisionContext): Changes {
  if (question.status !== "pending") return {};
  const after = withQuorum(question, people);
  if (after.isUnreachable === question.isUnreachable) return {};
  const detail = { unreachable: after.isUnreachable ?? false };
  return { runs: [run], questions: [after], events: [questionEvent("quorum_changed", question, after, at, detail)] };
}

/** Refuses an approval that the people it names cannot give, all of them together. */
export function requireReachable({ need, from }: Approvals, people: readonly Person[]): void {
  if (from.length === 0) return;
  const listed = people.filter(({ removed }) => !removed);
  // Before anybody is listed each name may become a person's.
  const most = listed.length === 0 ? new Set(from).size : listVoters(from, people).length;
  if (most >= need) return;
  const who = most === 1 ? "1 person" : `${most} people`;
  throw new Refusal("bad_input", `${need} people would have to agree, but ${from.join(", ")} can be ${who} at most`, {
    hint: 'Name more people in "approvals.from", or need fewer; see who is listed: askd user list',
  });
}

/** Says whether no choice can reach the quorum with the votes still outstanding; people may still change their vote. */
function isUnreachable(question: PendingQuestion, people: readonly Person[] = []) {
  const { from, need } = question.approvals;
  if (from.length === 0) return false;
  const open = listVoters(from, people).filter((voter) =>
    question.votes.every((cast) => voterOf(cast.by, people) !== voter),
  );
  const tallies = question.votes.map((cast) => countVotes(question.votes, choiceOf(cast.answer), people));
  return Math.max(0, ...tallies) + open.length < need;
}

/** Everybody who can vote where these people and groups may: those on the list, and one for all names on no list. */
function listVoters(from: readonly string[], people: readonly Person[]) {
  const listed = people.filter(({ id, removed }) => !removed && isNamed(from, id, people)).map(({ id }) => id);
  const isUnlisted = from.some((name) => !people.some((person) => isAddressed([name], person)));
  return [...listed, ...(isUnlisted ? [UNLISTED] : [])];
}
