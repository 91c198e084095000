import type { Instant } from "../../instant.ts";
import { type Question, isPending } from "../../question/question.ts";
import { isReminderUnwanted } from "../../question/question-timer.ts";
import { type Notice, isUrgentNotice } from "../notice.ts";

/** The subject of a message, as far as its delivery depends on it. */
export interface DeliverySubject {
  /** Somebody still has to act on it. */
  isOpen: boolean;
  /** It is told in quiet hours too, and at once. */
  isUrgent: boolean;
  /** How many reminders the recipient is to have had so far. */
  nudges: number;
  /** Nobody wants to be reminded of it now. */
  isReminderUnwanted: boolean;
  /** When it was over. */
  endedAt: Instant | undefined;
}

/** A question as the subject of one of its deliveries. */
export function questionSubject(question: Question, deliveryId: string, now: Instant): DeliverySubject {
  const { nudges = 0, deliveries = [], risk } = question;
  return {
    isOpen: isPending(question),
    isUrgent: risk === "high",
    // With everybody, and when they were named again.
    nudges: nudges + (deliveries.find((ref) => ref.id === deliveryId)?.calls ?? 0),
    isReminderUnwanted: isPending(question) && isReminderUnwanted(question, now),
    endedAt: endOf(question),
  };
}

/** News are told once, and nobody acts on them. */
export function noticeSubject(notice: Notice): DeliverySubject {
  const isUrgent = isUrgentNotice(notice);
  return { isOpen: false, isUrgent, nudges: 0, isReminderUnwanted: true, endedAt: notice.at };
}

function endOf(question: Question): Instant | undefined {
  if (question.status === "answered") return question.answer.at;
  if (question.status === "timeout") return question.timedOutAt;
  return question.status === "cancelled" ? question.cancelledAt : undefined;
}
