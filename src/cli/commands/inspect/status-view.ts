import type { ResumeAdvice } from "../../../agents/runner/takeover.ts";
import type { QuestionSnapshot } from "../../../core/changes.ts";
import { formatDuration } from "../../../core/text/duration.ts";
import { mayForce, isPending } from "../../../core/question/question.ts";
import { type Instant, msBetween } from "../../../core/instant.ts";
import { type KnownMachines, findAwayMachine } from "../../../core/run/machine.ts";
import { type Run, isLoggedOut } from "../../../core/run/run.ts";
import { type FailingJob, type JumpedClock, type Troubles, describeJump } from "../../../core/run/trouble.ts";
import type { UsageRow } from "../../../core/run/usage.ts";
import { sayAgent } from "../../view/agent-name.ts";
import { awayLines, sayState } from "../../view/machine-view.ts";
import { oneLine } from "../../view/sanitise.ts";
import type { Style } from "../../terminal/terminal.ts";
import { exampleAnswer, sayChoices, sayDue } from "../../view/question-text.ts";
import { UNTAKEN, argumentOf, sayMayHaveAsked, sayRun, sayUsage } from "../../view/run-text.ts";
import { sayAge, sayAgo } from "../../view/relative-time.ts";

/** The data of `askd status`. */
export interface StatusView extends Troubles {
  now: Instant;
  /** The program's name, as a person types it here. */
  program: string;
  /** Pending questions, held or parked, oldest first; at most as many as are shown. */
  waiting: readonly QuestionSnapshot[];
  /** The number of all pending questions. */
  waitingTotal: number;
  /** The most rows read per list: a list of this length may be cut. */
  mostShown: number;
  /** Answered runs that only a person can resume, or whose agent needs a login. */
  answered: ReadonlyArray<{ run: Run; wayOn: ResumeAdvice | undefined }>;
  running: readonly Run[];
  queued: readonly Run[];
  /** Runs that failed or were skipped today, with their last question if any. */
  failed: ReadonlyArray<{ run: Run; last: QuestionSnapshot | undefined }>;
  completed: readonly Run[];
  /** Turns and cost by run id. */
  usage: ReadonlyMap<string, UsageRow>;
  /** The state of the machines that runs wait for. */
  machines: KnownMachines;
  /** Whether the store is empty. */
  isFirstUse: boolean;
}

/** The output of `askd status`. */
export function renderStatus(view: StatusView, style: Style): string {
  if (view.isFirstUse && view.damage.length === 0) return `No runs yet. Try: ${view.program} run -- claude -p "…"\n`;
  const blocks = [
    section("DAMAGED:", damageLines(view, style), style),
    section(
      "WAITING FOR INPUT:",
      [...view.waiting.flatMap((read) => waitingLines(read, view, style)), ...moreWaiting(view)],
      style,
    ),
    section(
      `${UNTAKEN.toUpperCase()}:`,
      view.answered.flatMap(({ run, wayOn }) => [
        `  ${style.yellow(title(run))} (${sayAgent(run.agent)}${isLoggedOut(run) ? ", not logged in" : ""})`,
        ...(wayOn ? [`      ${oneLine(wayOn.line)}`] : []),
      ]),
      style,
    ),
    section(
      "WAITING FOR A MACHINE:",
      [...view.running, ...view.queued].flatMap((run) => awayRun(run, view)),
      style,
    ),
    section(
      "RUNNING:",
      view.running.filter(isGoing(view)).map((run) => runLine(run, view)),
      style,
    ),
    section(
      "QUEUED:",
      view.queued.filter(isGoing(view)).map((run) => runLine(run, view)),
      style,
    ),
    section(
      "FAILING:",
      view.failing.map((job) => failingLine(job, view, style)),
      style,
    ),
    section(
      "FAILED TODAY:",
      view.failed.flatMap((failed) => failedLines(failed, view, style)),
      style,
    ),
    section(
      "COMPLETED TODAY:",
      view.completed.flatMap((run) => completedLines(run, view, style)),
      style,
    ),
    section(
      "CLOCK:",
      view.clocks.map((clock) => clockLine(clock, view)),
      style,
    ),
    summary(view),
  ].filter((block) => block.length > 0);
  const nothing = view.waiting.length === 0 && view.answered.length === 0 ? ["Nothing is waiting for you."] : [];
  return `${[...nothing, blocks.map((block) => block.join("\n")).join("\n\n")].filter(Boolean).join("\n")}\n`;
}

/** `?1 ▶1`, for prompts and status lines. */
export function renderShortStatus(view: StatusView): string {
  return `?${view.waitingTotal} ▶${sayCount(view, view.running.filter(isGoing(view)))}\n`;
}

function section(heading: string, lines: readonly string[], style: Style) {
  return lines.length === 0 ? [] : [style.bold(heading), ...lines];
}

function damageLines({ damage, program }: StatusView, style: Style) {
  const [first, ...more] = damage;
  if (first === undefined) return [];
  const rest = more.length > 0 ? ` (and ${more.length} more)` : "";
  return [
    `  ${style.red(`The store file is damaged: ${oneLine(first)}${rest}`)}`,
    `      Restore a backup (docs/backup.md). Details: ${program} audit --verify`,
  ];
}

