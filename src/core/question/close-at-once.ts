import type { Changes, DecisionContext, PendingSnapshot, QuestionSnapshot } from "../changes.ts";
import type { Actor } from "../people/actor.ts";
import { type ClosingChanges, answeredQuestion, closeQuestion } from "./close.ts";
import type { Answer } from "./question.ts";

/** The policy of that name, which acts in place of a person. */
export function policyActor(policy: string): Actor {
  return { scope: "system", id: policy, channel: "policy", strength: "none" };
}

/** Asks and answers in one commit: no person is asked. */
export function answerAtOnce(
  changes: Changes,
  read: PendingSnapshot,
  given: Pick<Answer, "items" | "policy" | "allowedBy" | "allowedIn">,
  at: DecisionContext,
): Changes & { read: QuestionSnapshot } {
  const { policy = "", allowedBy, allowedIn } = given;
  const answer: Answer = { id: at.ids.outcome(), outcome: "answer", by: policyActor(policy), at: at.now, ...given };
  const detail = { policy, id: answer.id, allowed_by: allowedBy, allowed_in: allowedIn };
  return closedAtOnce(
    changes,
    read,
    closeQuestion(read, answeredQuestion(read.question, answer), () => detail, at),
  );
}

/** Joins the changes that ask a question with those that close it: its row is written once, as closed. */
export function closedAtOnce(
  changes: Changes,
  read: PendingSnapshot,
  closed: ClosingChanges,
): Changes & { read: QuestionSnapshot } {
  const isWritten = (id: string) => closed.questions.some((each) => each.id === id);
  return {
    ...changes,
    ...closed,
    questions: [...closed.questions, ...(changes.questions ?? []).filter(({ id }) => !isWritten(id))],
    events: [...(changes.events ?? []), ...closed.events],
    dropped: changes.dropped ?? [],
    read: { ...read, run: closed.runs[0], question: closed.questions[0] },
  };
}
