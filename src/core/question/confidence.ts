import type { Changes, DecisionContext, PendingSnapshot, QuestionSnapshot } from "../changes.ts";
import { voidOthers } from "../run/handover.ts";
import { cancelledQuestion, stopJob } from "../run/run-lifecycle.ts";
import { type Run, isAgentAlive, isForeignSession } from "../run/run.ts";
import type { Rules } from "../rules.ts";
import { runEvent } from "../trail/event.ts";
import { answerAtOnce, closedAtOnce, policyActor } from "./close-at-once.ts";
import { closeQuestion } from "./close.ts";
import { recommendedOption } from "./content.ts";
import { CONFIDENCE_POLICY, LOW_CONFIDENCE, type PendingQuestion, type Question } from "./question.ts";

type Bands = Rules["confidence"];

/** A question that is being asked, before anybody knows of it. */
interface AskedSnapshot extends PendingSnapshot {
  /** The other open questions of its run. */
  others: readonly Question[];
  /** A person asked back or resumed the blocked run, and waits for what comes next. */
  isWanted: boolean;
}

/**
 * Closes a question at once if its asker is sure enough to go on alone, or too unsure to work on; undefined if people are
 * asked.
 */
export function decideByConfidence(
  changes: Changes,
  read: AskedSnapshot,
  at: DecisionContext,
): (Changes & { read: QuestionSnapshot }) | undefined {
  const { question } = read;
  const bands = at.rules.confidence;
  const { confidence } = question;
  if (confidence === undefined || !isFree(question)) return undefined;
  if (bands.act !== undefined && confidence >= bands.act) return goOn(changes, read, at);
  const isBelow = confidence < bands.ask && !read.isWanted;
  return isBelow && bands.below !== "ask" ? stop(changes, read, bands.below, at) : undefined;
}

/** Says whether a policy may decide: nobody in particular has to, and little is at stake. */
function isFree({ kind, risk, approvals }: PendingQuestion) {
  return kind === "question" && risk !== "high" && approvals.from.length === 0 && approvals.need === 1;
}

/** The agent goes on with what it recommends, recorded as an answer of the policy. */
function goOn(changes: Changes, read: PendingSnapshot, at: DecisionContext) {
  const picks = read.content.items.map((item) => [item.id, recommendedOption(item)] as const);
  if (picks.some(([, option]) => option === undefined)) return undefined;
  const items = Object.fromEntries(picks.map(([id, option]) => [id, { values: option ? [option.value] : [] }]));
  return answerAtOnce(changes, read, { items, policy: CONFIDENCE_POLICY }, at);
}

/** The run ends as skipped or is blocked until a person resumes it, and its agent is stopped. Nobody is asked. */
function stop(
  changes: Changes,
  read: AskedSnapshot,
  policy: Exclude<Bands["below"], "ask">,
  given: DecisionContext,
): Changes & { read: QuestionSnapshot } {
  const at = { ...given, by: policyActor(CONFIDENCE_POLICY) };
  const { run, question } = read;
  const detail = { reason: LOW_CONFIDENCE, policy };
  const cancelled = { ...cancelledQuestion(question, { reason: LOW_CONFIDENCE }, at), policy };
  // A workflow ends by itself when it takes the outcome, and a callback still has to be called.
  const outcome =
    run.workflow || run.giveBack === "callback" ? { ...cancelled, handover: { state: "owed" as const } } : cancelled;
  if (run.workflow)
    return closedAtOnce(
      changes,
      read,
      closeQuestion(read, outcome, () => detail, at),
    );
  const others =
    policy === "skip" ? voidOthers(read, LOW_CONFIDENCE, at) : { questions: [], events: [], owes: run.owes };
  const stopped: Run = { ...run, ...endOf(run, policy, at), owes: others.owes };
  // Outcomes that a blocked run owes from before wait until a person resumes it.
  const closed = closeQuestion({ ...read, run: stopped }, outcome, () => detail, at, { resume: policy === "skip" });
  return closedAtOnce(changes, read, {
    ...closed,
    questions: [...closed.questions, ...others.questions],
    // A callback makes the stopped run resume in the same commit: its event comes after this one.
    events: [runEvent(run, stopped, at), ...closed.events, ...others.events],
    scheduled: [...closed.scheduled, ...stopJob(run, at)],
  });
}

/** A session that askd did not start goes on after a skipped question; an agent that is stopped ends its epoch. */
function endOf(run: Run, policy: "skip" | "block", { now }: DecisionContext): Partial<Run> {
  if (policy === "block") return { status: "blocked", reason: LOW_CONFIDENCE };
  if (isForeignSession(run)) return { status: "completed", endedAt: now };
  const epoch = isAgentAlive(run) && !run.implicit ? run.epoch + 1 : run.epoch;
  return { status: "skipped", reason: LOW_CONFIDENCE, endedAt: now, epoch };
}
