import { requireMay } from "../people/access.ts";
import { defaultInput } from "../answer/answer-input.ts";
import { fingerprintOf } from "./approval.ts";
import type { AskInput } from "./ask-input.ts";
import type { At, Changes, Read } from "../changes.ts";
import { type Content, contentName, hashContent, recommendedOption, titleOf } from "./content.ts";
import { questionEvent, runEvent } from "../trail/event.ts";
import { clockKey, setClock } from "./question-timer.ts";
import { close } from "./close.ts";
import { quoteLine } from "../text/foreign-text.ts";
import { giveAskedAgain } from "../run/handover.ts";
import { type QuestionId, shortId } from "../id.ts";
import { type Instant, later, msBetween, MINUTE_MS } from "../instant.ts";
import { matchAnswer } from "../answer/match.ts";
import { NOT_CLOSED, NOT_OPEN, type Pending, type Question, owes } from "./question.ts";
import { redactContent } from "../secret/redact.ts";
import { Refusal } from "../refusal.ts";
import { settleRisk } from "./risk.ts";
import { type Run, hasEnded, isForeignSession } from "../run/run.ts";

/** What an ask meets: its run, and what of that run is still open. */
export interface AskRead {
  run: Run;
  /** Pending, or closed with an outcome that the agent has not been shown. */
  open: readonly Question[];
  /** The question that a person asked back about; this one continues it. */
  followed?: Question;
  /** The start of the agent that asks, where askd started it. */
  epoch?: number | undefined;
  /** When the agent made the call, if that was some time ago. */
  calledAt?: Instant | undefined;
  /** The process that waits for the answer, where it has a name. */
  holder?: string | undefined;
  secrets: readonly string[];
}

/** Asks a new question of a run. Callers have looked with `findSame` whether it is one that is there already. */
export function ask(before: AskRead, input: AskInput, at: At): Changes & { read: Read } {
  const { run, open, followed, holder, secrets } = before;
  requireMayAsk(before, input, at);
  const plain: Content = { items: input.items, context: input.context };
  const content: Content = { ...plain, ...redactContent(plain, secrets, at.rules.redact) };
  if (input.onTimeout.answer !== undefined) matchAnswer(content, defaultInput(input.onTimeout.answer), at.rules.limits);
  const asking = newQuestion(run, content, input, followed, at);
  const question: Pending = asking.hold && holder ? { ...asking, hold: { ...asking.hold, holder } } : asking;
  const taken = giveAskedAgain(run, open, before.calledAt, at);
  const kept = hasEnded(run) ? reopened(run) : run;
  const status = statusAfterAsk(kept, input);
  const asked: Run = {
    ...kept,
    status,
    owes: taken.owes,
    starts: 0,
    isContinued: false,
    parkedAt: status === "awaiting_input" ? at.now : run.parkedAt,
    reason: undefined,
    endedAt: undefined,
    startedAt: run.startedAt ?? at.now,
    pendingId: question.id,
    lastQuestionId: question.id,
    clarifying: undefined,
    asked: run.asked + 1,
    askedAt: [...run.askedAt.slice(-(at.rules.limits.asksPerMinute - 1)), at.now],
  };
  const changes: Changes = {
    runs: [asked],
    questions: [question, ...taken.questions],
    contents: [{ hash: question.content, content }],
    events: [
      ...taken.events,
      ...(run.version === 0 || asked.status !== run.status
        ? [runEvent(run.version === 0 ? undefined : run, asked, at)]
        : []),
      questionEvent("asked", undefined, question, at, {
        content: question.content,
        via: question.via,
        held: question.hold?.until,
        ...(input.key !== undefined && { key: input.key }),
        ...(input.trace !== undefined && { trace: input.trace }),
      }),
    ],
    scheduled: setClock(question, at.rules).scheduled,
    dropped: taken.questions.filter((each) => !owes(each)).map(clockKey),
  };
  const read = { run: asked, question, content };
  return maySkipAsking(question, at) ? decideByConfidence(changes, { ...read, question }, at) : { ...changes, read };
}

/** The open question that this ask repeats. A given approval is never one of them. */
export function findSame(open: readonly Question[], input: AskInput): Question | undefined {
  if (input.key !== undefined) return open.find((question) => question.key === `=${input.key}`);
  if (open.length === 0) return undefined;
  const hash = hashContent(input);
  return open.find(
    (question) =>
      question.key.startsWith(`${hash}#`) &&
      isSameTool(question, input) &&
      (question.status === "pending" || question.kind !== "approval") &&
      (question.status === "pending" || owes(question)),
  );
}

