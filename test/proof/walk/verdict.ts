import type { Question } from "../../../src/core/question/question.ts";
import type { Run, RunStatus } from "../../../src/core/run/run.ts";
import { hasEnded } from "../../../src/core/run/run.ts";
import type { Kept } from "../promise.ts";
import type { Heard } from "./asker.ts";
import type { Fact, Ledger } from "./ledger.ts";
import { type Line, type Start, startsOf } from "./notes.ts";
import type { Ask } from "./plan.ts";
import { judgeDeadlines, judgeTrail } from "./trail.ts";
import { type Telling, type Unit, findTellings, findUntold, tagOf, unitsOf } from "./unit.ts";

/** How a message says that it may be a repetition. */
const REPETITION = /may have been told this/i;
/** How often an agent is started before askd gives up. */
const TRIES = 4;
/** How much later than it was done a deed may be written down here. */
const SLACK_MS = 5_000;

export interface Evidence {
  kept: Kept;
  lines: readonly Line[];
  heard: readonly Heard[];
  /** What was asked, by tag. */
  asks: ReadonlyMap<string, Ask>;
}

/** Judges one run when all is over: what its agent was told, how it ended, and what its trail says. */
export function judgeRun({ kept, lines, heard, asks }: Evidence, ledger: Ledger): void {
  const { run, questions } = kept;
  const facts = ledger.factsOf(run.id);
  const starts = startsOf(lines);
  const at = { kept, starts, heard, facts, ledger };
  judgeStarts(at);
  judgeEnd(at);
  for (const unit of questions.flatMap(unitsOf)) judgeUnit(unit, at);
  judgeTrail(kept, { facts, asks, ledger });
  judgeDeadlines(kept, asks, ledger);
}

interface At {
  kept: Kept;
  starts: readonly Start[];
  heard: readonly Heard[];
  facts: readonly Fact[];
  ledger: Ledger;
}

function judgeStarts({ kept: { run, questions, events }, starts, ledger }: At): void {
  const over = events.find(
    ({ questionId, to }) => questionId === undefined && /cancelled|failed|skipped|completed/.test(to),
  );
  for (const [index, { epoch, lines }] of starts.entries()) {
    const before = starts[index - 1];
    if (before && before.epoch >= epoch) ledger.fault("epochs do not rise", `${before.epoch}, ${epoch}`, run.id);
    for (const { alive, pid } of lines)
      if (alive.length > 0)
        ledger.fault("two agents of one run lived at once", `${pid} beside ${alive.join()}`, run.id);
    for (const line of lines) {
      if (line.file !== undefined && line.file !== line.text)
        ledger.fault("stdin and ASKD_ANSWER_FILE differ", line.file.slice(0, 200), run.id);
      if (line.is === "answered itself" && line.exit === 0)
        ledger.fault("an agent answered itself", line.tag ?? "", run.id);
      judgeSilence(line, lines, { run, ledger });
      const isRefused =
        line.is === "asked" && typeof line.exit === "number" && ![0, 8, 9, 10, 12, 130].includes(line.exit);
      if (isRefused && !(over && Date.parse(over.at) <= line.at))
        ledger.fault(`an agent's ask was refused (exit ${line.exit})`, `${line.tag}: ${line.stderr}`, run.id);
    }
  }
  const pending = questions.filter(({ status }) => status === "pending").length;
  if (pending > 1) ledger.fault("two questions of one run are pending", String(pending), run.id);
}

/** A call that waited and ended well says what was answered, or that nobody was there. */
function judgeSilence(
  line: Line,
  lines: readonly Line[],
  { run, ledger }: Pick<At, "ledger"> & Pick<Kept, "run">,
): void {
  if (line.is !== "told" || line.via !== "wait" || line.exit !== 0 || line.text !== "") return;
  const { stderr = "" } = lines.find(({ is, tag }) => is === "asked" && tag === line.tag) ?? {};
  if (!stderr.includes("best judgment"))
    ledger.fault("an ask that waited ended well and said nothing", `${line.tag}: ${stderr}`, run.id);
}

/** Every run is over in the end, for a reason that its agent, a person or a deadline gave. */
function judgeEnd(at: At): void {
  const { kept, ledger } = at;
  const { run } = kept;
  const how = `${run.status}${run.reason === undefined ? "" : ` (${run.reason})`}`;
  if (!hasEnded(run)) {
    if (isCutOff(at) || isForcedTooLate(at)) return;
    const owed = run.owes.length > 0 ? " and owes something" : "";
    const where = run.implicit ? " of an asker outside" : "";
    return ledger.fault(`a run${where} stays ${how}${owed}`, sayRun(kept), run.id);
  }
  if (run.giveBack === "worker" && !ENDS[run.status]?.(at))
    ledger.fault(`a run ended ${how} without that reason`, sayLast(at), run.id);
}

