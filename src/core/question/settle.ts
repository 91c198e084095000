import { requireMay } from "../people/access.ts";
import type { At, Changes, Read } from "../changes.ts";
import { setClock } from "./question-timer.ts";
import { closeWith } from "./close.ts";
import { requirePending } from "./require-pending.ts";
import { questionEvent } from "../trail/event.ts";
import { shortId } from "../id.ts";
import { type Instant, later, msBetween } from "../instant.ts";
import type { Answer, Pending } from "./question.ts";
import { Refusal } from "../refusal.ts";

/** Closes the question with this answer, or lets it settle first for as long as it can be taken back. */
export function settleOrClose(
  read: Read & { question: Pending },
  given: Answer,
  { undoMs, resume }: { undoMs: number; resume: boolean },
  at: At,
): Changes {
  if (undoMs <= 0) return closeWith(read, given, at, { resume });
  const until = later(at.now, undoMs);
  const settling: Pending = {
    ...read.question,
    settling: { answer: given, until, ...(!resume && { isHeldBack: true }) },
  };
  return {
    runs: [read.run],
    questions: [settling],
    events: [questionEvent("settling", read.question, settling, at, { id: given.id, until })],
    ...setClock(settling, at.rules),
  };
}

/** Closes a question with a reply whose undo window is over. */
export function settle(read: Read, at: At): Changes {
  const { question } = read;
  if (question.status !== "pending" || !question.settling) return {};
  const { answer, until, isHeldBack } = question.settling;
  if (until > at.now) return setClock(question, at.rules);
  return closeWith({ ...read, question }, answer, { ...at, by: answer.by }, { resume: !isHeldBack });
}

/** Takes a reply back while it settles; the question is open again, with the time that was left when the reply came. */
export function undo(read: Read, at: At): Changes {
  requireMay("undo", at.by, read.question);
  const question = requirePending(read, at.now);
  if (!question.settling)
    throw new Refusal("not_settling", "There is nothing to undo: no answer is in its undo window", {
      hint: `The question still waits: askd answer ${shortId(question.id)} "…"`,
    });
  const { answer } = question.settling;
  const reopened: Pending = {
    ...question,
    settling: undefined,
    dueAt: dueAfterUndo(question, answer.at, at.now),
    // A vote that would have closed the question is taken back with it.
    votes: question.votes.filter((vote) => vote.answer.id !== answer.id),
  };
  const moved = reopened.dueAt === question.dueAt ? {} : { due_at: reopened.dueAt };
  return {
    runs: [read.run],
    questions: [reopened],
    events: [questionEvent("undone", question, reopened, at, { answer: answer.id, ...moved })],
    ...setClock(reopened, at.rules),
  };
}

/** The clock stood still while the reply could be taken back. */
function dueAfterUndo({ dueAt }: Pending, repliedAt: Instant, now: Instant): Instant | undefined {
  if (dueAt === undefined) return undefined;
  const due = later(now, Math.max(0, msBetween(repliedAt, dueAt)));
  return due > dueAt ? due : dueAt;
}
