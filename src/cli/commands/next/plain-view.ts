import { formatDuration } from "../../../core/text/duration.ts";
import { type Instant, msBetween } from "../../../core/instant.ts";
import { sayAgent } from "../../view/agent-name.ts";
import { oneLine, sanitise } from "../../view/sanitise.ts";
import { wrap } from "../../terminal/terminal.ts";
import { type Ahead, sayAge, sayClock } from "../../view/relative-time.ts";
import { sayThen } from "../../view/question-text.ts";
import { refOf, sayBy, sayFact } from "../../view/run-text.ts";
import type { QuestionCard } from "./next-state.ts";
import { stepsOf } from "./answer-step.ts";

/** A question as plain lines. */
export function renderPlain(
  { read, same }: QuestionCard,
  at: { left: number; now: Instant; ahead: Ahead; width: number },
): string {
  const { run, question, content } = read;
  const agent = run.agent === "none" ? "" : `, ${sayFact(run, "agent", sayAgent(run.agent))}`;
  const due =
    question.dueAt === undefined
      ? "No deadline."
      : `Due ${sayClock(question.dueAt, at.now, at.ahead)}, in ${formatDuration(Math.max(0, msBetween(at.now, question.dueAt)))}, then ${sayThen(question, content)}.`;
  const lines = [
    `${at.left} ${at.left === 1 ? "question is" : "questions are"} waiting. Run ${refOf(run)} ${oneLine(run.name)}${agent}.`,
    ...content.items.map((item) => `Question: ${sanitise(item.text)}`),
    `Waiting ${sayAge(Math.max(0, msBetween(question.askedAt, at.now)))}. ${due}`,
    ...(question.risk === "high" ? ["High risk: nothing is recommended, and you confirm with a word."] : []),
    ...(question.claim ? [`Claimed by ${sayBy(question.claim.by)}.`] : []),
    ...(same.length > 0 ? [`${same.length + 1} runs ask this.`] : []),
    ...(content.context === undefined ? [] : [`Context: ${sanitise(content.context)}`]),
    ...stepsOf(content).flatMap((step) =>
      step.choices.map(({ label, about, isRecommended }, index) => {
        const tag = isRecommended && question.risk !== "high" ? ", recommended" : "";
        return `Option ${index + 1}: ${oneLine(label)}${tag}${about === undefined ? "" : `. ${oneLine(about)}`}`;
      }),
    ),
  ];
  return lines.flatMap((line) => wrap(line, at.width)).join("\n");
}

/** The commands that can be typed instead of an answer. */
export function sayCommands(): string {
  return [
    ":s skip. :q quit. :y let the agent decide. :m text, ask back. :n text, add a note.",
    ":e write in your editor. :d show the agent's changes. :v show everything. :o open in the browser.",
    ":h 1h, snooze. :+ 1h, extend the deadline. :c claim or release. :x yes, stop the run. :u undo the last answer.",
  ].join("\n");
}
