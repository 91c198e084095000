import type { Content } from "../../../src/core/content.ts";
import type { Pending, Question } from "../../../src/core/question.ts";
import type { RefusalCode } from "../../../src/core/refusal.ts";
import { type Run, hasEnded } from "../../../src/core/run.ts";
import { type QuestionDeed, type RunDeed, type Said, saidThrough, whoDoes } from "./deed.ts";

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
      const { refusals, maybe } = withLeave(deed, question, isCorrectable ? [] : ["not_pending"]);
      if (!deed.resume || !hasEnded(sight.run)) return { refusals, maybe };
      // Nobody can start an asker outside, nor takes up again what a person has ended.
      if (sight.run.giveBack !== "worker") refusals.push("bad_input");
      return sight.run.status === "cancelled" ? { refusals, maybe: [...maybe, "run_ended"] } : { refusals, maybe };
    }
    case "cancel": {
      const refusals: RefusalCode[] = isOpen ? [] : ["not_pending"];
      return deed.words === undefined ? only(refusals) : withLeave(deed, question, refusals);
    }
    default:
      return only(isOpen ? predictCare(deed, question) : ["not_pending"]);
  }
}

/** What stands against looking after a question that waits. */
function predictCare(deed: QuestionDeed, question: Pending): RefusalCode[] {
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

export function predictRun(deed: RunDeed, run: Run): Prediction {
  if (deed.do === "cancel run") return only(hasEnded(run) ? ["run_ended"] : []);
  // A run that has ended may be taken up again where its session and its launch record are there.
  if (hasEnded(run)) return { refusals: [], maybe: ["run_ended", "bad_input", "not_permitted", "not_pending"] };
  const stands: RefusalCode[] = run.pendingId !== undefined ? ["not_pending"] : [];
  if (run.pendingId === undefined && (run.status === "running" || run.owes.length === 0)) stands.push("bad_input");
  // Who may not answer may not let the run go on with an answer, either.
  return { refusals: stands, maybe: ["not_permitted"] };
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
    return withLeave(deed, question, mismatches(said, { question, content }));
  }
  const refusals = mismatches(said, { question, content });
  if (question.settling) refusals.push("settling");
  if (!isNamed(deed, question)) refusals.push("not_permitted");
  if (question.risk === "high" && !said.confirmed) refusals.push("needs_confirmation");
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

function isNamed(deed: QuestionDeed, { approvals }: Question): boolean {
  return approvals.from.length === 0 || approvals.from.includes(whoDoes(deed));
}

/** Whoever makes the agent go on passes the same check as one who answers. */
function withLeave(deed: QuestionDeed, question: Question, refusals: RefusalCode[]): Prediction {
  const isGuarded =
    !isNamed(deed, question) || question.approvals.need > 1 || question.approvals.veto || question.risk === "high";
  return { refusals, maybe: isGuarded ? ["not_permitted", "needs_confirmation", "needs_person"] : [] };
}

function only(refusals: RefusalCode[]): Prediction {
  return { refusals, maybe: [] };
}
