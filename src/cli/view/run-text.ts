import { type Instant, msBetween } from "../../core/instant.ts";
import { type Actor, channelName } from "../../core/people/actor.ts";
import type { QuestionSnapshot } from "../../core/changes.ts";
import { shortId } from "../../core/id.ts";
import type { PendingQuestion, Question } from "../../core/question/question.ts";
import { machineName } from "../../core/run/machine.ts";
import { type Run, type RunStatus, isAnswerHeldBack, isAnswerUntaken } from "../../core/run/run.ts";
import type { UsageRow } from "../../core/run/usage.ts";
import { pluralize } from "../../core/text/plural.ts";
import { type RunFact, type RunFacts, isUnverified } from "../../core/trail/fact-source.ts";
import { sayAgent } from "./agent-name.ts";
import { sayAge } from "./relative-time.ts";
import { oneLine } from "./sanitise.ts";

// The status words of task managers, for runs with an external id.
const TASK_WORDS: Partial<Record<RunStatus, string>> = {
  queued: "open",
  resuming: "open",
  running: "in_progress",
  completed: "closed",
};

/** The status of a run whose answer only a person can deliver. */
export const UNTAKEN = "answered, waiting for you";

/** The status of a run whose answer was stored without resuming it. */
export const NOT_RESUMED = "answered, not resumed";

/** The warning about a run whose agent printed a question that could not be read. */
const MAY_HAVE_ASKED = "may have asked: see the log";

/** The same as a line of its own, with the reason and the command to see the log. */
export function sayMayHaveAsked(run: Run, program: string): string | undefined {
  if (run.mayHaveAsked === undefined) return undefined;
  return `It may have asked: ${oneLine(run.mayHaveAsked)}. See the log: ${program} logs ${run.number}`;
}

/** The name of a run in texts: its external id, or its number. */
export function refOf(run: Run): string {
  return run.externalId === undefined ? `#${run.number}` : oneLine(run.externalId);
}

/** The same as an argument: a shell would take `#` for a comment. */
export function argumentOf(run: Run): string {
  if (run.externalId === undefined) return String(run.number);
  const id = oneLine(run.externalId);
  return /^[\w./:@-]+$/.test(id) ? id : quoted(id);
}

/**
 * The argument by which a question is answered. A run may ask something else before the command is typed, so what must
 * not be approved unseen is named by its own id.
 */
export function answerArgument({ run, question }: Pick<QuestionSnapshot, "run" | "question">): string {
  return needsOwnId(question) ? shortId(question.id) : argumentOf(run);
}

/** Says whether a mistaken answer to this question does harm: the name of its run must not stand for it. */
export function needsOwnId({ kind, risk }: Pick<Question, "kind" | "risk">): boolean {
  return kind === "approval" || risk === "high";
}

/** The status of a run in words, including a held question. */
export function sayRun(run: Run, pending: PendingQuestion | undefined, now: Instant): string {
  const word = run.externalId === undefined ? run.status : (TASK_WORDS[run.status] ?? run.status);
  if (isAnswerUntaken(run)) return run.externalId === undefined ? UNTAKEN : `${word} (${UNTAKEN})`;
  if (isAnswerHeldBack(run)) return `${word} (${NOT_RESUMED})`;
  if (run.mayHaveAsked !== undefined) return `${word} (${[run.reason, MAY_HAVE_ASKED].filter(Boolean).join(", ")})`;
  if (pending?.hold) return `${word} (waiting for input, held ${sayHeld(pending.hold, now)})`;
  if (run.resumesAt !== undefined) {
    const inMs = Math.max(0, msBetween(now, run.resumesAt));
    return `${word} (${oneLine(run.reason ?? "later")}, goes on in ${sayAge(inMs)})`;
  }
  return run.reason ? `${word} (${oneLine(run.reason)})` : word;
}

/** `acme/api#123` */
export function sayIssue({ repo = "", number }: NonNullable<Run["issue"]>): string {
  return `${repo}#${number}`;
}

/** Marks a fact that only the asker claims. */
export const UNVERIFIED = "(unverified)";

/** A fact of a run, marked if only the asker claims it. */
export function sayFact(run: RunFacts, fact: RunFact, said: string): string {
  return isUnverified(run, fact) ? `${said} ${UNVERIFIED}` : said;
}

/** The instruction for a run whose agent is not logged in. */
export function sayLogin(run: Run, program: string): string {
  return `Log in to ${sayAgent(run.agent)} on ${oneLine(machineName(run.host))}, then: ${program} runs resume ${run.number}`;
}

/** The command that resumes a run whose answer was stored without resuming it. */
export function adviseResume(run: Run, program: string): { line: string; command: string } {
  const command = `${program} runs resume ${argumentOf(run)}`;
  return { line: `Resume it: ${command}`, command };
}

/** `5 turns, $0.12`; undefined if nothing was counted. A number that its agent leaves out is unknown, not 0. */
export function sayUsage(usage: UsageRow | undefined): string | undefined {
  if (!usage) return undefined;
  const turns = usage.turns === undefined ? "turns unknown" : pluralize(usage.turns, "turn");
  return `${turns}, ${sayKnownCost(usage)}`;
}

export function sayKnownCost({ costUsd }: UsageRow): string {
  return costUsd === undefined ? "cost unknown" : sayCost(costUsd);
}

/** Dollars to the cent; `<$0.01` for less. */
export function sayCost(usd: number): string {
  return usd > 0 && usd < 0.01 ? "<$0.01" : `$${usd.toFixed(2)}`;
}

/** A large number by its size: `245k`, `1.2M`. */
export function sayCount(count: number): string {
  if (count < 1000) return String(count);
  return count < 999_500 ? `${Math.round(count / 1000)}k` : `${(count / 1_000_000).toFixed(1)}M`;
}

export function sayHeld(hold: NonNullable<PendingQuestion["hold"]>, now: Instant): string {
  return sayAge(Math.max(0, hold.windowMs - msBetween(now, hold.until)));
}

/** Quotes a text for a shell. */
export function quoted(text: string): string {
  return /["\\$`!]/.test(text) ? `'${text.replaceAll("'", `'\\''`)}'` : `"${text}"`;
}

/** A person and the channel: `lena (slack)`, or `lena (link, not proven)` for a bearer link. */
export function sayBy(by: Pick<Actor, "id" | "channel" | "strength" | "onBehalfOf">): string {
  const way = channelName(by.channel);
  return oneLine(`${by.onBehalfOf ?? by.id} (${by.strength === "bearer" ? `${way}, not proven` : way})`);
}