/**
 * A server that is killed after it wrote out an outcome and before it recorded that leaves it open: an asker outside
 * that has it does not come back, and the run is shown as answered and not taken. So is a permission whose call was cut
 * off: it may have been used, and the asker that makes the call again asks anew.
 */
function isCutOff({ kept: { run, questions }, heard, ledger }: At): boolean {
  if (!run.implicit || run.giveBack !== "poll" || run.pendingId !== undefined || !ledger.counts["kill server"])
    return false;
  const owing = questions.filter(({ id }) => run.owes.includes(id));
  const isHeard = (id: string): boolean => heard.some(({ questionId }) => questionId === id);
  // A correction that waits for the next hand-over waits with it.
  return (
    owing.every((question) => isHeard(question.id) || isCutPermission(question)) &&
    owing.flatMap(unitsOf).some(({ handover }) => handover.state === "handing")
  );
}

function isCutPermission(question: Question): boolean {
  const handovers = unitsOf(question).map(({ handover }) => handover);
  return question.kind === "approval" && handovers.some((each) => each.state === "handing" && each.by === "call");
}

/**
 * An asker outside that heard that nobody answered in time, or asked the same anew before an answer was forced, does not
 * come back for that answer.
 */
function isForcedTooLate({ kept: { run, questions }, heard }: At): boolean {
  if (!run.implicit || run.giveBack !== "poll" || run.pendingId !== undefined) return false;
  const isForced = (question: Question): boolean =>
    run.owes.includes(question.id) && question.status === "timeout" && question.forced !== undefined;
  const isHeard = (question: Question): boolean =>
    heard.some(({ questionId, tag }) => questionId === question.id || tag === tagOf(question));
  const owing = questions.filter(({ id }) => run.owes.includes(id));
  return owing.some(isForced) && owing.every(isHeard);
}

const ENDS: Partial<Record<RunStatus, (at: At) => boolean>> = {
  completed: ({ starts }) => starts.at(-1)?.exit === 0 && isDone(starts),
  cancelled: ({ facts }) => facts.some(({ deed }) => deed.do === "cancel run" || deed.do === "cancel"),
  skipped: (at) => isTimedOut(at, "skip"),
  failed: (at) => FAILURES[at.kept.run.reason ?? ""]?.(at) ?? false,
};

const FAILURES: Record<string, (at: At) => boolean> = {
  input_timeout: (at) => isTimedOut(at, "fail"),
  agent_error: ({ starts }) => (starts.at(-1)?.exit ?? 0) !== 0 && isDone(starts),
  agent_killed: ({ starts }) => starts.at(-1)?.exit === undefined,
  resume_failed: ({ starts }) => starts.slice(-TRIES).filter(({ exit }) => exit === undefined).length === TRIES,
};

/** The agent came to the end of its plan in its last start. */
function isDone(starts: readonly Start[]): boolean {
  return starts.at(-1)?.lines.some(({ is }) => is === "done") ?? false;
}

function isTimedOut({ kept: { run, questions } }: At, policy: "skip" | "fail"): boolean {
  const last = questions.find(({ id }) => id === run.lastQuestionId);
  return last?.status === "timeout" && last.policy === policy && run.reason === "input_timeout";
}

function sayLast({ starts }: At): string {
  const last = starts.at(-1);
  const said = last?.lines.map(({ is, tag }) => (tag === undefined ? is : `${is} ${tag}`)).join(", ");
  return `${starts.length} starts, the last: ${said ?? "none"}, exit ${last?.exit}`;
}

function judgeUnit(unit: Unit, at: At): void {
  const { kept, starts, heard, ledger } = at;
  const { run } = kept;
  const tellings = findTellings(unit, starts, heard);
  const name = `${unit.what} to ${tagOf(unit.question) ?? unit.question.id} (${unit.name}, ${unit.handover.state})`;
  if (tellings.length === 0) {
    const excuse = findExcuse(unit, at);
    const isGiven = unit.handover.state === "given";
    const kind = isGiven
      ? "is recorded as given, but was never told"
      : `was never told; run ${run.status} (${run.reason ?? ""})`;
    if (excuse === undefined) ledger.fault(`the ${unit.what} ${kind}`, `${name}; ${sayLast(at)}`, run.id);
    return;
  }
  const isShown = tellings.some((telling) => telling.start && findEvidence(telling, at));
  if (unit.handover.state === "void" && unit.handover.reason !== "run_cancelled" && isShown)
    ledger.fault(`the ${unit.what} was taken, but is recorded as void`, name, run.id);
  for (const [index, telling] of tellings.entries()) {
    const untold = findUntold(unit, telling);
    if (untold.length > 0)
      ledger.fault(
        `the ${unit.what} was told in part`,
        `${name}: not ${untold.join(", ")}; ${telling.line.text}`,
        run.id,
      );
    const before = tellings[index - 1];
    if (before) judgeRepetition(unit, before, telling, at);
  }
  judgeKept(unit, tellings, at);
}

