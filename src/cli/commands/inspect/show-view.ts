import { ADDRESS_IGNORED } from "../../../core/channel/allowed-address.ts";
import { actorName } from "../../../core/people/actor.ts";
import { type DeliveryStatus, sayDelivery } from "../../../core/channel/delivery/delivery-status.ts";
import type { QuestionSnapshot } from "../../../core/changes.ts";
import { type Content, type Item, recommendedOption } from "../../../core/question/content.ts";
import { formatDuration } from "../../../core/text/duration.ts";
import { shortId } from "../../../core/id.ts";
import { type Instant, msBetween } from "../../../core/instant.ts";
import { answerText } from "../../../core/answer/match.ts";
import { findTally } from "../../../core/answer/vote.ts";
import { type KnownMachines, findAwayMachine } from "../../../core/run/machine.ts";
import {
  type Answer,
  type Question,
  cancellationWords,
  findAnswer,
  isPending,
} from "../../../core/question/question.ts";
import { isRiskUnverified } from "../../../core/question/risk.ts";
import { type Run, findAgentSession, isAnswerHeldBack, isLoggedOut } from "../../../core/run/run.ts";
import type { SimilarQuestion } from "../../../core/answer/similar.ts";
import type { UsageRow } from "../../../core/run/usage.ts";
import { sayAgent } from "../../view/agent-name.ts";
import { sayAgentTries } from "../../view/agent-tries.ts";
import { awayLines, sayState } from "../../view/machine-view.ts";
import { oneLine, sanitise } from "../../view/sanitise.ts";
import { type Style, cellsOf, cutCells, padCells, wrap } from "../../terminal/terminal.ts";
import { choicesOf, findDeadline, isStuck, sayVotes } from "../../view/question-text.ts";
import {
  UNVERIFIED,
  adviseResume,
  answerArgument,
  argumentOf,
  sayBy,
  sayCost,
  sayFact,
  sayIssue,
  sayLogin,
  sayMayHaveAsked,
  sayRun,
} from "../../view/run-text.ts";
import { type ClockOffset, sayAgo, sayClock, spellAgo } from "../../view/relative-time.ts";

const MOST_SIMILAR_CELLS = 40;
const LEAST_TITLE_CELLS = 20;

/** The data of `askd show`: a run with all its questions, oldest first. */
export interface ShowView {
  now: Instant;
  ahead: ClockOffset;
  width: number;
  /** The program's name, as a person types it here. */
  program: string;
  run: Run;
  questions: ReadonlyArray<{ question: Question; content: Content }>;
  usage?: UsageRow | undefined;
  /** Past answers to similar questions. */
  similar?: readonly SimilarQuestion[];
  /** The messages about the pending question. */
  deliveries?: readonly DeliveryStatus[];
  /** More facts about the run, shown as lines of `Name: value`. */
  more?: ReadonlyArray<readonly [name: string, value: string]>;
  /** The state of the machine that the run waits for. */
  machines?: KnownMachines | undefined;
  /** The session was copied to this machine, although the run belongs to another. */
  isCarried?: boolean | undefined;
  /** The size of the work so far and the command to continue by hand, if known. */
  work?: string | undefined;
  takeover?: string | undefined;
  /** How to deliver an answer that no worker can deliver. */
  wayOn?: string | undefined;
  /** How often agents tried to answer these questions themselves. */
  agentTries?: ReadonlyMap<string, number>;
  /** The requested details, sanitised. */
  blocks?: ReadonlyArray<{ heading: string; lines: readonly string[] }>;
}

/** The output of `askd show`. */
export function renderShow(view: ShowView, style: Style): string {
  const pending = view.questions.find(({ question }) => isPending(question));
  const closed = view.questions.filter(({ question }) => !isPending(question));
  const blocks = [
    runLines(view, pending?.question),
    ...(pending ? [pendingLines({ run: view.run, ...pending }, view, style)] : []),
    ...(closed.length > 0 ? [[style.bold("HISTORY:"), ...closed.flatMap((each) => historyLines(each, view))]] : []),
    ...(pending || toldLines(view).length === 0 ? [] : [toldLines(view)]),
    ...(view.blocks ?? []).map(({ heading, lines }) => [style.bold(heading), ...lines]),
  ];
  return `${blocks.map((block) => block.join("\n")).join("\n\n")}\n`;
}

