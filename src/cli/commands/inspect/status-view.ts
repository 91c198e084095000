import type { ResumeAdvice } from "../../../agents/runner/takeover.ts";
import { channelName } from "../../../core/people/actor.ts";
import type { QuestionSnapshot } from "../../../core/changes.ts";
import { pluralize } from "../../../core/text/plural.ts";
import { formatDuration } from "../../../core/text/duration.ts";
import { mayForce, isPending } from "../../../core/question/question.ts";
import { type Instant, msBetween } from "../../../core/instant.ts";
import { type KnownMachines, findAwayMachine } from "../../../core/run/machine.ts";
import type { Run } from "../../../core/run/run.ts";
import { type FailingJob, type JumpedClock, type Troubles, describeJump } from "../../../core/run/failing-job.ts";
import type { UsageRow } from "../../../core/run/usage.ts";
import { sayAgent } from "../../view/agent-name.ts";
import { sayAgentTries } from "../../view/agent-tries.ts";
import { awayLines, sayState } from "../../view/machine-view.ts";
import { oneLine } from "../../view/sanitise.ts";
import { type Style, cutCells } from "../../terminal/terminal.ts";
import { exampleAnswer, isStuck, sayChoices, sayDue, sayVotes } from "../../view/question-text.ts";
import { NOT_RESUMED, answerArgument, argumentOf, sayMayHaveAsked, sayRun, sayUsage } from "../../view/run-text.ts";
import { sayAge, sayAgo } from "../../view/relative-time.ts";

/** The longest text or list of choices; `show` has all of it. */
const TEXT_CELLS = 300;

/** How many unreadable rows are named; `doctor` names them all. */
const MOST_NAMED = 5;

/** The data of `askd status`. */
export interface StatusView extends Troubles {
  now: Instant;
  /** The program's name, as a person types it here. */
  program: string;
  /** How to get a damaged store back. */
  restore?: string | undefined;
  /** Pending questions, held or parked, oldest first; at most as many as are shown. */
  waiting: readonly QuestionSnapshot[];
  /** The number of all pending questions. */
  waitingTotal: number;
  /** The most rows read per list: a list of this length may be cut. */
  mostShown: number;
  /** The lines that fit on the screen. */
  rows: number;
  /** How often agents tried to answer these questions themselves. */
  agentTries: ReadonlyMap<string, number>;
  /** Answered runs that go on only when a person resumes them. */
  answered: ReadonlyArray<{ run: Run; wayOn: ResumeAdvice | undefined }>;
  /** Runs whose agent needs a login. */
  loggedOut: StatusView["answered"];
  running: readonly Run[];
  queued: readonly Run[];
  /** Runs that failed or were skipped today, with their last question if any. */
  failed: ReadonlyArray<{ run: Run; last: QuestionSnapshot | undefined }>;
  completed: readonly Run[];
  /** Runs that were cancelled today. */
  cancelled: readonly Run[];
  /** Turns and cost by run id. */
  usage: ReadonlyMap<string, UsageRow>;
  /** The state of the machines that runs wait for. */
  machines: KnownMachines;
  /** Whether the store is empty. */
  isFirstUse: boolean;
}

/** One section of the page: entries of one or more lines, and the command that lists all of them. */
interface Section {
  heading: string;
  entries: ReadonlyArray<readonly string[]>;
  /** How many there are, where more exist than were read. */
  total?: number;
  list: string;
}

/** The output of `askd status`: at most a screen, with the number of what does not fit. */
export function renderStatus(view: StatusView, style: Style): string {
  if (view.isFirstUse && view.damage.length + view.unreadable.length === 0)
    return `No runs yet. Try: ${view.program} run -- claude -p "…"\n`;
  const isNothing = view.waiting.length + view.answered.length + view.loggedOut.length === 0;
  const nothing = isNothing ? ["Nothing is waiting for you."] : [];
  const last = summary(view);
  const sections = sectionsOf(view, style).filter(({ entries }) => entries.length > 0);
  const room = view.rows - nothing.length - (last.length > 0 ? last.length + 1 : 0);
  const blocks = [...fitSections(sections, room, style), last].filter((block) => block.length > 0);
  return `${[...nothing, blocks.map((block) => block.join("\n")).join("\n\n")].filter(Boolean).join("\n")}\n`;
}

