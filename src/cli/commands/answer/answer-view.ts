import type { ResumeAdvice } from "../../../agents/runner/takeover.ts";
import type { QuestionSnapshot } from "../../../core/changes.ts";
import { formatDuration } from "../../../core/text/duration.ts";
import { shortId } from "../../../core/id.ts";
import { msBetween } from "../../../core/instant.ts";
import { actorName } from "../../../core/people/actor.ts";
import { answerText } from "../../../core/answer/match.ts";
import type { KnownMachines } from "../../../core/run/machine.ts";
import { type Question, findAnswer, isPending } from "../../../core/question/question.ts";
import { sayAgent } from "../../view/agent-name.ts";
import { findAwayLines } from "../../view/machine-view.ts";
import { oneLine } from "../../view/sanitise.ts";
import { isAnswerHeldBack } from "../../../core/run/run.ts";
import { argumentOf, needsOwnId } from "../../view/run-text.ts";

/** A recorded answer: the question before and after, and how to resume by hand if no worker can. */
export interface AnsweredView {
  before: QuestionSnapshot;
  after: QuestionSnapshot;
  machines: KnownMachines;
  wayOn: ResumeAdvice | undefined;
  /** The process that waited for the answer has ended. */
  isHolderGone: boolean;
}

/** Says whether the process that held the question has ended, so that nobody waits for the answer. */
export async function hasHolderEnded(question: Question): Promise<boolean> {
  const holder = isPending(question) ? question.hold?.holder : undefined;
  if (holder === undefined) return false;
  const { isHolderGone } = await import("../../../agents/process/process-holder.ts");
  return isHolderGone(holder);
}

/** The output of `askd answer`: what was recorded, and what happens next. */
export function sayAnswered(answered: AnsweredView, program: string): string {
  const { run, question, content } = answered.after;
  const away = isToResume(question) ? findAwayLines(run, answered.machines, program) : undefined;
  const next = [...sayWhatWasAsked(question), ...sayClaimed(answered), ...(away ?? sayNext(answered, program))];
  const second = `\n${next.map((line) => `  ${line}\n`).join("")}`;
  if (givenAnswer(question)?.outcome === "clarify") return `${sayAskedBack(answered.after)}${second}`;
  if (run.externalId !== undefined) return `✓ Response recorded for task ${oneLine(run.externalId)}${second}`;
  const answer = givenAnswer(question);
  const words = answer && (answer.outcome === "decide" ? "You decide" : answerText(content, answer.items));
  const said = words === undefined ? "" : `: ${oneLine(words)}`;
  return `✓ Answer recorded for #${run.number} ${oneLine(run.name)} (${shortId(question.id)})${said}${second}`;
}

/** A question back is no answer: the agent explains, and asks again. */
function sayAskedBack({ run, question }: QuestionSnapshot) {
  const note = oneLine(givenAnswer(question)?.note ?? "");
  const asked =
    run.externalId === undefined ? `#${run.number} ${oneLine(run.name)}` : `task ${oneLine(run.externalId)}`;
  return `✓ Asked back about ${asked} (${shortId(question.id)}): ${note}`;
}

/** A person who approves something sees once more what it was. */
function sayWhatWasAsked(question: Question) {
  return needsOwnId(question) ? [`Question: ${oneLine(question.title)}`] : [];
}

/** A colleague who claimed the question may be working on an answer, and has to hear of this one. */
function sayClaimed({ before: { question }, after }: AnsweredView) {
  const holder = isPending(question) && question.claim ? actorName(question.claim.by) : undefined;
  const answer = givenAnswer(after.question);
  if (holder === undefined || !answer || holder === actorName(answer.by)) return [];
  return [`${oneLine(holder)} had claimed it; tell them that it is answered`];
}

/** The answer, also one that can still be undone. */
function givenAnswer(question: Question) {
  return isPending(question) ? question.settling?.answer : findAnswer(question);
}

/** Says whether the run resumes with the answer, now or when the undo window ends. */
function isToResume(question: Question) {
  return !isPending(question) || (question.settling !== undefined && !question.settling.isHeldBack);
}

function sayNext({ before, after: { run, question }, wayOn, isHolderGone }: AnsweredView, program: string) {
  if (isPending(question)) {
    if (question.settling) {
      const left = formatDuration(msBetween(question.settling.answer.at, question.settling.until));
      const then = run.giveBack === "poll" || question.settling.isHeldBack ? "It is final" : "The run resumes";
      return [`${then} in ${left}. Take it back before: ${program} undo ${argumentOf(run)}`];
    }
    const { votes, approvals } = question;
    return [`${votes.length} of ${approvals.need} people have answered; the question waits for the others`];
  }
  if (isPending(before.question) && before.question.hold) {
    return isHolderGone
      ? ["The process that waited for it has ended. The answer is kept and delivered when the agent asks again"]
      : ["It is delivered to the waiting agent"];
  }
  if (isAnswerHeldBack(run)) return [`The run waits with it. Resume it: ${program} runs resume ${run.number}`];
  if (run.status !== "resuming") return [];
  if (run.externalId !== undefined) return ["Task returned to 'open' state and will be picked up by worker"];
  if (wayOn) return [wayOn.line];
  return run.giveBack === "worker"
    ? [`Resuming with ${sayAgent(run.agent)}. Follow: ${program} logs ${run.number} -f`]
    : ["It is sent to the callback of the program that asked"];
}
