import { requireAccess, requireMayResumeAgent } from "../people/access.ts";
import { actorName } from "../people/actor.ts";
import type { AnswerInput } from "./answer-input.ts";
import type { DecisionContext, Changes, Entry, PendingSnapshot, QuestionSnapshot } from "../changes.ts";
import { findChangedCommand, isDenial } from "../question/approval.ts";
import { ALLOW_PREFIX, ALLOW_RUN } from "../question/run-permission.ts";
import { measureToolRisk } from "../question/tool-risk.ts";
import { isSelfServed } from "../question/close.ts";
import { requirePending } from "../question/require-pending.ts";
import { hashText } from "../question/content.ts";
import { questionEvent, runEvent, statusEvents, unchangedEvent } from "../trail/event.ts";
import { isTryTold } from "../trail/refused-try.ts";
import { RECORDED_LATE, reopenVoided, resume } from "../run/handover.ts";
import { shortId } from "../id.ts";
import { questionJob } from "../run/job.ts";
import { answerText, findMatch, matchAnswer } from "./match.ts";
import { requirePlain } from "../text/plain-text.ts";
import {
  type Answer,
  type Outcome,
  type PendingQuestion,
  type Question,
  requireVersion,
  mayForce,
} from "../question/question.ts";
import { Refusal } from "../refusal.ts";
import type { Run } from "../run/run.ts";
import { RESUMABLE, requireMayReopen, requireStartable } from "../run/run-lifecycle.ts";
import { settleOrClose } from "../question/settle.ts";
import { requireEnoughVotes, vote } from "./vote.ts";

const LONGEST_TRIED = 200;
/** Reasons of hand-overs that the end of a run voided, also for an agent that no worker starts again. */
const LOST_WITH_RUN: ReadonlySet<string> = new Set([...RESUMABLE, RECORDED_LATE]);

/** Applies a reply: closes the question, counts a vote, or starts the undo window. */
export function answer(read: QuestionSnapshot, input: AnswerInput, at: DecisionContext): Changes {
  if (input.force && mayForce(read.run, read.question)) return forceAnswer(read, input, at);
  requireAccess("answer", at.by, read.question);
  const question = requirePending(read, at, input.answer);
  requireVersion(question, input.ifVersion);
  requireMayResumeAgent("answer", { ...read, question }, at, {
    isConfirmed: input.confirmed,
    isDenial: () => isDenying(read, input, at),
  });
  if (question.settling) throw settlingRefusal(question, read);
  const given = readAnswer({ ...read, question }, input, at);
  requireAllowable({ ...read, question }, given, input, at);
  const { undoMs, resume: isResumed } = input;
  const how = { undoMs, resume: isResumed };
  if (question.approvals.need > 1 || question.approvals.veto) return vote({ ...read, question }, given, how, at);
  return settleOrClose({ ...read, question }, given, how, at);
}

/**
 * Checks an answer that allows something else than what was asked: a changed command is measured like one that an agent
 * asks for, and nothing of high risk is allowed beyond the one time.
 */
function requireAllowable(read: PendingSnapshot, given: Answer, { confirmed }: AnswerInput, at: DecisionContext) {
  const { question } = read;
  const values = Object.values(given.items).flatMap((item) => item.values);
  if (question.risk === "high" && (values.includes(ALLOW_RUN) || values.includes(ALLOW_PREFIX))) {
    throw new Refusal("not_permitted", "This is high risk: it can be allowed once, not for the rest of the run", {
      hint: `Allow it once: askd answer ${shortId(question.id)} allow`,
    });
  }
  const command = findChangedCommand(given);
  if (command === undefined) return;
  const risk = measureToolRisk({ tool: "", input: { command } });
  if (risk !== "high" || question.risk === "high") return;
  if (!confirmed && at.by.strength !== "person") {
    throw new Refusal("needs_confirmation", "The changed command is high risk; nothing was allowed", {
      hint: `Confirm it in a terminal: askd answer ${shortId(question.id)} --yes --command "…"`,
      fact: { is: "risky_change" },
    });
  }
  requireMayResumeAgent("answer", { ...read, question: { ...question, risk } }, at, { isConfirmed: confirmed });
}

/** Says whether a reply denies an approval; that needs no confirmation, however high the risk. */
function isDenying({ question, content }: QuestionSnapshot, input: AnswerInput, at: DecisionContext) {
  if (question.kind !== "approval" || input.outcome !== "answer") return false;
  // The permission is checked before the fit.
  const items = findMatch(content, input, at.rules.limits);
  return items !== undefined && isDenial(content, items);
}

/** Records a late reply. It changes no row, so that concurrent late replies do not conflict. */
export function recordLate({ question }: QuestionSnapshot, input: AnswerInput, at: DecisionContext): Changes {
  const said = input.answer ?? JSON.stringify(input.items ?? {});
  return { events: [unchangedEvent("late_reply", question, at, { reply: hashText(said) })] };
}