/**
 * Says whether an agent that was refused while its question waits asks the same again, as another call. An approval
 * that no call has used yet is still there for it, once: one that the agent was told of with its start included.
 */
export function isAskedAgain(question: Question, input: AskInput): boolean {
  if (question.key === `=${input.key}` || !isSameAsk(question, input)) return false;
  return question.status !== "pending" || question.hold === undefined;
}

/** Says whether this question asks the same and still waits, or has an outcome that its agent has not been shown. */
export function isSameAsk(question: Question, input: AskInput): boolean {
  if (question.kind !== input.kind || !question.content.endsWith(hashContent(input))) return false;
  if (!isSameTool(question, input)) return false;
  if (question.status === "pending") return true;
  if (question.kind !== "approval") return owes(question);
  const { handover } = question;
  return handover.state === "owed" || (handover.state === "handing" && handover.by === "start");
}

/** An approval that an asker words just like ours is not about a tool, so that the same words are not yet the same ask. */
function isSameTool(question: Question, { tool }: AskInput): boolean {
  return question.fingerprint === (tool && fingerprintOf(tool));
}

/** The same key with other words is a mistake of the caller, not the same ask. */
export function requireSamePayload(question: Question, input: AskInput): void {
  if (question.content.endsWith(hashContent(input)) && isSameTool(question, input)) return;
  throw new Refusal(
    "key_reused",
    `The key ${quoteLine(input.key ?? "")} was used for another question (${shortId(question.id)}); nothing was asked`,
    {
      hint: "Use a new key for a new question",
    },
  );
}

function requireMayAsk({ run, open, epoch }: AskRead, input: AskInput, at: At): void {
  requireMay("ask", at.by, { runId: run.id });
  const pending = open.find((question) => question.status === "pending");
  if (pending) {
    const about = quoteLine(pending.title);
    throw new Refusal("already_pending", `This run already waits for an answer to ${pending.id}: ${about}`, {
      hint: `call check_answer ${pending.id} (it holds), then ask again`,
    });
  }
  if (hasEnded(run) && !mayReopen(run, epoch, input)) {
    const said = run.status === "cancelled" || run.status === "skipped" ? `was ${run.status}` : "has ended";
    throw new Refusal("run_ended", `Run #${run.number} ${said}; it can no longer ask. Stop now`, {
      fact: { is: "run_ended", number: run.number, status: run.status },
    });
  }
  const limits = at.rules.limits;
  if (run.asked >= limits.asksPerRun) {
    throw new Refusal(
      "too_many",
      `This run has asked ${run.asked} questions; at most ${limits.asksPerRun} are accepted. Decide the rest yourself and write down what you assumed`,
    );
  }
  const oldest = run.askedAt[0];
  if (run.askedAt.length >= limits.asksPerMinute && oldest !== undefined && msBetween(oldest, at.now) < MINUTE_MS) {
    const waitMs = MINUTE_MS - msBetween(oldest, at.now);
    throw new Refusal(
      "rate_limited",
      `This run asked ${limits.asksPerMinute} questions within a minute; ask again in ${Math.ceil(waitMs / 1000)} s`,
      { retryAfterMs: waitMs },
    );
  }
}

/**
 * Only the session of an agent that is there again goes on after its run has ended; a run that somebody cancelled does
 * not, and neither does what is left over of an agent that askd started.
 */
function mayReopen(run: Run, epoch: number | undefined, input: AskInput): boolean {
  if (run.status === "cancelled" || (run.status === "skipped" && !isForeignSession(run))) return false;
  if (run.implicit) return true;
  return epoch === undefined && run.session !== undefined && (input.via === "mcp" || input.via === "hook");
}

/** A person goes on in a session whose run had ended: nobody here has started its agent now. */
function reopened(run: Run): Run {
  if (run.implicit) return run;
  const isHeadless = run.seen?.isAttended === false;
  return { ...run, implicit: true, giveBack: isHeadless ? "worker" : "poll", result: undefined };
}

