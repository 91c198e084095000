import { requireAccess } from "../people/access.ts";
import type { DecisionContext, Changes, PendingSnapshot, QuestionSnapshot } from "../changes.ts";
import { setTimer } from "./question-timer.ts";
import { closeWithAnswer } from "./close.ts";
import { requirePending } from "./require-pending.ts";
import { changeQuestion } from "../trail/event.ts";
import { shortId } from "../id.ts";
import { type Instant, later, msBetween } from "../instant.ts";
import type { Answer, PendingQuestion } from "./question.ts";
import { Refusal } from "../refusal.ts";

/** Closes the question with this answer, or starts the undo window first. */
export function settleOrClose(
  read: PendingSnapshot,
  given: Answer,
  { undoMs, resume }: { undoMs: number; resume: boolean },
  at: DecisionContext,
): Changes {
  if (undoMs <= 0) return closeWithAnswer(read, given, at, { resume });
  const until = later(at.now, undoMs);
  const settling: PendingQuestion = {
    ...read.question,
    settling: { answer: given, until, isHeldBack: resume ? undefined : true },
  };
  return {
    ...changeQuestion(read, settling, "settling", at, { id: given.id, until }),
    ...setTimer(settling, at.rules),
  };
}

/** Closes a question with a reply whose undo window is over. */
export function settle(read: QuestionSnapshot, at: DecisionContext): Changes {
  const { question } = read;
  if (question.status !== "pending" || !question.settling) return {};
  const { answer, until, isHeldBack } = question.settling;
  if (until > at.now) return setTimer(question, at.rules);
  return closeWithAnswer({ ...read, question }, answer, { ...at, by: answer.by }, { resume: !isHeldBack });
}

/** Undoes a reply in its undo window; the question is open again, with the time it had left when the reply came. */
export function undo(read: QuestionSnapshot, at: DecisionContext): Changes {
  requireAccess("undo", at.by, read.question);
  const question = requirePending(read, at);
  if (!question.settling)
    throw new Refusal("not_settling", "There is nothing to undo: no answer is in its undo window", {
      hint: `The question still waits: askd answer ${shortId(question.id)} "…"`,
    });
  const { answer } = question.settling;
  const reopened: PendingQuestion = {
    ...question,
    settling: undefined,
    dueAt: dueAfterUndo(question, answer.at, at.now),
    // The vote that would have closed the question is withdrawn too.
    votes: question.votes.filter((vote) => vote.answer.id !== answer.id),
  };
  const moved = reopened.dueAt === question.dueAt ? {} : { due_at: reopened.dueAt };
  return {
    ...changeQuestion(read, reopened, "undone", at, { answer: answer.id, ...moved }),
    ...setTimer(reopened, at.rules),
  };
}

/** The deadline does not run during the undo window. */
function dueAfterUndo({ dueAt }: PendingQuestion, repliedAt: Instant, now: Instant): Instant | undefined {
  if (dueAt === undefined) return undefined;
  const due = later(now, Math.max(0, msBetween(repliedAt, dueAt)));
  return due > dueAt ? due : dueAt;
}
