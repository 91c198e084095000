import { sayMany } from "../core/text/plural.ts";
import { sayDuration } from "../core/text/duration.ts";
import { type Content, type Item, recommendedOption } from "../core/question/content.ts";
import type { Read } from "../core/changes.ts";
import { type RunFact, type RunFacts, isUnverified } from "../core/trail/fact-source.ts";
import { type Instant, msBetween } from "../core/instant.ts";
import { machineName } from "../core/run/machine.ts";
import type { Pending, Question } from "../core/question/question.ts";
import { type Run, type RunStatus, isAnswerUntaken } from "../core/run/run.ts";
import { type Actor, sayChannel } from "../core/people/actor.ts";
import { sayPolicy } from "../core/question/timeout.ts";
import type { UsageRow } from "../core/run/usage.ts";
import { sayAgent } from "./view/agent-name.ts";
import { oneLine } from "./view/sanitise.ts";
import { sayAge } from "./view/relative-time.ts";

// The words of the task manager that an external id comes from.
const TASK_WORDS: Partial<Record<RunStatus, string>> = {
  queued: "open",
  resuming: "open",
  running: "in_progress",
  completed: "closed",
};

const OTHER = "Other";
/** The state of a run whose answer only a person can bring to its agent. */
export const UNTAKEN = "answered, waiting for you";

/** What a run is called in commands: its own external id, or its number. */
export function refOf(run: Run): string {
  return run.externalId === undefined ? `#${run.number}` : oneLine(run.externalId);
}

/** The same as an argument: a shell would take `#` for a comment. */
export function argumentOf(run: Run): string {
  if (run.externalId === undefined) return String(run.number);
  const id = oneLine(run.externalId);
  return /^[\w./:@-]+$/.test(id) ? id : quoted(id);
}

/** The state of a run in words; a held question shows through it. */
export function sayRun(run: Run, pending: Pending | undefined, now: Instant): string {
  const word = run.externalId === undefined ? run.status : (TASK_WORDS[run.status] ?? run.status);
  if (isAnswerUntaken(run)) return run.externalId === undefined ? UNTAKEN : `${word} (${UNTAKEN})`;
  if (pending?.hold) return `${word} (waiting for input, held ${sayHeld(pending.hold, now)})`;
  return run.reason ? `${word} (${oneLine(run.reason)})` : word;
}

/** How a fact is marked that only the asker says. */
export const UNVERIFIED = "(unverified)";

/** A fact of a run, marked if only the asker says so. */
export function sayFact(run: RunFacts, fact: RunFact, said: string): string {
  return isUnverified(run, fact) ? `${said} ${UNVERIFIED}` : said;
}

/** What a person does about a run whose agent is not logged in. */
export function sayLogin(run: Run, program: string): string {
  return `Log in to ${sayAgent(run.agent)} on ${oneLine(machineName(run.host))}, then: ${program} runs resume ${run.number}`;
}

/** `5 turns, $0.12`, as far as it was counted; nothing where nothing was. */
export function sayUsage(usage: UsageRow | undefined): string | undefined {
  const parts = [
    ...(usage && usage.turns > 0 ? [sayMany(usage.turns, "turn")] : []),
    ...(usage && usage.costUsd > 0 ? [sayCost(usage.costUsd)] : []),
  ];
  return parts.length > 0 ? parts.join(", ") : undefined;
}

/** Dollars to the cent, and what is less than a cent as such. */
export function sayCost(usd: number): string {
  return usd > 0 && usd < 0.01 ? "<$0.01" : `$${usd.toFixed(2)}`;
}

/** A large number by its size: `245k`, `1.2M`. */
export function sayCount(count: number): string {
  if (count < 1000) return String(count);
  return count < 999_500 ? `${Math.round(count / 1000)}k` : `${(count / 1_000_000).toFixed(1)}M`;
}

export function sayHeld(hold: NonNullable<Pending["hold"]>, now: Instant): string {
  return sayAge(Math.max(0, hold.windowMs - msBetween(now, hold.until)));
}

/** `1 Redis (recommended)  2 Memcached  3 Other` */
export function sayChoices(item: Item): string {
  return choicesOf(item)
    .map((choice, index) => `${index + 1} ${choice}`)
    .join("  ");
}

/** Everything that can be chosen, the way out by writing included. */
export function choicesOf(item: Item): string[] {
  const labels = item.options.map((option) => `${oneLine(option.label)}${option.recommended ? " (recommended)" : ""}`);
  return offersOther(item) ? [...labels, OTHER] : labels;
}

/** Says whether the list of choices ends with a way out of our own. */
export function offersOther({ allowText, options }: Item): boolean {
  return allowText && options.length > 0 && !options.some(({ label }) => label.trim().toLowerCase() === "other");
}

/** `due in 5h 12m, then uses "Redis"`; nothing where no deadline is set. */
export function sayDue({ question, content }: Pick<Read, "question" | "content">, now: Instant): string | undefined {
  if (question.dueAt === undefined) return undefined;
  const leftMs = msBetween(now, question.dueAt);
  const due = leftMs > 0 ? `due in ${sayDuration(leftMs)}` : "due now";
  return `${due}, then ${sayThen(question, content)}`;
}

/** What happens at the deadline, with a default in the words of its label. */
export function sayThen(question: Question, content: Content): string {
  const given = question.onTimeout.answer;
  const only = content.items.length === 1 ? content.items[0] : undefined;
  const option = only?.options.find(
    ({ key, value, label }) => given !== undefined && [key, value, label].includes(given),
  );
  return oneLine(sayPolicy(question, option?.label));
}

/** An answer that could be typed as it stands, or what to put in its place. */
export function exampleAnswer({ question, content }: Pick<Read, "question" | "content">): string {
  if (question.risk === "high") return quoted("your response"); // nothing is chosen for anybody
  const [first, second] = content.items;
  if (!first || second) return quoted(content.items.map((_, index) => `${index + 1}…`).join(" "));
  const option = recommendedOption(first) ?? first.options[0];
  return quoted(option ? oneLine(option.label) : "your response");
}

/** Quoted so that a shell takes it as it is. */
export function quoted(text: string): string {
  return /["\\$`!]/.test(text) ? `'${text.replaceAll("'", `'\\''`)}'` : `"${text}"`;
}

/** Who and by what way: `lena (slack)`, or `lena (link, not proven)` where anybody could have come that way. */
export function sayBy(by: Pick<Actor, "id" | "channel" | "strength" | "onBehalfOf">): string {
  const way = sayChannel(by.channel);
  return oneLine(`${by.onBehalfOf ?? by.id} (${by.strength === "bearer" ? `${way}, not proven` : way})`);
}
