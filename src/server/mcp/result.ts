import type { CallToolResult } from "@modelcontextprotocol/server";
import { actorName } from "../../core/people/actor.ts";
import type { QuestionSnapshot } from "../../core/changes.ts";
import { jsonLine, oneVisibleLine } from "../../core/text/foreign-text.ts";
import {
  cancelledMessage,
  parkedMessage,
  timeoutMessage,
  answerMessage,
  correctionMessage,
} from "../../core/run/agent-message.ts";
import { type Answer, type Question, findAnswer } from "../../core/question/question.ts";
import type { Refusal } from "../../core/refusal.ts";
import { unreachable } from "../../core/unreachable.ts";
import { findTally } from "../../core/answer/vote.ts";

type Structured = Record<string, unknown>;

/** The result at the end of a wait: the outcome, or that the agent is to stop. */
export function resultOf(
  read: QuestionSnapshot,
  delimiter: string,
  corrected: readonly QuestionSnapshot[] = [],
): CallToolResult {
  const { question } = read;
  const answer = findAnswer(question);
  const corrections = corrected.length > 0 ? `\n\n${correctionMessage({ delimiter, reads: corrected })}` : "";
  const outcome = (text: string, structured: Structured) => result(text + corrections, structured);
  switch (question.status) {
    case "pending":
      return parkedResult(read);
    case "answered":
      return outcome(answerMessage({ delimiter, reads: [read] }), answered(question, question.answer));
    case "timeout":
      if (answer) return outcome(answerMessage({ delimiter, reads: [read] }), answered(question, answer));
      return outcome(withOwnCorrections(timeoutMessage(question), read, delimiter), {
        status: "timeout",
        question_id: question.id,
        policy: question.policy,
      });
    case "cancelled":
      return outcome(cancelledMessage(question), {
        status: "cancelled",
        question_id: question.id,
        reason: question.reason,
        ...(question.policy && { policy: question.policy, stop_session: true, stop_reason: question.reason }),
        note: question.note,
      });
    default:
      return unreachable(question);
  }
}

/** A person may have corrected what a policy said before the agent came for it. */
function withOwnCorrections(text: string, read: QuestionSnapshot, delimiter: string) {
  return [text, correctionMessage({ delimiter, reads: [read] })].filter((part) => part !== "").join("\n\n");
}

/** The agent is to stop, and to look for the answer later. */
export function parkedResult(read: QuestionSnapshot): CallToolResult {
  const { id } = read.question;
  return result(parkedMessage(read, `later call check_answer with ${id}`), {
    status: "pending",
    question_id: id,
    stop_session: true,
    stop_reason: "waiting_for_user_input",
  });
}

function answered(question: Question, answer: Answer): Structured {
  return {
    status: "answered",
    question_id: question.id,
    answers: answer.items,
    note: answer.note ?? null,
    answered_by: actorName(answer.by),
    answered_at: answer.at,
    channel: answer.by.channel,
    outcome: answer.outcome,
    ...(answer.policy && { policy: answer.policy }),
    ...howAnswered(question, answer),
  };
}

/** Fields that mark an answer as forced or given by vote. */
export function howAnswered(
  question: Question,
  answer: Answer,
): { forced?: true; votes?: number; votes_needed?: number } {
  const tally = findTally(question, answer);
  return {
    ...(question.status === "timeout" && question.forced && { forced: true as const }),
    ...(tally && { votes: tally.votes.length, votes_needed: tally.need }),
  };
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
  return { content: [{ type: "text", text: jsonLine(structured) }], structuredContent: structured };
}

/** An expected "no", in words that tell the agent what to do next. */
export function refused(refusal: Refusal): CallToolResult {
  const text = refusal.hint ? `${refusal.message}. ${refusal.hint}` : refusal.message;
  return { ...result(oneVisibleLine(text), { status: "refused", code: refusal.code }), isError: true };
}
