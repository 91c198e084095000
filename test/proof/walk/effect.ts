import type { Answer, Question } from "../../../src/core/question/question.ts";
import { hasEnded, isForOneAsk } from "../../../src/core/run/run.ts";
import { type QuestionDeed, type Said, saidThrough, whoDoes } from "./deed.ts";
import { type Sight, isForceable } from "./predict.ts";

/** Says what is not so in the rows right after a deed was acknowledged; nothing if all of it is. */
export function findMissing(deed: QuestionDeed, before: Sight, after: Sight): string[] {
  const { question } = after;
  switch (deed.do) {
    case "answer":
      return missingAnswer(deed, before, after);
    case "amend":
      return question.amendments.some(({ text }) => text === deed.text) ? [] : ["the correction is not kept"];
    case "cancel":
      return missingCancel(deed, before, after);
    case "undo":
      return question.status === "pending" && question.settling ? ["it still settles"] : [];
    case "claim":
      return isOwnClaim(deed, before.question, question) ? [] : ["nobody has claimed it"];
    case "comment":
      return question.comments.some(({ text }) => text === deed.text) ? [] : ["the comment is not kept"];
    case "extend":
      return missingTime(before.question, question);
    default:
      return [];
  }
}

/** Somebody else may have released it before it was looked at again. */
function isOwnClaim(deed: QuestionDeed, before: Question, after: Question): boolean {
  if (after.status !== "pending" || after.version > before.version + 1) return true;
  return after.claim?.by.id === whoDoes(deed);
}

function missingTime(before: Question, after: Question): string[] {
  if (before.dueAt === undefined || after.status !== "pending" || after.dueAt === undefined) return [];
  return after.dueAt > before.dueAt || after.escalated > before.escalated ? [] : ["its deadline has not moved"];
}

function missingAnswer(deed: QuestionDeed & { do: "answer" }, before: Sight, after: Sight): string[] {
  const said = saidThrough(deed);
  const { question } = after;
  const forced = question.status === "timeout" ? question.forced?.answer : undefined;
  // It may have become forceable after it was looked at.
  if (said.force && (forced || isForceable(before.run, before.question))) {
    return forced ? differences(said, forced, deed) : ["the forced answer is not kept"];
  }
  const kept = findKept(question, whoDoes(deed));
  if (!kept) return isWithdrawn(said, before, after) ? [] : [`it is ${question.status} without this answer`];
  const wrong = differences(said, kept, deed);
  const isDecided = question.status === "answered";
  const wasVoted = before.question.approvals.need > 1 || before.question.approvals.veto;
  if (!isDecided && !wasVoted && said.undoMs === 0) wrong.push(`it is ${question.status} after an answer`);
  return wrong;
}

/** The asker took the question back while the answer could still be undone, before anybody looked at it again. */
function isWithdrawn({ undoMs }: Said, before: Sight, after: Sight): boolean {
  return undoMs > 0 && after.question.status === "cancelled" && after.question.version > before.question.version + 1;
}

/** What is kept of a person's answer: as the outcome, as a reply that settles, or as a vote. */
function findKept(question: Question, who: string): Answer | undefined {
  if (question.status === "answered") {
    const vote = question.votes.find(({ by }) => by.id === who)?.answer;
    return vote ?? question.answer;
  }
  const settling = question.status === "pending" ? question.settling : undefined;
  return settling?.answer ?? question.votes.find(({ by }) => by.id === who)?.answer;
}

function differences(said: Said, kept: Answer, deed: QuestionDeed): string[] {
  const item = Object.values(kept.items)[0] ?? { values: [], text: undefined };
  const wrong: string[] = [];
  if (kept.outcome !== said.outcome) wrong.push(`"${said.outcome}" is kept as "${kept.outcome}"`);
  if (kept.by.id !== whoDoes(deed)) wrong.push(`it is kept as said by ${kept.by.id}`);
  if ((kept.note ?? "") !== (said.note ?? "")) wrong.push(`the note is kept as "${kept.note ?? ""}"`);
  if (said.outcome !== "answer") return wrong;
  const isWord = said.values.length === 0 && item.values.length === 1 && item.text === undefined; // typed as a word
  if (isWord ? item.values[0] !== said.text : said.values.join() !== item.values.join())
    wrong.push(`the chosen [${said.values.join()}] are kept as [${item.values.join()}]`);
  if (!isWord && said.text !== item.text) wrong.push(`the words "${said.text}" are kept as "${item.text}"`);
  return wrong;
}

function missingCancel(deed: QuestionDeed & { do: "cancel" }, before: Sight, { question, run }: Sight): string[] {
  const wrong = question.status === "cancelled" ? [] : [`a cancelled question is ${question.status}`];
  if (deed.words !== undefined) {
    if (!JSON.stringify(question).includes(deed.words)) wrong.push("the words are not kept");
    return wrong;
  }
  // The agent of a session that askd did not start is still there: its run goes on, or is complete until it asks again.
  const isSession = before.run.implicit && !isForOneAsk(before.run);
  if (isSession && run.status === "cancelled") wrong.push("its session is cancelled");
  if (!isSession && !hasEnded(run)) wrong.push(`its run is ${run.status}`);
  return wrong;
}
