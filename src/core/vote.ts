import { sayActor } from "./actor.ts";
import type { At, Changes, Read } from "./changes.ts";
import { settleOrClose } from "./settle.ts";
import { questionEvent } from "./event.ts";
import type { Answer, Pending, Question, Vote } from "./question.ts";

/** Counts a person's vote; a later one replaces the earlier. Enough equal votes, or a veto, close the question. */
export function vote(
  read: Read & { question: Pending },
  given: Answer,
  how: { undoMs: number; resume: boolean },
  at: At,
): Changes {
  const { run, question } = read;
  const others = question.votes.filter((cast) => sayActor(cast.by) !== sayActor(at.by));
  const votes: Vote[] = [...others, { by: at.by, at: at.now, answer: given }];
  const voted: Pending = { ...question, votes };
  const tally = count(votes, choiceOf(given));
  const event = questionEvent("voted", question, voted, at, {
    choice: choiceOf(given),
    votes: tally,
    need: question.approvals.need,
    ...(isUnreachable(voted) && { unreachable: true }),
  });
  const isVetoed = question.approvals.veto && isDenial(given);
  if (tally < question.approvals.need && !isVetoed) return { runs: [run], questions: [voted], events: [event] };
  const closed = settleOrClose({ ...read, question: voted }, given, how, at);
  return { ...closed, events: [event, ...(closed.events ?? [])] };
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

function count(votes: readonly Vote[], choice: string): number {
  return votes.filter((cast) => choiceOf(cast.answer) === choice).length;
}

/** With all named people counted, no choice can get enough votes any more; people can still change their mind. */
function isUnreachable(question: Pending): boolean {
  const { from, need } = question.approvals;
  if (from.length === 0) return false;
  const open = from.filter((name) => question.votes.every((cast) => sayActor(cast.by) !== name)).length;
  const best = Math.max(...question.votes.map((cast) => count(question.votes, choiceOf(cast.answer))));
  return best + open < need;
}

function isDenial(answer: Answer): boolean {
  return Object.values(answer.items).some(
    (item) => item.values.includes("deny") || item.text?.toLowerCase() === "deny",
  );
}
