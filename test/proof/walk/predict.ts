import type { Content } from "../../../src/core/question/content.ts";
import type { PendingQuestion, Question } from "../../../src/core/question/question.ts";
import type { RefusalCode } from "../../../src/core/refusal.ts";
import { type Run, hasEnded } from "../../../src/core/run/run.ts";
import { type Deed, type QuestionDeed, type RunDeed, type Said, saidThrough, whoDoes } from "./deed.ts";

/** A question with its run, as the rows say. */
export interface Sight {
  question: Question;
  run: Run;
  content: Content;
}

/** What may come of a deed: refused with one of these, and done only if nothing stands against it. */
export interface Prediction {
  refusals: RefusalCode[];
  /** Refusals that the contract leaves open. */
  maybe: RefusalCode[];
}

/** Says what may come of a deed in this state, by the contract and not by the code that decides it. */
export function predict(deed: QuestionDeed, sight: Sight): Prediction {
  const { question } = sight;
  const isOpen = question.status === "pending";
  switch (deed.do) {
    case "answer":
      return predictAnswer(deed, sight);
    case "comment":
      return only([]);
    case "amend": {
      const isCorrectable = question.status === "answered" || question.status === "timeout";
      const refusals = [...(isCorrectable ? [] : (["not_pending"] as const)), ...forWords(deed, question)];
      if (!deed.resume || !hasEnded(sight.run)) return only(refusals);
      // Nobody can start an asker outside, nor takes up again what a person has ended.
      if (sight.run.giveBack !== "worker") refusals.push("bad_input");
      return { refusals, maybe: sight.run.status === "cancelled" ? ["run_ended"] : [] };
    }
    case "cancel": {
      const refusals: RefusalCode[] = isOpen ? [] : ["not_pending"];
      return only(deed.words === undefined ? refusals : [...refusals, ...forWords(deed, question)]);
    }
    default:
      return only(isOpen ? predictCare(deed, question) : ["not_pending"]);
  }
}

/** What stands against looking after a question that waits. */
function predictCare(deed: QuestionDeed, question: PendingQuestion): RefusalCode[] {
  switch (deed.do) {
    case "undo":
      return question.settling ? [] : ["not_settling"];
    case "claim":
      return question.claim && question.claim.by.id !== whoDoes(deed) ? ["already_pending"] : [];
    case "release":
      return question.claim ? [] : ["bad_input"];
    case "escalate":
      return question.onTimeout.steps?.[question.escalated] ? [] : ["bad_input"];
    case "extend":
      return question.dueAt === undefined ? ["bad_input"] : [];
    default:
      return [];
  }
}

/** `owed` are the questions whose outcomes the run has not been given. */
export function predictRun(deed: RunDeed, run: Run, owed: readonly Question[]): Prediction {
  if (deed.do === "cancel run") return only(hasEnded(run) ? ["run_ended"] : []);
  // A run that has ended may be taken up again where its session and its launch record are there.
  if (hasEnded(run)) return { refusals: [], maybe: ["run_ended", "bad_input", "not_permitted", "not_pending"] };
  const stands: RefusalCode[] = run.pendingId !== undefined ? ["not_pending"] : [];
  if (run.pendingId === undefined && (run.status === "running" || run.owes.length === 0)) stands.push("bad_input");
  // Who may not answer may not let the run go on with an answer, either.
  if (owed.some((question) => !isNamed(deed, question))) stands.push("not_permitted");
  return only(stands);
}

/** Says whether a timeout can still be answered on purpose: it ended its run, and nothing was asked since. */
export function isForceable(run: Run, question: Question): boolean {
  const isLast = question.status === "timeout" && run.lastQuestionId === question.id && !question.forced;
  const isOver = run.status === "failed" && run.reason === "input_timeout";
  return isLast && (isOver || run.status === "skipped" || run.status === "completed");
}