function newQuestion(run: Run, content: Content, input: AskInput, followed: Question | undefined, at: At): Pending {
  const hash = hashContent(content);
  const id = at.ids.question();
  const { timeoutMs, onTimeout } = deadlineOf(content, input, followed, at);
  const { risk, riskSource } = settleRisk(input, followed, at.by);
  return {
    status: "pending",
    id,
    version: 0,
    runId: run.id,
    // The client's own key, or one that only a question that is still open can match.
    key: input.key === undefined ? `${hash}#${run.asked}` : `=${input.key}`,
    content: contentName(id, hash),
    title: titleOf(content),
    kind: input.kind,
    risk,
    riskSource,
    confidence: input.confidence,
    askedAt: at.now,
    askedBy: at.by,
    via: input.via,
    dueAt: timeoutMs === undefined ? undefined : later(at.now, timeoutMs),
    timeoutMs,
    onTimeout,
    escalated: 0,
    accepts: input.accepts,
    notify: followed?.notify ?? input.notify,
    to: followed?.to ?? input.to,
    issue: input.issue ?? run.issue,
    approvals: followed?.approvals ?? input.approvals,
    fingerprint: input.tool && fingerprintOf(input.tool),
    thread: followed && threadOf(followed),
    votes: [],
    comments: [],
    reminders: 0,
    amendments: [],
    claim: undefined,
    snoozedUntil: undefined,
    hold:
      input.holdMs === undefined
        ? undefined
        : { until: later(at.now, input.holdMs), after: input.afterHold, windowMs: input.holdMs },
    settling: undefined,
    ...NOT_CLOSED,
  };
}

/**
 * A question that continues another has as much time as that had at first, and the same policy, unless it declares its
 * own; its clock begins when it is asked.
 */
function deadlineOf(
  content: Content,
  input: AskInput,
  followed: Question | undefined,
  at: At,
): Pick<Pending, "timeoutMs" | "onTimeout"> {
  const isKept = followed && !input.declares.onTimeout && mayAnswerLike(followed.onTimeout.answer, content, at);
  const firstMs = followed?.timeoutMs ?? (followed?.dueAt && msBetween(followed.askedAt, followed.dueAt));
  return {
    timeoutMs: followed && !input.declares.timeout ? firstMs : input.timeoutMs,
    onTimeout: isKept ? followed.onTimeout : input.onTimeout,
  };
}

/** Says whether an answer for the deadline fits what is asked now. */
function mayAnswerLike(answer: string | undefined, content: Content, at: At): boolean {
  if (answer === undefined) return true;
  try {
    matchAnswer(content, defaultInput(answer), at.rules.limits);
    return true;
  } catch (error) {
    if (error instanceof Refusal) return false;
    throw error;
  }
}

function threadOf(question: Question): QuestionId {
  return question.thread ?? question.id;
}

/** A run that only exists for this ask has no process to be seen: without a hold it waits from the start. */
function statusAfterAsk(run: Run, input: AskInput): Run["status"] {
  if (run.implicit && input.holdMs === undefined) return "awaiting_input";
  return "running";
}

function maySkipAsking(question: Pending, at: At): boolean {
  const bands = at.rules.confidence;
  return (
    bands !== undefined &&
    question.confidence !== undefined &&
    question.confidence >= bands.act &&
    question.kind === "question" &&
    question.risk !== "high" &&
    question.approvals.from.length === 0 &&
    question.approvals.need === 1
  );
}

/** An agent that is sure enough goes on with what it recommends; that is written down as a policy's answer. */
function decideByConfidence(changes: Changes, read: Read & { question: Pending }, at: At): Changes & { read: Read } {
  const picks = read.content.items.map((item) => [item.id, recommendedOption(item)] as const);
  if (picks.some(([, option]) => option === undefined)) return { ...changes, read };
  const items = Object.fromEntries(picks.map(([id, option]) => [id, { values: option ? [option.value] : [] }]));
  const by = { scope: "system", id: "confidence", channel: "policy", strength: "none" } as const;
  const answer = { id: at.ids.outcome(), outcome: "answer" as const, items, by, at: at.now, policy: "confidence" };
  const closed = close(
    read,
    { ...read.question, ...NOT_OPEN, status: "answered", answer, handover: { state: "owed" } },
    at,
  );
  const question = closed.questions[0] ?? read.question;
  return {
    ...changes,
    ...closed,
    questions: [...closed.questions, ...(changes.questions?.slice(1) ?? [])],
    events: [
      ...(changes.events ?? []),
      questionEvent("answered", read.question, question, at, { policy: "confidence" }),
      ...closed.events,
    ],
    dropped: changes.dropped ?? [],
    read: { ...read, run: closed.runs[0] ?? read.run, question },
  };
}
