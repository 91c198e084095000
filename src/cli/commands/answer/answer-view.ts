import type { WayOn } from "../../../agents/runner/takeover.ts";
import type { Read } from "../../../core/changes.ts";
import { sayDuration } from "../../../core/text/duration.ts";
import { shortId } from "../../../core/id.ts";
import { msBetween } from "../../../core/instant.ts";
import { answerText } from "../../../core/answer/match.ts";
import type { Machines } from "../../../core/run/machine.ts";
import { type Question, findAnswer, isPending } from "../../../core/question/question.ts";
import { sayAgent } from "../../view/agent-name.ts";
import { findAwayLines } from "../../view/machine-view.ts";
import { oneLine } from "../../view/sanitise.ts";
import { argumentOf } from "../../wording.ts";

/** An answer that was given: how things were, how they are, and what a person does if nobody else can. */
export interface Answered {
  before: Read;
  after: Read;
  machines: Machines;
  wayOn: WayOn | undefined;
  /** The process that waited for the answer has ended. */
  isHolderGone: boolean;
}

/** What `askd answer` says: what was recorded for whom, and what happens now. */
export function sayAnswered(answered: Answered, program: string): string {
  const { run, question, content } = answered.after;
  const away = isToResume(question) ? findAwayLines(run, answered.machines, program) : undefined;
  const next = away ?? sayNext(answered, program);
  const second = `\n${next.map((line) => `  ${line}\n`).join("")}`;
  if (run.externalId !== undefined) return `✓ Response recorded for task ${oneLine(run.externalId)}${second}`;
  const answer = isPending(question) ? question.settling?.answer : findAnswer(question);
  const words = {
    answer: answer ? answerText(content, answer.items) : "",
    decide: "You decide",
    clarify: answer?.note ?? "",
  };
  const said = answer ? `: ${oneLine(words[answer.outcome])}` : "";
  return `✓ Answer recorded for #${run.number} ${oneLine(run.name)} (${shortId(question.id)})${said}${second}`;
}

/** Says whether the run is to go on with an answer, now or when it can no longer be taken back. */
function isToResume(question: Question): boolean {
  return !isPending(question) || (question.settling !== undefined && !question.settling.isHeldBack);
}

function sayNext({ before, after: { run, question }, wayOn, isHolderGone }: Answered, program: string): string[] {
  if (isPending(question)) {
    if (question.settling) {
      const left = sayDuration(msBetween(question.settling.answer.at, question.settling.until));
      const then = run.giveBack === "poll" || question.settling.isHeldBack ? "It is final" : "The run goes on";
      return [`${then} in ${left}. Take it back before: ${program} undo ${argumentOf(run)}`];
    }
    const { votes, approvals } = question;
    return [`${votes.length} of ${approvals.need} people have answered; it waits for the others`];
  }
  if (isPending(before.question) && before.question.hold) {
    return isHolderGone
      ? ["What waited for it has ended. It is kept, and goes to the agent when that asks again"]
      : ["It goes to the agent that is waiting for it"];
  }
  if (run.status !== "resuming") return [];
  if (run.externalId !== undefined) return ["Task returned to 'open' state and will be picked up by worker"];
  if (wayOn) return [wayOn.line];
  return run.giveBack === "worker"
    ? [`Resuming with ${sayAgent(run.agent)}. Follow: ${program} logs ${run.number} -f`]
    : ["The program that asked is told at its callback address"];
}