/** Why an agent need not have been told: the run was ended first, or nobody asked for it to be told. */
function findExcuse(unit: Unit, at: At): string | undefined {
  const { handover, question } = unit;
  const { kept, starts } = at;
  if (handover.state === "void") return findExcuseForVoid(unit, handover.reason, at);
  if (handover.state !== "given") return findExcuseForOpen(unit, at);
  if (handover.witness === "stored" && kept.run.implicit) return "it can be read";
  // The call that waited had it, and its agent was ended before it could write that down.
  const asking = starts.find(({ lines }) => lines.some(({ is, tag }) => is === "asking" && tag === tagOf(question)));
  const isCut = asking !== undefined && asking.exit === undefined && asking.lines.at(-1)?.is === "asking";
  return isCut ? "its agent was killed while it waited" : undefined;
}

function findExcuseForOpen({ handover, question, what }: Unit, at: At): string | undefined {
  const isOwed = handover.state === "owed";
  if (isOwed && (isForcedTooLate(at) || (what === "correction" && isCutOff(at)))) return "its asker does not come back";
  return !isOwed && isCutPermission(question) && isCutOff(at) ? "its asker asked anew" : undefined;
}

function findExcuseForVoid({ what }: Unit, reason: string, { kept }: At): string | undefined {
  const { run, questions, events } = kept;
  if (reason === "run_cancelled" && events.some(({ type }) => type === "run.cancelled")) return reason;
  // A run that a person took up again is told what was voided at its deadline.
  const isOver = run.implicit ? questions.some(isGivenUp) : run.reason === "input_timeout";
  if (reason === "input_timeout" && isOver) return reason;
  if (run.status === "cancelled") return run.reason ?? run.status;
  if (what === "correction" && reason === "run_ended") return "it was not to be resumed";
  return run.reason === "resume_failed" ? run.reason : undefined; // whether that is so is judged by itself
}

/** Nobody answered in time, and that ended the work. */
function isGivenUp(question: Question): boolean {
  return question.status === "timeout" && (question.policy === "skip" || question.policy === "fail");
}

/** A second time is right only if the first was cut off before anything showed that it had arrived, and says so. */
function judgeRepetition(unit: Unit, before: Telling, again: Telling, at: At): void {
  const { start, line } = before;
  const { kept, ledger } = at;
  const name = `${unit.what} to ${tagOf(unit.question) ?? ""} (${unit.name})`;
  const where = `${start?.epoch ?? "outside"} by ${line.via}, then ${again.start?.epoch ?? "outside"} by ${again.line.via}`;
  if (!start) return;
  const why = findEvidence(before, at);
  const isMarked = REPETITION.test(again.line.text);
  const detail = `${name} in epoch ${where}`;
  if (why !== undefined)
    ledger.fault(
      `the ${unit.what} was told twice${isMarked ? ", marked" : ""}, though its agent ${why}`,
      detail,
      kept.run.id,
    );
  else if (!isMarked) ledger.fault(`a repeated ${unit.what} is not marked`, detail, kept.run.id);
}

/** What shows that the agent took what it was told: it asked again in that start, or came to an end by itself. */
function findEvidence({ start, line }: Telling, { kept: { questions } }: At): string | undefined {
  if (!start) return undefined;
  const asked = new Set(questions.map(tagOf));
  const after = start.lines.slice(start.lines.findIndex((each) => each.at === line.at && each.text === line.text) + 1);
  if (after.some(({ is, tag }) => is === "asking" && asked.has(tag))) return "had asked again";
  return start.exit === undefined ? undefined : "had ended by itself";
}

/** An answer that was stored without resuming waits for somebody to resume the run, or for another hand-over. */
function judgeKept(unit: Unit, tellings: readonly Telling[], { kept, facts, ledger }: At): void {
  const own = facts.find(({ outcomeId, deed }) => outcomeId === unit.name && deed.do === "answer" && !deed.said.resume);
  const told = tellings.find(({ line }) => line.via === "message");
  if (!own || !told) return;
  const isResumed = facts.some(({ deed, atMs }) => deed.do === "resume run" && atMs >= own.atMs - SLACK_MS);
  const others = kept.questions.flatMap(unitsOf).filter(({ name }) => name !== unit.name);
  const isTakenAlong = others.some(({ name }) => told.line.text.includes(name));
  if (!isResumed && !isTakenAlong)
    ledger.fault(
      "an answer with --no-resume was told before the run was resumed",
      `${unit.name} in epoch ${told.start?.epoch}`,
      kept.run.id,
    );
}

/** Runs that nobody judges by their agent: what is said about them in one line. */
export function sayRun({ run }: Pick<Kept, "run">): string {
  const { number, status, reason, epoch, giveBack, implicit } = run satisfies Run;
  return `#${number} ${status}${reason ? ` (${reason})` : ""} epoch ${epoch} ${giveBack}${implicit ? " implicit" : ""}`;
}