function sectionsOf(view: StatusView, style: Style): Section[] {
  const { program } = view;
  const runs = `${program} runs list`;
  const doctor = `${program} doctor`;
  const wayOn = ({ run, wayOn }: StatusView["answered"][number]) => [
    `  ${style.yellow(title(run))} (${sayAgent(run.agent)})`,
    ...(wayOn ? [`      ${oneLine(wayOn.line)}`] : []),
  ];
  return [
    {
      heading: "DAMAGED:",
      entries: [...entryOf(damageLines(view, style)), ...entryOf(unreadableLines(view, style))],
      list: doctor,
    },
    {
      heading: "WAITING FOR INPUT:",
      entries: view.waiting.map((read) => waitingLines(read, view, style)),
      total: view.waitingTotal,
      list: `${program} list --awaiting`,
    },
    { heading: `${NOT_RESUMED.toUpperCase()}:`, entries: view.answered.map(wayOn), list: runs },
    { heading: "NOT LOGGED IN:", entries: view.loggedOut.map(wayOn), list: runs },
    {
      heading: "WAITING FOR A MACHINE:",
      entries: [...view.running, ...view.queued].flatMap((run) => entryOf(awayRun(run, view))),
      list: runs,
    },
    { heading: "RUNNING:", entries: view.running.filter(isGoing(view)).map((run) => [runLine(run, view)]), list: runs },
    { heading: "QUEUED:", entries: view.queued.filter(isGoing(view)).map((run) => [runLine(run, view)]), list: runs },
    {
      heading: "CHANNELS THAT FAIL:",
      entries: view.outages.map((outage) => [outageLine(outage, view, style)]),
      list: `${program} channels`,
    },
    { heading: "FAILING:", entries: view.failing.map((job) => [failingLine(job, view, style)]), list: doctor },
    { heading: "FAILED TODAY:", entries: view.failed.map((failed) => failedLines(failed, view, style)), list: runs },
    {
      heading: "COMPLETED TODAY:",
      entries: view.completed.map((run) => completedLines(run, view, style)),
      list: runs,
    },
    { heading: "CANCELLED TODAY:", entries: view.cancelled.map((run) => [cancelledLine(run, view)]), list: runs },
    { heading: "CLOCK:", entries: view.clocks.map((clock) => [clockLine(clock, view)]), list: doctor },
  ];
}

function entryOf(lines: readonly string[]) {
  return lines.length === 0 ? [] : [lines];
}

/** The sections as blocks of at most so many lines together; each keeps its first entry, the first ones keep most. */
function fitSections(sections: readonly Section[], room: number, style: Style): string[][] {
  // A heading, the first entry, a line that counts the rest, and the empty line between two blocks.
  let left = room + 1;
  for (const { entries } of sections) left -= 2 + (entries[0]?.length ?? 0) + (entries.length > 1 ? 1 : 0);
  return sections.map(({ heading, entries, total = entries.length, list }) => {
    let shown = 1;
    for (const entry of entries.slice(1)) {
      if (left < entry.length) break;
      left -= entry.length;
      shown += 1;
    }
    const more = total - shown;
    return [style.bold(heading), ...entries.slice(0, shown).flat(), ...(more > 0 ? [`  +${more} more: ${list}`] : [])];
  });
}

/** `?1 ▶1`, for prompts and status lines. */
export function renderShortStatus(view: StatusView): string {
  return `?${view.waitingTotal} ▶${view.running.filter(isGoing(view)).length}\n`;
}

function damageLines({ damage, restore, program }: StatusView, style: Style) {
  const [first, ...more] = damage;
  if (first === undefined) return [];
  const rest = more.length > 0 ? ` (and ${more.length} more)` : "";
  return [
    `  ${style.red(`The store file is damaged: ${oneLine(first)}${rest}`)}`,
    ...(restore === undefined ? [] : [`      ${oneLine(restore)}`]),
    `      Details: ${program} audit --verify`,
  ];
}

