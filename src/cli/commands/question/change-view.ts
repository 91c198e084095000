import type { QuestionSnapshot } from "../../../core/changes.ts";
import { formatDuration } from "../../../core/text/duration.ts";
import { shortId } from "../../../core/id.ts";
import { type Instant, msBetween } from "../../../core/instant.ts";
import { hasEnded } from "../../../core/run/run.ts";
import { sayAgent } from "../../view/agent-name.ts";
import { oneLine } from "../../view/sanitise.ts";
import { exampleAnswer, sayDue, sayThen } from "../../view/question-text.ts";
import { argumentOf, refOf } from "../../view/run-text.ts";
import { type Ahead, sayAgo, sayClock } from "../../view/relative-time.ts";

/** The output of `askd undo`. */
export function sayUndone(done: QuestionSnapshot, _now: Instant, program: string): string {
  const next = `Answer it: ${program} answer ${argumentOf(done.run)} ${exampleAnswer(done)}`;
  return lines(`The answer to ${about(done)} is taken back; the question waits again`, next);
}

/** The output of `askd amend`: whether and when the agent gets the correction. */
export function sayAmended(done: QuestionSnapshot, now: Instant, program: string, away?: readonly string[]): string {
  const { run, question } = done;
  const said = oneLine(question.amendments.at(-1)?.text ?? "");
  const head = `Correction recorded for ${refOf(run)} ${oneLine(run.name)} (${shortId(question.id)}): ${said}`;
  if (hasEnded(run)) {
    const ended = run.endedAt ? `${run.status} ${sayAgo(run.endedAt, now)}` : run.status;
    const mayResume = run.giveBack === "worker" && run.status !== "cancelled" && !run.isForgotten;
    const next = mayResume ? ` Resume it: ${program} amend ${shortId(question.id)} "…" --resume` : "";
    return lines(head, `Not delivered: the run ${ended}.${next}`);
  }
  if (away) return lines(head, ...away);
  if (run.status !== "resuming") return lines(head, "The agent receives it with the next answer, or when it stops");
  return run.giveBack === "worker"
    ? lines(head, `${sayAgent(run.agent)} receives it when it resumes. Follow: ${program} logs ${run.number} -f`)
    : lines(head, "It is delivered with the answer");
}

/** The output of `askd claim`. */
export function sayClaimed(done: QuestionSnapshot, now: Instant, program: string): string {
  const back = `Release it: ${program} release ${argumentOf(done.run)}`;
  return lines(`${about(done)} is yours: ${oneLine(done.question.title)}`, `${stillDue(done, now)}. ${back}`);
}

/** The output of `askd release`. */
export function sayReleased(done: QuestionSnapshot, now: Instant): string {
  return lines(`${about(done)} is released`, stillDue(done, now));
}

/** The output of `askd assign`. */
export function sayAssigned(done: QuestionSnapshot, now: Instant): string {
  return lines(`${about(done)} is assigned to ${names(done)}`, stillDue(done, now));
}

/** The output of `askd snooze`. */
export function saySnoozed(done: QuestionSnapshot, now: Instant, ahead: Ahead): string {
  const until = done.question.snoozedUntil ?? now;
  const left = formatDuration(msBetween(now, until));
  return lines(
    `${about(done)} is snoozed until ${sayClock(until, now, ahead)} (in ${left}): no reminders`,
    stillDue(done, now),
  );
}

/** The output of `askd extend`. */
export function sayExtended({ run, question, content }: QuestionSnapshot, now: Instant, ahead: Ahead): string {
  const due = question.dueAt ?? now;
  const clock = `${sayClock(due, now, ahead)} (in ${formatDuration(msBetween(now, due))})`;
  return lines(`${about({ run, question })} is due ${clock}, then ${sayThen(question, content)}`);
}

/** The output of `askd comment`. */
export function sayCommented(done: QuestionSnapshot, _now: Instant, program: string): string {
  return lines(
    `Comment ${done.question.comments.length} added to ${about(done)}`,
    `People see it, the agent does not. See all: ${program} show ${argumentOf(done.run)}`,
  );
}

/** The output of `askd escalate`. */
export function sayEscalated(done: QuestionSnapshot, now: Instant): string {
  const { question } = done;
  const steps = question.onTimeout.steps?.length ?? question.escalated;
  return lines(
    `${about(done)} is escalated to ${names(done)} (step ${question.escalated} of ${steps})`,
    stillDue(done, now),
  );
}

function lines(head: string, ...next: readonly string[]): string {
  return `✓ ${head}\n${next.map((line) => `  ${line}\n`).join("")}`;
}

/** `q-7k3f of #42 add-caching` */
function about({ run, question }: Pick<QuestionSnapshot, "run" | "question">): string {
  return `${shortId(question.id)} of ${refOf(run)} ${oneLine(run.name)}`;
}

function names({ question }: QuestionSnapshot): string {
  return question.to.length > 0 ? question.to.map(oneLine).join(", ") : "everybody";
}

function stillDue(done: QuestionSnapshot, now: Instant): string {
  const due = sayDue(done, now);
  return due ? `Still ${due}` : "It has no deadline";
}
