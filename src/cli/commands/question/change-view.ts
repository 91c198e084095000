import type { Read } from "../../../core/changes.ts";
import { sayDuration } from "../../../core/text/duration.ts";
import { shortId } from "../../../core/id.ts";
import { type Instant, msBetween } from "../../../core/instant.ts";
import { hasEnded } from "../../../core/run/run.ts";
import { sayAgent } from "../../view/agent-name.ts";
import { oneLine } from "../../view/sanitise.ts";
import { argumentOf, exampleAnswer, refOf, sayDue, sayThen } from "../../wording.ts";
import { type Ahead, sayAgo, sayClock } from "../../view/relative-time.ts";

/** What `askd undo` says. */
export function sayUndone(done: Read, _now: Instant, program: string): string {
  const next = `Answer it: ${program} answer ${argumentOf(done.run)} ${exampleAnswer(done)}`;
  return lines(`The answer to ${about(done)} is taken back; it waits again`, next);
}

/** What `askd amend` says: whether the agent gets the correction, and when. */
export function sayAmended(done: Read, now: Instant, program: string, away?: readonly string[]): string {
  const { run, question } = done;
  const said = oneLine(question.amendments.at(-1)?.text ?? "");
  const head = `Correction recorded for ${refOf(run)} ${oneLine(run.name)} (${shortId(question.id)}): ${said}`;
  if (hasEnded(run)) {
    const ended = run.endedAt ? `${run.status} ${sayAgo(run.endedAt, now)}` : run.status;
    const mayResume = run.giveBack === "worker" && run.status !== "cancelled" && !run.isForgotten;
    const next = mayResume ? ` Take it up again: ${program} amend ${shortId(question.id)} "…" --resume` : "";
    return lines(head, `Not delivered: the run ${ended}.${next}`);
  }
  if (away) return lines(head, ...away);
  if (run.status !== "resuming") return lines(head, "The agent gets it with the next answer, or when it stops");
  return run.giveBack === "worker"
    ? lines(head, `${sayAgent(run.agent)} gets it when it resumes. Follow: ${program} logs ${run.number} -f`)
    : lines(head, "It goes along with the answer");
}

/** What `askd claim` says. */
export function sayClaimed(done: Read, now: Instant, program: string): string {
  const back = `Give it back: ${program} release ${argumentOf(done.run)}`;
  return lines(`${about(done)} is yours: ${oneLine(done.question.title)}`, `${stillDue(done, now)}. ${back}`);
}

/** What `askd release` says. */
export function sayReleased(done: Read, now: Instant): string {
  return lines(`${about(done)} is free again for others`, stillDue(done, now));
}

/** What `askd assign` says. */
export function sayAssigned(done: Read, now: Instant): string {
  return lines(`${about(done)} is for ${names(done)}`, stillDue(done, now));
}

/** What `askd snooze` says. */
export function saySnoozed(done: Read, now: Instant, ahead: Ahead): string {
  const until = done.question.snoozedUntil ?? now;
  const left = sayDuration(msBetween(now, until));
  return lines(
    `${about(done)} is quiet until ${sayClock(until, now, ahead)} (in ${left}): no reminders`,
    stillDue(done, now),
  );
}

/** What `askd extend` says. */
export function sayExtended({ run, question, content }: Read, now: Instant, ahead: Ahead): string {
  const due = question.dueAt ?? now;
  const clock = `${sayClock(due, now, ahead)} (in ${sayDuration(msBetween(now, due))})`;
  return lines(`${about({ run, question })} is due ${clock}, then ${sayThen(question, content)}`);
}

/** What `askd comment` says. */
export function sayCommented(done: Read, _now: Instant, program: string): string {
  return lines(
    `Comment ${done.question.comments.length} added to ${about(done)}`,
    `People see it, the agent does not. See all: ${program} show ${argumentOf(done.run)}`,
  );
}

/** What `askd escalate` says. */
export function sayEscalated(done: Read, now: Instant): string {
  const { question } = done;
  const steps = question.onTimeout.steps?.length ?? question.escalated;
  return lines(`${about(done)} went to ${names(done)} (step ${question.escalated} of ${steps})`, stillDue(done, now));
}

function lines(head: string, ...next: readonly string[]): string {
  return `✓ ${head}\n${next.map((line) => `  ${line}\n`).join("")}`;
}

/** `q-7k3f of #42 add-caching` */
function about({ run, question }: Pick<Read, "run" | "question">): string {
  return `${shortId(question.id)} of ${refOf(run)} ${oneLine(run.name)}`;
}

function names({ question }: Read): string {
  return question.to.length > 0 ? question.to.map(oneLine).join(", ") : "everybody";
}

function stillDue(done: Read, now: Instant): string {
  const due = sayDue(done, now);
  return due ? `Still ${due}` : "It has no deadline";
}