function unreadableLines({ unreadable, program }: StatusView, style: Style) {
  if (unreadable.length === 0) return [];
  const named = unreadable.slice(0, MOST_NAMED).map(oneLine).join(", ");
  const more = unreadable.length > MOST_NAMED ? ` and ${unreadable.length - MOST_NAMED} more` : "";
  return [
    `  ${style.red(`${pluralize(unreadable.length, "row")} cannot be read and left out: ${named}${more}`)}`,
    `      Set aside, with a copy: ${program} doctor --fix`,
  ];
}

function waitingLines(read: QuestionSnapshot, { now, program, agentTries }: StatusView, style: Style) {
  const { run, question, content } = read;
  const due = sayDue(read, now);
  const doubt = sayMayHaveAsked(run, program);
  const held = isPending(question) && question.hold ? ` ${sayRun(run, question, now)}` : "";
  const waits = [
    ...(question.risk === "high" ? ["⚠ high risk"] : []),
    ...(held ? [] : [`waiting ${sayAge(msBetween(question.askedAt, now))}`]),
    ...(question.claim ? [`claimed by ${oneLine(question.claim.by.id)}`] : []),
    ...(question.to.length > 0 ? [`for ${question.to.map(oneLine).join(", ")}`] : []),
    ...(question.snoozedUntil !== undefined && question.snoozedUntil > now
      ? [`snoozed for ${formatDuration(msBetween(now, question.snoozedUntil))}`]
      : []),
  ];
  const asked = content.items.map((item) => [oneLine(item.text), item.options.length > 0 ? sayChoices(item) : ""]);
  const isCut = asked.flat().some((text) => cutCells(text, TEXT_CELLS) !== text);
  return [
    `  ${style.yellow(title(run))}${held}${waits.length > 0 ? ` (${waits.join(", ")})` : ""}`,
    ...asked.flatMap(([text = "", choices = ""], index) => [
      `      Q${asked.length > 1 ? index + 1 : ""}: ${cutCells(text, TEXT_CELLS)}`,
      ...(choices === "" ? [] : [`      ${style.dim(cutCells(choices, TEXT_CELLS))}`]),
    ]),
    ...(isCut || question.kind === "approval" ? [`      All of it: ${program} show ${argumentOf(run)}`] : []),
    ...(doubt === undefined ? [] : [`      ${doubt}`]),
    ...(due ? [`      ${due.charAt(0).toUpperCase()}${due.slice(1)}`] : []),
    ...[...sayVotes(read), ...sayAgentTries(agentTries.get(question.id), run, program)].map((line) => `      ${line}`),
    ...(isPending(question) && question.settling
      ? [`      Answered by ${oneLine(question.settling.answer.by.id)}, final in a moment`]
      : isStuck(question)
        ? []
        : [
            `      Run: ${program} answer ${answerArgument({ run, question })} ${exampleAnswer({ question, content })}`,
          ]),
  ];
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

function outageLine({ channel, person, since, why }: StatusView["outages"][number], view: StatusView, style: Style) {
  const whose = person === undefined ? "" : ` (${oneLine(person)})`;
  const said = `failing for ${sayAge(msBetween(since, view.now))}: ${oneLine(why)}`;
  return `  ${oneLine(channelName(channel))}${whose} ${style.red(said)}. Try: ${view.program} test ${oneLine(channel)}`;
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

function cancelledLine(run: Run, { now }: StatusView) {
  return `  ${title(run)}${run.endedAt ? ` ${sayAgo(run.endedAt, now)}` : ""}`;
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
    [view.answered, NOT_RESUMED],
    [view.loggedOut, "not logged in"],
    [away, "waiting for a machine"],
    [running, "running"],
    [view.failed, "failed"],
    [view.completed, "done"],
    [view.cancelled, "cancelled"],
  ];
  const counts = [
    `${view.waitingTotal} waiting`,
    ...counted.filter(([found]) => found.length > 0).map(([found, word]) => `${sayCount(view, found)} ${word}`),
  ];
  return [`${counts.join(", ")}. Next: ${view.program} next`];
}