function waitingLines(read: QuestionSnapshot, { now, program }: StatusView, style: Style) {
  const { run, question, content } = read;
  const due = sayDue(read, now);
  const doubt = sayMayHaveAsked(run, program);
  const held = isPending(question) && question.hold ? ` ${sayRun(run, question, now)}` : "";
  const waits = [
    ...(held ? [] : [`waiting ${sayAge(msBetween(question.askedAt, now))}`]),
    ...(question.claim ? [`claimed by ${oneLine(question.claim.by.id)}`] : []),
    ...(question.to.length > 0 ? [`for ${question.to.map(oneLine).join(", ")}`] : []),
    ...(question.snoozedUntil !== undefined && question.snoozedUntil > now
      ? [`snoozed for ${formatDuration(msBetween(now, question.snoozedUntil))}`]
      : []),
  ];
  return [
    `  ${style.yellow(title(run))}${held}${waits.length > 0 ? ` (${waits.join(", ")})` : ""}`,
    ...content.items.flatMap((item, index) => [
      `      Q${content.items.length > 1 ? index + 1 : ""}: ${oneLine(item.text)}`,
      ...(item.options.length > 0 ? [`      ${style.dim(sayChoices(item))}`] : []),
    ]),
    ...(doubt === undefined ? [] : [`      ${doubt}`]),
    ...(due ? [`      ${due.charAt(0).toUpperCase()}${due.slice(1)}`] : []),
    ...(isPending(question) && question.settling
      ? [`      Answered by ${oneLine(question.settling.answer.by.id)}, final in a moment`]
      : [`      Run: ${program} answer ${argumentOf(run)} ${exampleAnswer({ question, content })}`]),
  ];
}

function moreWaiting({ waiting, waitingTotal, program }: StatusView) {
  const more = waitingTotal - waiting.length;
  return more > 0 ? [`  … and ${more} more. See them: ${program} list`] : [];
}

/** The length of a list: `100+` if it may be cut. */
function sayCount({ mostShown }: StatusView, { length }: readonly unknown[]) {
  return length >= mostShown ? `${mostShown}+` : String(length);
}

function failingLine({ run, kind, tries, why, failedAt, nextAt }: FailingJob, view: StatusView, style: Style) {
  const whose = run ? `${title(run)}: ` : "";
  const inMs = Math.max(0, msBetween(view.now, nextAt));
  const often = tries === 1 ? "once" : `${tries} times`;
  const said = `${kind} failed ${often}, ${sayAgo(failedAt, view.now)}: ${oneLine(why)}`;
  return `  ${whose}${style.red(said)}; next try in ${sayAge(inMs)}. Look: ${view.program} doctor`;
}

function clockLine({ doubtedUntil, ...clock }: JumpedClock, { now, program }: StatusView) {
  const then = doubtedUntil
    ? `deadlines that became due by it wait ${sayAge(Math.max(0, msBetween(now, doubtedUntil)))} more`
    : "deadlines may fire at the wrong time";
  return `  ${sayAgo(clock.at, now)} ${oneLine(describeJump(clock))}: ${then}. Look: ${program} doctor`;
}

function failedLines({ run, last }: StatusView["failed"][number], { now, program }: StatusView, style: Style) {
  const when = run.endedAt ? ` ${sayAgo(run.endedAt, now)}` : "";
  const head = `  ${title(run)} ${style.red("✗")} ${sayRun(run, undefined, now)}${when}`;
  const doubt = sayMayHaveAsked(run, program);
  if (doubt !== undefined) return [head, `      ${doubt}`];
  if (!last || !mayForce(run, last.question)) return [head];
  return [
    head,
    `      Q: ${oneLine(last.question.title)}`,
    `      Answer anyway and resume: ${program} answer --force ${argumentOf(run)} ${exampleAnswer(last)}`,
  ];
}

function completedLines(run: Run, { now, program, usage }: StatusView, style: Style) {
  const doubt = sayMayHaveAsked(run, program);
  const used = sayUsage(usage.get(run.id));
  if (doubt === undefined) return [`  ${title(run)} ${style.green("✓")}${used ? ` (${used})` : ""}`];
  return [`  ${title(run)} ${style.yellow("?")} ${sayRun(run, undefined, now)}`, `      ${doubt}`];
}

/** Separates runs that continue by themselves from runs whose machine is away. */
function isGoing({ machines }: StatusView): (run: Run) => boolean {
  return (run) => findAwayMachine(run, machines) === undefined;
}

/** A run that waits for its machine, and the ways to continue it. */
function awayRun(run: Run, { machines, program }: StatusView) {
  const away = findAwayMachine(run, machines);
  if (!away) return [];
  const [, ...ways] = awayLines(run, away, machines.now, program);
  return [`  ${title(run)} (${sayState(run, undefined, machines)})`, ...ways.map((way) => `      ${way}`)];
}

function runLine(run: Run, { now, usage }: StatusView) {
  const used = sayUsage(usage.get(run.id));
  const isPlain = run.status === "running" || run.status === "queued";
  const said = [...(isPlain ? [] : [sayRun(run, undefined, now)]), ...(used ? [used] : [])];
  return `  ${title(run)}${said.length > 0 ? ` (${said.join(", ")})` : ""}`;
}

function title(run: Pick<Run, "number" | "name">) {
  return `#${run.number} ${oneLine(run.name)}`;
}

function summary(view: StatusView) {
  if (view.waiting.length === 0) return [];
  const running = view.running.filter(isGoing(view));
  const away = [...view.running, ...view.queued].filter((run) => !isGoing(view)(run));
  const counted: Array<readonly [readonly unknown[], string]> = [
    [view.answered, "answered"],
    [away, "waiting for a machine"],
    [running, "running"],
    [view.failed, "failed"],
    [view.completed, "done"],
  ];
  const counts = [
    `${view.waitingTotal} waiting`,
    ...counted.filter(([found]) => found.length > 0).map(([found, word]) => `${sayCount(view, found)} ${word}`),
  ];
  return [`${counts.join(", ")}. Next: ${view.program} next`];
}