/**
 * Counts that somebody tried what they may not do; an agent that answers itself, for one. The trail gets tries with
 * their count, and never so many that a program which tries in a loop fills it.
 */
export function recordRefused(
  { question, counter }: { question: Question; counter: Entry | undefined },
  tried: string,
  at: DecisionContext,
): Changes {
  const tries = Number(counter?.body["tries"] ?? 0) + 1;
  const entry: Entry = { kind: "refused", id: question.id, version: counter?.version ?? 0, body: { tries } };
  const detail = { tried: tried.slice(0, LONGEST_TRIED), tries };
  return { entries: [entry], events: isTryTold(tries) ? [unchangedEvent("refused", question, at, detail)] : [] };
}

/** Matches a reply to what was asked, or refuses it with the reason. */
export function readAnswer({ question, content }: QuestionSnapshot, input: AnswerInput, at: DecisionContext): Answer {
  const note = readNote(input, at);
  const say = (outcome: Outcome, items: Answer["items"], words: string | undefined): Answer => ({
    id: at.ids.outcome(),
    outcome,
    items,
    note: words,
    template: input.template,
    by: at.by,
    at: at.now,
  });
  if (!mayHaveOutcome(input.outcome, question)) {
    throw new Refusal(
      "outcome_not_accepted",
      question.accepts.some((each) => each === input.outcome)
        ? `"${input.outcome}" cannot be said of an approval: it is given or denied by a person`
        : `The asker does not accept "${input.outcome}"; it accepts ${question.accepts.join(", ")}`,
      {
        hint: "Choose one of the options or write an answer",
      },
    );
  }
  if (input.outcome === "decide") return say("decide", {}, note);
  if (input.outcome === "clarify") {
    const back = note ?? input.answer?.trim();
    if (!back)
      throw new Refusal("empty_answer", "Response cannot be empty", { hint: 'Say what is unclear: --clarify "…"' });
    requirePlain(back, at.rules.limits.answerBytes, "answer");
    return say("clarify", {}, back);
  }
  return say("answer", matchAnswer(content, input, at.rules.limits), note);
}

function forceAnswer(read: QuestionSnapshot, input: AnswerInput, at: DecisionContext): Changes {
  const { run, question } = read;
  requireMayResumeAgent("force", read, at, { isConfirmed: input.confirmed });
  if (question.status !== "timeout") throw new Error("only a question that timed out can be forced");
  const given = readAnswer(read, input, at);
  if (given.outcome !== "clarify") requireEnoughVotes(read, given, at); // asking back decides nothing
  const forced: Question = { ...question, forced: { answer: given, handover: { state: "owed" } } };
  const detail = { answer: hashText(JSON.stringify(given.items)), id: given.id };
  const event = questionEvent("forced", question, forced, at, detail);
  if (isSelfServed(run, question)) {
    const stored = { answer: given, handover: { state: "given" as const, at: at.now, witness: "stored" } };
    const ended: Run = { ...run, status: "completed", reason: undefined, endedAt: at.now };
    const events = [event, ...statusEvents(run, ended, at, { forced: true })];
    return { runs: [ended], questions: [{ ...forced, forced: stored }], events };
  }
  requireStartable(run);
  const clarifying = given.outcome === "clarify" ? question.id : run.clarifying;
  const begun: Run = { ...run, reason: undefined, endedAt: undefined, starts: 0, clarifying };
  const lost = reopenVoided(begun, read.others ?? [], LOST_WITH_RUN, at);
  requireMayReopen(lost.before, read, at);
  const next = resume({ ...begun, owes: [...lost.owes, question.id] }, question, at);
  const scheduled = run.giveBack === "callback" ? [questionJob("callback", question, at.now)] : next.scheduled;
  return {
    runs: [next.run],
    questions: [forced, ...lost.questions],
    events: [event, ...lost.events, runEvent(run, next.run, at, { forced: true })],
    scheduled,
  };
}

function settlingRefusal(question: PendingQuestion, { content }: QuestionSnapshot) {
  const first = question.settling?.answer;
  const said = first ? answerText(content, first.items) : "";
  const by = first ? actorName(first.by) : "somebody";
  return new Refusal("settling", `${by} has just answered "${said}"; it can still be undone for a few seconds`, {
    hint: `Wait for it, or take it back: askd undo ${shortId(question.id)}`,
    fact: { is: "settling", by, said },
  });
}

function readNote(input: AnswerInput, at: DecisionContext) {
  const note = input.note?.trim();
  if (!note) return undefined;
  requirePlain(note, at.rules.limits.answerBytes, "note");
  return note;
}

/** Asking back is not consent, so it is always possible for an approval; `decide` never is. */
function mayHaveOutcome(outcome: Outcome, { kind, accepts }: Question) {
  if (kind === "approval" && outcome !== "answer") return outcome === "clarify";
  return accepts.includes(outcome);
}