function runLines(view: ShowView, pending: Question | undefined) {
  const { run, now, usage, takeover, machines, program, more = [] } = view;
  const held = pending && isPending(pending) ? pending : undefined;
  const away = machines && findAwayMachine(run, machines);
  const session = findAgentSession(run);
  const agent =
    run.agent === "none"
      ? undefined
      : `${sayFact(run, "agent", sayAgent(run.agent))}${session === undefined ? "" : `, session ${session}`}`;
  const fields: Array<readonly [string, string | undefined]> = [
    ["Status", machines ? sayState(run, held, machines) : sayRun(run, held, now)],
    ["Next", view.wayOn ?? sayNext(run, view.program)],
    ["Warning", sayMayHaveAsked(run, view.program)],
    ["External id", run.externalId],
    ["Repository", run.repo && sayFact(run, "repo", run.repo)],
    ["Branch", run.branch],
    ["Issue", run.issue && sayIssue(run.issue)],
    ["Labels", run.labels.length > 0 ? sayFact(run, "labels", run.labels.join(", ")) : undefined],
    ["Directory", takeover === undefined ? run.dir : undefined],
    ["Started", run.startedAt && sayAgo(run.startedAt, now)],
    ["Ended", run.endedAt && sayAgo(run.endedAt, now)],
    ...usageFields(usage),
    ["Agent", agent],
    ["Summary", run.result?.summary],
    ...more,
  ];
  return [
    `Task #${run.number}: ${oneLine(run.name)}`,
    ...fields.flatMap(([name, value]) => (value === undefined ? [] : [`${name}: ${oneLine(value)}`])),
    ...reportLines(view),
    ...(away ? ["", ...awayLines(run, away, now, program)] : []),
    ...(away && view.isCarried
      ? [`Its session is on this machine. Continue it yourself: ${program} takeover ${run.number}`]
      : []),
  ];
}

/** The details and issues that the agent reported at its end. */
function reportLines({ run, width }: ShowView) {
  const { details, issues = [] } = run.result ?? {};
  return [
    ...(details === undefined
      ? []
      : ["Details:", ...wrap(sanitise(details).trim(), width - 2).map((line) => `  ${line}`)]),
    ...(issues.length === 0 ? [] : ["Issues:", ...issues.map((issue) => `  - ${oneLine(issue)}`)]),
  ];
}

/** An agent that counts may leave out a number, which is then unknown, not 0. */
function usageFields(usage: UsageRow | undefined): Array<readonly [string, string]> {
  if (!usage) return [];
  const { turns, costUsd } = usage;
  return [
    ["Turns", turns === undefined ? "unknown" : String(turns)],
    ["Cost", costUsd === undefined ? "unknown" : sayCost(costUsd)],
  ];
}

/** The channels that a question names: `github, slack #agents (mentions @ada)`. */
function notifyLine({ notify }: Question) {
  if (notify.length === 0) return [];
  const told = notify.map(({ channel, address, mention = [], isAddressIgnored }) => {
    const whom = mention.length > 0 ? ` (mentions ${mention.join(", ")})` : "";
    const where = address === undefined ? "" : ` ${address.replace(/^(?=\d+$)/, "#")}`;
    const ignored = isAddressIgnored ? ` (${ADDRESS_IGNORED})` : "";
    return oneLine(`${channel}${where}${whom}${ignored}`);
  });
  return [`Asks to notify: ${told.join(", ")}.`];
}

/** How a run goes on that waits for a person, but not for an answer. */
function sayNext(run: Run, program: string) {
  if (isLoggedOut(run)) return sayLogin(run, program);
  return isAnswerHeldBack(run) ? adviseResume(run, program).line : undefined;
}

