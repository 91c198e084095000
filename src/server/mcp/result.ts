import type { CallToolResult } from "@modelcontextprotocol/server";
import { sayActor } from "../../core/actor.ts";
import type { Read } from "../../core/changes.ts";
import { spellDuration } from "../../core/duration.ts";
import { proceedSentence, tellAgent } from "../../core/injection.ts";
import { MINUTE_MS, msBetween } from "../../core/instant.ts";
import { type Answer, type Question, findAnswer } from "../../core/question.ts";
import type { Refusal } from "../../core/refusal.ts";
import { unreachable } from "../../core/unreachable.ts";

type Structured = Record<string, unknown>;

/** What a call returns once nothing more can be waited for: the outcome, or that the agent is to stop. */
export function resultOf(read: Read, delimiter: string): CallToolResult {
  const { question } = read;
  const answer = findAnswer(question);
  switch (question.status) {
    case "pending":
      return parked(read);
    case "answered":
      return result(tellAgent({ delimiter, reads: [read] }), answered(question, question.answer));
    case "timeout":
      if (answer) return result(tellAgent({ delimiter, reads: [read] }), answered(question, answer));
      return result(sayTimeout(question), { status: "timeout", question_id: question.id, policy: question.policy });
    case "cancelled":
      return result(
        `Question ${question.id} was cancelled (${question.reason}). No answer will come; go on without it.`,
        { status: "cancelled", question_id: question.id, reason: question.reason },
      );
    default:
      return unreachable(question);
  }
}

/** Says that the question is kept and that the agent is to stop. A resume is promised only where somebody does it. */
function parked({ run, question }: Read): CallToolResult {
  const next =
    run.giveBack === "poll"
      ? `To get the answer, later call check_answer with ${question.id}.`
      : "You will be resumed with the answer.";
  return result(
    `Nobody has answered yet. Your question is kept as ${question.id} and still waits for a person. ` +
      `Stop now: end your turn, do not guess and do not ask again. ${next}`,
    { status: "pending", question_id: question.id, stop_session: true, stop_reason: "waiting_for_user_input" },
  );
}

function answered(question: Question, answer: Answer): Structured {
  return {
    status: "answered",
    question_id: question.id,
    answers: answer.items,
    note: answer.note ?? null,
    answered_by: sayActor(answer.by),
    answered_at: answer.at,
    channel: answer.by.channel,
    outcome: answer.outcome,
    ...(answer.policy && { policy: answer.policy }),
  };
}

function sayTimeout(question: Extract<Question, { status: "timeout" }>): string {
  const waitedMs = msBetween(question.askedAt, question.timedOutAt);
  if (question.policy === "proceed" && question.kind === "question") return proceedSentence(waitedMs);
  const waited = spellDuration(Math.round(waitedMs / MINUTE_MS) * MINUTE_MS);
  const then = question.policy === "skip" ? "skip this task" : "stop this task";
  return `Nobody answered question ${question.id} within ${waited}. Policy "${question.policy}" applies: ${then}.`;
}

/**
 * A result in words for the model and in fields for programs. Claude Code and Codex show their model the fields
 * and nothing else, so the words are among them.
 */
function result(text: string, structured: Structured): CallToolResult {
  return { content: [{ type: "text", text }], structuredContent: { ...structured, message: text } };
}

/** A result whose words are its fields, for tools whose document says so. */
export function plainResult(structured: Structured): CallToolResult {
  return { content: [{ type: "text", text: JSON.stringify(structured) }], structuredContent: structured };
}

/** An expected "no", in words that tell the agent what to do next. */
export function refused(refusal: Refusal): CallToolResult {
  const text = refusal.hint ? `${refusal.message}. ${refusal.hint}` : refusal.message;
  return { ...result(text, { status: "refused", code: refusal.code }), isError: true };
}
