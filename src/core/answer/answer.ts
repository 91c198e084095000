import { requireMay, requireMayGoOn } from "../people/access.ts";
import { sayActor } from "../people/actor.ts";
import type { AnswerInput } from "./answer-input.ts";
import type { At, Changes, Read } from "../changes.ts";
import { requirePending } from "../question/require-pending.ts";
import { hashText } from "../question/content.ts";
import { questionEvent, runEvent, unchangedEvent } from "../trail/event.ts";
import { resume } from "../run/handover.ts";
import { shortId } from "../id.ts";
import { questionJob } from "../run/job.ts";
import { answerText, matchAnswer } from "./match.ts";
import { requirePlain } from "../text/plain-text.ts";
import { type Answer, type Outcome, type Pending, type Question, requireVersion } from "../question/question.ts";
import { Refusal } from "../refusal.ts";
import type { Run } from "../run/run.ts";
import { mayForce } from "../force.ts";
import { requireStartable } from "../run/run-lifecycle.ts";
import { settleOrClose } from "../question/settle.ts";
import { requireEnoughVotes, vote } from "./vote.ts";

const LONGEST_TRIED = 200;

/** Takes what a person says to a question: closes it, counts a vote, or lets it settle until it can no longer be undone. */
export function answer(read: Read, input: AnswerInput, at: At): Changes {
  if (input.force && mayForce(read.run, read.question)) return force(read, input, at);
  requireMay("answer", at.by, read.question);
  const question = requirePending(read, at.now, input.answer);
  requireVersion(question, input.ifVersion);
  requireMayGoOn("answer", { ...read, question }, at, input.confirmed);
  if (question.settling) throw settlingRefusal(question, read);
  const given = readAnswer({ ...read, question }, input, at);
  const { undoMs, resume: isResumed } = input;
  const how = { undoMs, resume: isResumed };
  if (question.approvals.need > 1 || question.approvals.veto) return vote({ ...read, question }, given, how, at);
  return settleOrClose({ ...read, question }, given, how, at);
}

/** Writes down a reply that came too late. It changes no row, so that many who come late need not wait for each other. */
export function recordLate({ question }: Read, input: AnswerInput, at: At): Changes {
  const said = input.answer ?? JSON.stringify(input.items ?? {});
  return { events: [unchangedEvent("late_reply", question, at, { reply: hashText(said) })] };
}

/** Writes down that somebody tried what they may not do; an agent that answers itself, for one. It changes no row. */
export function recordRefused({ question }: Read, tried: string, at: At): Changes {
  return { events: [unchangedEvent("refused", question, at, { tried: tried.slice(0, LONGEST_TRIED) })] };
}

/** What was said, matched to what was asked, or a refusal that says what does not fit. */
export function readAnswer({ question, content }: Read & { question: Question }, input: AnswerInput, at: At): Answer {
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
  if (!mayBe(input.outcome, question)) {
    throw new Refusal(
      "outcome_not_accepted",
      `Whoever asked this cannot take "${input.outcome}"; it accepts ${question.accepts.join(", ")}`,
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

function force(read: Read, input: AnswerInput, at: At): Changes {
  const { run, question } = read;
  requireMayGoOn("force", read, at, input.confirmed);
  if (question.status !== "timeout") throw new Error("only a question that timed out can be forced");
  const given = readAnswer(read, { ...input, outcome: "answer" }, at);
  requireEnoughVotes(read, given, at);
  const forced: Question = { ...question, forced: { answer: given, handover: { state: "owed" } } };
  const detail = { answer: hashText(JSON.stringify(given.items)), id: given.id };
  const event = questionEvent("forced", question, forced, at, detail);
  if (run.implicit && run.giveBack === "poll") {
    // Nobody has to be started again: whoever asks for it reads it.
    const stored = { answer: given, handover: { state: "given" as const, at: at.now, witness: "stored" } };
    const ended: Run = { ...run, status: "completed", reason: undefined, endedAt: at.now };
    const changed = ended.status === run.status ? [] : [runEvent(run, ended, at, { forced: true })];
    return { runs: [ended], questions: [{ ...forced, forced: stored }], events: [event, ...changed] };
  }
  requireStartable(run);
  const begun: Run = { ...run, reason: undefined, endedAt: undefined, starts: 0, owes: [...run.owes, question.id] };
  const next = resume(begun, question, at);
  const scheduled = run.giveBack === "callback" ? [questionJob("callback", question, at.now)] : next.scheduled;
  return {
    runs: [next.run],
    questions: [forced],
    events: [event, runEvent(run, next.run, at, { forced: true })],
    scheduled,
  };
}

function settlingRefusal(question: Pending, { content }: Read): Refusal {
  const first = question.settling?.answer;
  const said = first ? answerText(content, first.items) : "";
  const by = first ? sayActor(first.by) : "somebody";
  return new Refusal("settling", `${by} has just answered "${said}"; it can still be undone for a few seconds`, {
    hint: `Wait for it, or take it back: askd undo ${shortId(question.id)}`,
    fact: { is: "settling", by, said },
  });
}

function readNote(input: AnswerInput, at: At): string | undefined {
  const note = input.note?.trim();
  if (!note) return undefined;
  requirePlain(note, at.rules.limits.answerBytes, "note");
  return note;
}

/** Who asks back has not agreed, so an approval can always be asked back about; nobody leaves one to the agent. */
function mayBe(outcome: Outcome, { kind, accepts }: Question): boolean {
  if (kind === "approval" && outcome !== "answer") return outcome === "clarify";
  return accepts.includes(outcome);
}
