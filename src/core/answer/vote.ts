import { type Actor, sayActor } from "../people/actor.ts";
import type { At, Changes, Read } from "../changes.ts";
import { settleOrClose } from "../question/settle.ts";
import { questionEvent } from "../trail/event.ts";
import { type Person, isNamed } from "../people/person.ts";
import type { Answer, Pending, Question, Vote } from "../question/question.ts";
import { Refusal } from "../refusal.ts";

/** Counts a person's vote; a later one replaces the earlier. Enough equal votes, or a veto, close the question. */
export function vote(
  read: Read & { question: Pending },
  given: Answer,
  how: { undoMs: number; resume: boolean },
  at: At,
): Changes {
  const { run, question, people } = read;
  const votes = withVote(read, given, at);
  const voted: Pending = { ...question, votes };
  const tally = count(votes, choiceOf(given), people);
  const event = questionEvent("voted", question, voted, at, {
    choice: choiceOf(given),
    votes: tally,
    need: question.approvals.need,
    ...(isUnreachable(voted, people) && { unreachable: true }),
  });
  const isVetoed = question.approvals.veto && isDenial(given);
  if (tally < question.approvals.need && !isVetoed) return { runs: [run], questions: [voted], events: [event] };
  const closed = settleOrClose({ ...read, question: voted }, given, how, at);
  return { ...closed, events: [event, ...(closed.events ?? [])] };
}

/** Refuses an answer after the deadline that one person gives where several have to agree; votes from before it count. */
export function requireEnoughVotes(read: Read, given: Answer, at: At): void {
  const { need } = read.question.approvals;
  const tally = count(withVote(read, given, at), choiceOf(given), read.people);
  if (tally >= need || at.by.scope === "system") return;
  throw new Refusal("not_permitted", `${need} people have to agree on this question; with you it is ${tally}`, {
    hint: "Start the run anew, so that it is asked again",
    fact: { is: "needs_votes", need },
  });
}

/** The votes with this one; a later one of the same person replaces the earlier. */
function withVote(
  { question, people }: { question: Question; people?: Read["people"] },
  given: Answer,
  at: At,
): Vote[] {
  const voter = voterOf(at.by, people);
  const others = question.votes.filter((cast) => voterOf(cast.by, people) !== voter);
  return [...others, { by: at.by, at: at.now, answer: given }];
}

/** The one person whom all names count as that are on no list: nobody knows whether they are several. */
const UNLISTED = "";

/** Whom a vote counts for: a person on the list, whoever is on none, or nobody if that person was removed. */
function voterOf(by: Actor, people: readonly Person[] = []): string | undefined {
  const person = people.find(({ id }) => id === sayActor(by));
  if (!person) return UNLISTED;
  return person.removed ? undefined : person.id;
}

/** The votes that gave a question its answer, and how they did; undefined where one person's answer is enough. */
export function findTally(
  question: Question,
  answer: Answer,
): { votes: Vote[]; need: number; isVeto: boolean } | undefined {
  const { need } = question.approvals;
  const votes = question.votes.filter((cast) => choiceOf(cast.answer) === choiceOf(answer));
  if (!question.votes.some((cast) => cast.answer.id === answer.id)) return undefined;
  return { votes, need, isVeto: votes.length < need };
}

/** Votes by what they are for, in the order in which that was first named. */
export function talliesOf(votes: readonly Vote[]): Array<readonly [Vote, ...Vote[]]> {
  const tallies = new Map<string, readonly [Vote, ...Vote[]]>();
  for (const cast of votes) {
    const [first, ...others] = tallies.get(choiceOf(cast.answer)) ?? [];
    tallies.set(choiceOf(cast.answer), first ? [first, ...others, cast] : [cast]);
  }
  return [...tallies.values()];
}

/** Two votes are for the same thing when they choose the same in every item; words beside a choice do not count. */
function choiceOf(answer: Answer): string {
  const items = Object.keys(answer.items).sort();
  const chosen = items.map((id) => {
    const { values = [], text = null } = answer.items[id] ?? {};
    return [id, [...values].sort(), values.length > 0 ? null : text];
  });
  return JSON.stringify([answer.outcome, chosen]);
}

/** How many people are for that choice. */
function count(votes: readonly Vote[], choice: string, people: readonly Person[] | undefined): number {
  const voters = votes.filter((cast) => choiceOf(cast.answer) === choice).map((cast) => voterOf(cast.by, people));
  return new Set(voters.filter((voter) => voter !== undefined)).size;
}

/** With all named people counted, no choice can get enough votes any more; people can still change their mind. */
function isUnreachable(question: Pending, people: readonly Person[] = []): boolean {
  const { from, need } = question.approvals;
  if (from.length === 0) return false;
  const listed = people.filter(({ id, removed }) => !removed && isNamed(from, id, people)).map(({ id }) => id);
  const isUnlisted = from.some((name) => !people.some(({ id, groups }) => id === name || groups.includes(name)));
  const able = [...listed, ...(isUnlisted ? [UNLISTED] : [])];
  const open = able.filter((voter) => question.votes.every((cast) => voterOf(cast.by, people) !== voter)).length;
  const best = Math.max(...question.votes.map((cast) => count(question.votes, choiceOf(cast.answer), people)));
  return best + open < need;
}

function isDenial(answer: Answer): boolean {
  return Object.values(answer.items).some(
    (item) => item.values.includes("deny") || item.text?.toLowerCase() === "deny",
  );
}
