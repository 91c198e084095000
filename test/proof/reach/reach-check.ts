import type { Event } from "../../../src/core/trail/event.ts";
import type { Question } from "../../../src/core/question/question.ts";
import type { ReachCase } from "./reach-list.ts";

/** Everything that can be seen of a question after its case. */
export interface Seen {
  question: Question;
  /** The state of its delivery. */
  state: string | undefined;
  events: readonly Event[];
  /** The texts of its messages that people see. */
  shown: readonly string[];
  posted: { different: number; all: number };
  /** The responses to its replies. */
  responses: number;
}

/** The words by which a message shows what is so. */
export function wordsOf({ channel }: ReachCase, question: Question): string {
  // A mail stays as it is, and whoever answered gets none that says so.
  if (channel === "email" && question.status === "answered" && question.answer.by.id === "mika") return "Redis";
  if (question.status === "answered") return `Answered by ${question.answer.by.id}`;
  const by = channel === "github" ? "If nobody answers by" : "By";
  return `${by} ${question.dueAt?.slice(0, 16).replace("T", " ") ?? ""} UTC`;
}

/** Holds what is seen against the promises: one line for each that was broken. */
export function checkCase(play: ReachCase, seen: Seen): string[] {
  return [...checkMessages(play, seen), ...checkTrail(play, seen), ...checkResponses(play, seen)];
}

/**
 * No message is lost, and there is one. A service that can neither be asked nor told to replace a message has a second
 * one if the process died between sending and writing down that it was sent.
 */
function checkMessages(play: ReachCase, { question, shown, posted, state }: Seen): string[] {
  const isOpen = play.step === "send" && play.point === "taken";
  const most = (play.channel === "telegram" || play.channel === "slack") && isOpen ? 2 : 1;
  // ntfy and GitHub are asked whether the message arrived; all others, and all edits, may be repeated once.
  const mayRepeat = (play.channel === "ntfy" || play.channel === "github") && isOpen ? 0 : 1;
  const wasNeverSent = state === "skipped" && play.meanwhile === "answered" && play.point !== "taken";
  return [
    ...(shown.length === 0 && !wasNeverSent ? ["the message is lost"] : []),
    ...(shown.length > most ? [`there are ${shown.length} messages`] : []),
    ...(shown.length > 0 && !shown.some((text) => text.includes(wordsOf(play, question)))
      ? [`no message says ${wordsOf(play, question)}: ${shown.join(" | ")}`]
      : []),
    ...(posted.all - posted.different > mayRepeat
      ? [`${posted.all} messages were posted, ${posted.different} of them different`]
      : []),
  ];
}

/** The trail has each message and each answer once. */
function checkTrail({ step, meanwhile, point }: ReachCase, { events, state, question }: Seen): string[] {
  const count = (type: string, what?: string) =>
    events.filter((event) => event.type === type && (what === undefined || event.detail?.["what"] === what)).length;
  const answers = count("question.answered");
  const isOpen = step === "send" || step === "edit" || step === "remind" || step === "unclear reply";
  const expected = isOpen && meanwhile !== "answered" ? 0 : 1;
  const sent = count("question.notified", "message");
  // Of a question that is answered before its reminder is written down nobody is reminded any more.
  const reminders = step !== "remind" || (meanwhile === "answered" && point !== "committed") ? 0 : 1;
  const states = question.status === "answered" ? ["closed", "skipped"] : ["sent"];
  return [
    ...(answers === expected ? [] : [`there are ${answers} answers in the trail, not ${expected}`]),
    ...(sent === 1 || (sent === 0 && state === "skipped") ? [] : [`the trail has ${sent} messages`]),
    ...(count("question.notified", "reminder") === reminders ? [] : [`the trail has not ${reminders} reminders`]),
    ...(states.includes(state ?? "") ? [] : [`the delivery is ${state}`]),
    ...(step !== "late reply" || count("question.late_reply") === 1 ? [] : ["the late reply is not in the trail once"]),
  ];
}

/** The responses that a case must and may bring: one; one more, or none, if the process died around it. */
export function expectedResponses({ step, point, channel }: ReachCase): { least: number; most: number } {
  const isResponded = step.endsWith(" reply") || (step === "reply" && channel === "telegram");
  if (!isResponded) return { least: 0, most: 0 };
  const isOnTheWay = point === "remembered" || point === "addressed" || point === "written";
  // A mail is responded to once: its correction is given up rather than sent twice.
  return { least: isOnTheWay ? 0 : 1, most: channel === "email" ? 1 : 2 };
}

function checkResponses(play: ReachCase, { responses }: Seen): string[] {
  const { least, most } = expectedResponses(play);
  return responses >= least && responses <= most ? [] : [`${responses} responses were given, not ${least} to ${most}`];
}