function predictAnswer(deed: QuestionDeed & { do: "answer" }, { question, run, content }: Sight): Prediction {
  const said = saidThrough(deed);
  if (question.status !== "pending") {
    if (!said.force || !isForceable(run, question)) return only(["not_pending"]);
    const isEnough = countVotes(deed, said, { question, content }) >= question.approvals.need;
    const late: RefusalCode[] = isEnough ? [] : ["not_permitted"];
    return only([...mismatches(said, { question, content }), ...late, ...forAnswer(deed, question, said.confirmed)]);
  }
  const refusals = mismatches(said, { question, content });
  // To deny something needs no confirmation; words that do not fit deny nothing.
  const isDenied =
    question.kind === "approval" &&
    refusals.length === 0 &&
    [...said.values, said.text].some((word) => /^deny$/i.test(word ?? ""));
  if (question.settling) refusals.push("settling");
  refusals.push(...forAnswer(deed, question, said.confirmed || isDenied));
  const isAskedBack = said.outcome === "clarify" && question.kind === "approval";
  return { refusals, maybe: isAskedBack ? ["outcome_not_accepted"] : [] };
}

/** What is wrong with the words themselves. */
function mismatches(said: Said, { question, content }: Pick<Sight, "question" | "content">): RefusalCode[] {
  const { outcome, values, text } = said;
  const isApproval = question.kind === "approval";
  if (outcome === "decide") return isApproval || !question.accepts.includes("decide") ? ["outcome_not_accepted"] : [];
  if (outcome === "clarify") return isApproval || question.accepts.includes("clarify") ? [] : ["outcome_not_accepted"];
  const item = content.items[0];
  if (!item) return [];
  const isKnown = (word: string): boolean => item.options.some(({ value, label }) => value === word || label === word);
  if (values.length === 0 && (text ?? "") === "") return ["empty_answer"];
  if (values.some((value) => !isKnown(value))) return ["no_such_option"];
  if (values.length > 1 && !item.multiple) return ["bad_input"];
  return text !== undefined && !item.allowText && !isKnown(text) ? ["no_such_option"] : [];
}

function isNamed(deed: Deed, { approvals }: Question): boolean {
  return approvals.from.length === 0 || approvals.from.includes(whoDoes(deed));
}

/** What stands against whoever makes the agent go on: the same as against one who answers. */
function forAnswer(deed: Deed, question: Question, isConfirmed: boolean): RefusalCode[] {
  return [
    ...(isNamed(deed, question) ? [] : (["not_permitted"] as const)),
    ...(question.risk === "high" && !isConfirmed ? (["needs_confirmation"] as const) : []),
  ];
}

/** What stands against words of one person that are no vote. */
function forWords(deed: QuestionDeed & { do: "amend" | "cancel" }, question: Question): RefusalCode[] {
  const alone: RefusalCode[] = question.approvals.need > 1 ? ["not_permitted"] : [];
  return [...alone, ...forAnswer(deed, question, deed.confirmed)];
}

/** How many people are for this, with whoever says it now; everybody in a walk is another person. */
function countVotes(
  deed: QuestionDeed,
  said: Said,
  { question, content }: Pick<Sight, "question" | "content">,
): number {
  const options = content.items[0]?.options ?? [];
  const typed = options.find(({ value, label }) => value === said.text || label === said.text)?.value;
  const values = typed === undefined ? said.values : [typed];
  const chosen = JSON.stringify([[...values].sort(), values.length > 0 ? null : (said.text ?? null)]);
  const others = question.votes.filter(({ by, answer }) => {
    const item = Object.values(answer.items)[0] ?? { values: [], text: undefined };
    const theirs = [[...item.values].sort(), item.values.length > 0 ? null : (item.text ?? null)];
    return by.id !== whoDoes(deed) && answer.outcome === "answer" && JSON.stringify(theirs) === chosen;
  });
  return others.length + 1;
}

function only(refusals: RefusalCode[]): Prediction {
  return { refusals, maybe: [] };
}