function pendingLines(read: QuestionSnapshot, view: ShowView, style: Style) {
  const { question, content, run } = read;
  const heading = `PENDING QUESTION (asked ${sayAgo(question.askedAt, view.now)}):`;
  const context = content.context === undefined ? [] : ["Context:", ...wrap(sanitise(content.context), view.width - 2)];
  const clock = [
    ...leanLine(question, content),
    ...dueLine(read, view),
    ...sayVotes(read).map((line) => `${line}.`),
    ...sayAgentTries(view.agentTries?.get(question.id), run, view.program),
    ...(question.issue ? [`Issue: ${sayIssue(question.issue)}`] : []),
    ...notifyLine(question),
    ...peopleLines(question, view),
    ...toldLines(view),
    ...(view.work === undefined
      ? []
      : [`Work so far: ${oneLine(view.work)} (${view.program} diff ${argumentOf(run)})`]),
    ...similarLines(view),
  ];
  const remarks = commentLines(question, view);
  const [only, ...others] = content.items;
  const asked =
    only && others.length === 0
      ? [textLines(only, "", view.width - 2), context, optionLines(only)]
      : [
          context,
          ...content.items.flatMap((item, index) => [
            textLines(item, `${index + 1}. `, view.width - 2),
            optionLines(item),
          ]),
        ];
  const next = [
    ...(isStuck(question)
      ? []
      : [`Answer with: ${view.program} answer ${answerArgument({ run, question })} "your response"`]),
    ...(view.takeover === undefined ? [] : [`Take over:   ${view.takeover}`]),
  ];
  const blocks = [...asked, clock, remarks, next].filter((block) => block.length > 0);
  const body = blocks.flatMap((block, index) => (index === 0 ? block : ["", ...block]));
  return [`${style.bold(heading)}  ${shortId(question.id)}`, ...body.map((line) => (line === "" ? "" : `  ${line}`))];
}

function textLines(item: Item, number: string, width: number) {
  return wrap(`${number}${item.header ? `${oneLine(item.header)}: ` : ""}${sanitise(item.text)}`, width);
}

function optionLines(item: Item) {
  if (item.options.length === 0) return [];
  const choices = choicesOf(item);
  const column = Math.max(...choices.map(cellsOf)) + 3;
  const lines = choices.map((choice, index) => {
    const about = item.options[index]?.description;
    return `  ${index + 1}. ${about ? `${padCells(choice, column)}${oneLine(about)}` : choice}`;
  });
  return [item.multiple ? "Suggested options (choose one or more):" : "Suggested options:", ...lines];
}

function leanLine(question: Question, content: Content) {
  const option = content.items[0] && recommendedOption(content.items[0]);
  const sure = question.confidence === undefined ? "" : `, ${Math.round(question.confidence * 100)}%`;
  const lean = option ? `Agent leans ${oneLine(option.label)}${sure}. ` : "";
  const risk = `${question.risk.charAt(0).toUpperCase()}${question.risk.slice(1)} risk${isRiskUnverified(question) ? ` ${UNVERIFIED}` : ""}.`;
  return [`${lean}${risk}`];
}

function dueLine(read: QuestionSnapshot, { now, ahead }: ShowView) {
  const deadline = findDeadline(read);
  if (!deadline) return ["No deadline."];
  const leftMs = Math.max(0, msBetween(now, deadline.at));
  const clock = sayClock(deadline.at, now, ahead);
  return [`Due ${clock} (in ${formatDuration(leftMs)}), then ${deadline.then}.`];
}

/** The claim, the assignment and the snooze of a question. */
function peopleLines(question: Question, { now, ahead, program }: ShowView) {
  const { claim, to, route, delegates = [], snoozedUntil } = question;
  const rule = route === undefined ? "" : ` (by the rule "${oneLine(route)}")`;
  const settling = isPending(question) ? question.settling : undefined;
  return [
    ...(claim ? [`Claimed by ${sayBy(claim.by)}.`] : []),
    ...(to.length > 0 ? [`For ${to.map(oneLine).join(", ")}${rule}.`] : []),
    ...delegates.map(({ person, delegate }) => `${oneLine(person)} is away; ${oneLine(delegate)} gets it too.`),
    ...(snoozedUntil !== undefined && snoozedUntil > now
      ? [`Snoozed until ${sayClock(snoozedUntil, now, ahead)}.`]
      : []),
    ...(settling
      ? [`Answered by ${sayBy(settling.answer.by)}; take it back with: ${program} undo ${shortId(question.id)}`]
      : []),
  ];
}

