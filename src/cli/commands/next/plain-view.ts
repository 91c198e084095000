import { sayDuration } from "../../../core/text/duration.ts";
import { type Instant, msBetween } from "../../../core/instant.ts";
import { sayAgent } from "../../view/agent-name.ts";
import { oneLine, sanitise } from "../../view/sanitise.ts";
import { wrap } from "../../terminal/terminal.ts";
import { type Ahead, sayAge, sayClock } from "../../view/relative-time.ts";
import { refOf, sayBy, sayFact, sayThen } from "../../wording.ts";
import type { Card } from "./next-state.ts";
import { stepsOf } from "./answer-step.ts";

/** A question in plain lines, read from top to bottom. */
export function renderFlat(
  { read, same }: Card,
  at: { left: number; now: Instant; ahead: Ahead; width: number },
): string {
  const { run, question, content } = read;
  const agent = run.agent === "none" ? "" : `, ${sayFact(run, "agent", sayAgent(run.agent))}`;
  const due =
    question.dueAt === undefined
      ? "No deadline."
      : `Due ${sayClock(question.dueAt, at.now, at.ahead)}, in ${sayDuration(Math.max(0, msBetween(at.now, question.dueAt)))}, then ${sayThen(question, content)}.`;
  const lines = [
    `${at.left} ${at.left === 1 ? "question waits" : "questions wait"}. Run ${refOf(run)} ${oneLine(run.name)}${agent}.`,
    ...content.items.map((item) => `Question: ${sanitise(item.text)}`),
    `Waiting ${sayAge(Math.max(0, msBetween(question.askedAt, at.now)))}. ${due}`,
    ...(question.risk === "high" ? ["High risk: nothing is recommended here, and you will be asked for a word."] : []),
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

/** What can be written instead of an answer. */
export function sayCommands(): string {
  return [
    ":s skip. :q leave. :y leave the choice to the agent. :m text, ask back. :n text, add a note.",
    ":e write in your editor. :d what the agent changed. :v everything. :o open in the browser.",
    ":h 1h, snooze. :+ 1h, extend the deadline. :c claim or give back. :x yes, stop the run. :u take the last answer back.",
  ].join("\n");
}