/** `Told: telegram (ada) sent 4m ago` */
function toldLines({ deliveries = [], now, ahead }: ShowView) {
  return deliveries.map((delivery) => {
    const { channel, person, state, sentAt, waits } = delivery;
    const until = waits && state === "due" ? `, until ${sayClock(waits.until, now, ahead)}` : "";
    const when = sentAt === undefined ? until : ` ${sayAgo(sentAt, now)}`;
    return `Told: ${oneLine(channel)}${person === undefined ? "" : ` (${oneLine(person)})`} ${oneLine(sayDelivery(delivery))}${when}`;
  });
}

function commentLines(question: Question, { now, width }: ShowView) {
  if (question.comments.length === 0) return [];
  const said = question.comments.flatMap(({ by, at, text }) =>
    wrap(`${sayBy(by)} ${sayAgo(at, now)}: ${sanitise(text)}`, width - 2),
  );
  return ["Comments:", ...said];
}

/** `Similar: "Redis" for "Which job queue?", mika, 3 weeks ago (q-5c1a)` */
function similarLines({ similar = [], now, width }: ShowView) {
  return similar.map(({ id, answer, title, by, at }) => {
    const when = `${oneLine(actorName(by))}, ${spellAgo(at, now)} (${shortId(id)})`;
    const said = `Similar: "${cutCells(oneLine(answer), MOST_SIMILAR_CELLS)}"`;
    return `${said} for "${cutCells(oneLine(title), Math.max(LEAST_TITLE_CELLS, width - cellsOf(said) - cellsOf(when) - 12))}", ${when}`;
  });
}

function historyLines({ question, content }: ShowView["questions"][number], view: ShowView) {
  const id = shortId(question.id);
  return [
    `  ${id}  ${oneLine(question.title)}`,
    ...[
      ...outcomeLines(question, content, view.now),
      ...sayAgentTries(view.agentTries?.get(question.id), view.run, view.program),
    ].map((line) => `  ${" ".repeat(id.length)}  ${line}`),
    ...question.amendments.map(
      (amendment) => `  ${" ".repeat(id.length)}  correction by ${sayBy(amendment.by)}: ${oneLine(amendment.text)}`,
    ),
  ];
}

/** How a question ended: the answer with its author, a timeout, a withdrawal. */
export function outcomeLines(question: Question, content: Content, now: Instant): string[] {
  if (question.status === "cancelled") {
    const who = `by ${sayBy(question.cancelledBy)} ${sayAgo(question.cancelledAt, now)}`;
    return [`cancelled ${who}: ${oneLine(cancellationWords(question))}`];
  }
  const answer = findAnswer(question);
  const tally = answer && findTally(question, answer);
  const voters = tally?.votes.map(({ by }) => oneLine(actorName(by))).join(", ");
  const votes = tally && tally.votes.length > 1 ? [`${tally.votes.length} of ${tally.need} agreed: ${voters}`] : [];
  const said = answer ? [sayAnswer(answer, content, now), ...votes] : [];
  if (question.status !== "timeout") return said;
  return [`timed out ${sayAgo(question.timedOutAt, now)} (${question.policy})`, ...said];
}

/** The answer with its author and time: `Redis, by lena (slack) 4m ago`. */
export function sayAnswer(answer: Answer, content: Content, now: Instant): string {
  const words: Record<Answer["outcome"], string> = {
    answer: answerText(content, answer.items),
    decide: "You decide",
    clarify: "Asked back",
  };
  const note = answer.note ? ` (${oneLine(answer.note)})` : "";
  return `${oneLine(words[answer.outcome])}${note}, by ${sayAnsweredBy(answer)} ${sayAgo(answer.at, now)}`;
}

export function sayAnsweredBy({ policy, by }: Answer): string {
  return policy ? `policy ${oneLine(policy)}` : sayBy(by);
}
