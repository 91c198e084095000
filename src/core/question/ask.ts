import { allowAddresses } from "../channel/allowed-address.ts";
import { lookCommand, requireAccess } from "../people/access.ts";
import { plainAnswerInput } from "../answer/answer-input.ts";
import { fingerprintOf } from "./approval.ts";
import { ALLOW, ALLOW_RUN, type RunPermission, findPermission, permissionScope } from "./run-permission.ts";
import type { AskInput } from "./ask-input.ts";
import type { DecisionContext, Changes, PendingSnapshot, QuestionSnapshot } from "../changes.ts";
import { type Content, contentName, hashContent, titleOf } from "./content.ts";
import { questionEvent, runEvent } from "../trail/event.ts";
import { timerKey, setTimer } from "./question-timer.ts";
import { answerAtOnce } from "./close-at-once.ts";
import { decideByConfidence } from "./confidence.ts";
import { quoteLine } from "../text/foreign-text.ts";
import { giveOnNextAsk } from "../run/handover.ts";
import { type QuestionId, shortId } from "../id.ts";
import { type Instant, later, msBetween, MINUTE_MS } from "../instant.ts";
import { matchAnswer } from "../answer/match.ts";
import { NOT_CLOSED, type PendingQuestion, type Question, outcomeHandover, owesOutcome } from "./question.ts";
import { redactContent } from "../secret/redact.ts";
import { Refusal } from "../refusal.ts";
import type { Rules } from "../rules.ts";
import { findRoute } from "../channel/route.ts";
import { settleRisk } from "./risk.ts";
import { type Run, hasEnded } from "../run/run.ts";

/** The rows an ask reads: its run, and the run's open questions. */
export interface AskSnapshot {
  run: Run;
  /** Pending, or closed with an outcome that the agent has not received. */
  open: readonly Question[];
  /** The question a person asked back about; this one continues its thread. */
  followed?: Question;
  /** The epoch of the asking agent, if askd started it. */
  epoch?: number | undefined;
  /** When the agent made the call, if earlier than now. */
  calledAt?: Instant | undefined;
  /** The process that waits for the answer, if it can be named. */
  holder?: string | undefined;
  secrets: readonly string[];
}

/** Asks a new question in a run. Callers have excluded a repeated one with `findSameQuestion`. */
export function ask(before: AskSnapshot, input: AskInput, at: DecisionContext): Changes & { read: QuestionSnapshot } {
  const { run, open, followed, holder, secrets } = before;
  requireMayAsk(before, input, at);
  const plain: Content = { items: input.items, context: input.context };
  const content: Content = { ...plain, ...redactContent(plain, secrets, at.rules.redact) };
  if (input.onTimeout.answer !== undefined)
    matchAnswer(content, plainAnswerInput(input.onTimeout.answer), at.rules.limits);
  const asking = newQuestion(run, content, input, followed, at);
  const permission = input.tool && findPermission(run.permissions, input.tool, asking);
  if (!permission) requireWithinLimits(run, at);
  const question: PendingQuestion = asking.hold && holder ? { ...asking, hold: { ...asking.hold, holder } } : asking;
  const taken = giveOnNextAsk(run, open, before.calledAt, at);
  const kept = hasEnded(run) ? reopenRun(run) : run;
  const status = statusAfterAsk(kept, input, before.epoch === undefined && at.by.runId !== run.id);
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
    // Its agent has read the message of its start, which says what nobody was asked.
    mayHaveAsked: before.epoch === undefined ? run.mayHaveAsked : undefined,
    asked: run.asked + 1,
    permitted: permission ? (run.permitted ?? 0) + 1 : run.permitted,
    askedAt: permission ? run.askedAt : [...run.askedAt.slice(-(at.rules.limits.asksPerMinute - 1)), at.now],
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
        key: input.key,
        trace: input.trace,
      }),
    ],
    scheduled: setTimer(question, at.rules).scheduled,
    dropped: taken.questions.filter((each) => !owesOutcome(each)).map(timerKey),
  };
  const read = { run: asked, question, content };
  if (permission) return answerByPermission(changes, { ...read, question }, permission, at);
  const others = open.map((each) => taken.questions.find(({ id }) => id === each.id) ?? each);
  return (
    decideByConfidence(changes, { ...read, question, others, isWanted: run.clarifying !== undefined }, at) ?? {
      ...changes,
      read,
    }
  );
}

/** Finds the open question this ask repeats; never an approval that was already given. */
export function findSameQuestion(open: readonly Question[], input: AskInput): Question | undefined {
  if (input.key !== undefined) return open.find((question) => question.key === `=${input.key}`);
  if (open.length === 0) return undefined;
  return open.find(
    (question) =>
      !question.key.startsWith("=") &&
      isSameContent(question, input) &&
      (question.status === "pending" || question.kind !== "approval") &&
      (question.status === "pending" || owesOutcome(question)),
  );
}

/**
 * Says whether an agent whose call was refused repeats the same ask in another call. An approval that no call has used
 * yet is reused once, also one handed over with a start.
 */
export function isAskedAgain(question: Question, input: AskInput): boolean {
  if (question.key === `=${input.key}` || !isSameAsk(question, input)) return false;
  return question.status !== "pending" || question.hold === undefined;
}

/** Says whether a question asks the same and is pending or has an outcome its agent has not received. */
export function isSameAsk(question: Question, input: AskInput): boolean {
  if (question.kind !== input.kind || !isSameContent(question, input)) return false;
  if (question.status === "pending") return true;
  if (question.kind !== "approval") return owesOutcome(question);
  const handover = outcomeHandover(question);
  return handover.state === "owed" || (handover.state === "handing" && handover.by === "start");
}

/**
 * Says whether an ask has this content. A tool use is the same by its arguments: the words for it depend on the file that
 * it changes. An asker can word an approval like ours without a tool, so equal words are not the same ask.
 */
function isSameContent(question: Question, input: AskInput) {
  if (input.tool) return question.fingerprint === fingerprintOf(input.tool);
  return question.fingerprint === undefined && question.content.endsWith(hashContent(input));
}

/** Refuses the same key with different content. */
export function requireSamePayload(question: Question, input: AskInput): void {
  if (isSameContent(question, input)) return;
  throw new Refusal(
    "key_reused",
    `The key ${quoteLine(input.key ?? "")} was used for another question (${shortId(question.id)}); nothing was asked`,
    {
      hint: "Use a new key for a new question",
    },
  );
}

function requireMayAsk({ run, open, epoch }: AskSnapshot, input: AskInput, at: DecisionContext) {
  requireAccess("ask", at.by, { runId: run.id });
  const pending = open.find((question) => question.status === "pending");
  if (pending) {
    const about = quoteLine(pending.title);
    throw new Refusal("already_pending", `This run already waits for an answer to ${pending.id}: ${about}`, {
      hint: `Look for its answer with: ${lookCommand(at.by, pending.id)}; then ask again`,
    });
  }
  if (hasEnded(run) && !mayReopen(run, epoch, input)) {
    const said = run.status === "cancelled" || run.status === "skipped" ? `was ${run.status}` : "has ended";
    throw new Refusal("run_ended", `Run #${run.number} ${said}; it can no longer ask. Stop now`, {
      fact: { is: "run_ended", number: run.number, status: run.status },
    });
  }
}

function requireWithinLimits(run: Run, at: DecisionContext) {
  const limits = at.rules.limits;
  const count = run.asked - (run.permitted ?? 0);
  if (count >= limits.asksPerRun) {
    throw new Refusal(
      "too_many",
      `This run has asked ${count} questions; at most ${limits.asksPerRun} are accepted. Decide the rest yourself and write down what you assumed`,
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
 * Only the session of an agent that is back continues after its run has ended; a cancelled run does not, nor do
 * leftovers of an agent that askd started.
 */
function mayReopen(run: Run, epoch: number | undefined, input: AskInput) {
  if (run.status === "cancelled" || run.status === "skipped") return false;
  if (run.implicit) return true;
  return epoch === undefined && run.session !== undefined && (input.via === "mcp" || input.via === "hook");
}

/** Reopens the run of a session that a person continues: its agent was not started by askd. */
function reopenRun(run: Run): Run {
  if (run.implicit) return run;
  const isHeadless = run.seen?.isAttended === false;
  return { ...run, implicit: true, giveBack: isHeadless ? "worker" : "poll", result: undefined };
}

function newQuestion(
  run: Run,
  content: Content,
  input: AskInput,
  followed: Question | undefined,
  at: DecisionContext,
): PendingQuestion {
  const hash = hashContent(content);
  const id = at.ids.question();
  const { timeoutMs, onTimeout } = deadlineOf(content, input, followed, at);
  const { risk, riskSource } = settleRisk(input, followed, at.by);
  const routed = routeOf({ ...input, risk, riskSource }, run, followed, at.rules);
  return {
    status: "pending",
    id,
    version: 0,
    runId: run.id,
    // The client's key, or a content hash that only an open question can match.
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
    notify: allowAddresses(routed.notify, at.rules.addresses),
    route: routed.route,
    to: routed.to,
    issue: input.issue ?? run.issue,
    approvals: followed?.approvals ?? input.approvals,
    fingerprint: input.tool && fingerprintOf(input.tool),
    permits: input.tool && permissionScope(input.tool),
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
 * The people and channels of a question: of the thread that it follows, its own, or those of the first rule that matches.
 * Channels that are not configured here leave the choice to the rule.
 */
function routeOf(
  { to, notify, ...asked }: Pick<PendingQuestion, "to" | "notify" | "kind" | "risk" | "riskSource">,
  run: Run,
  followed: Question | undefined,
  { routes, reach }: Rules,
): Pick<PendingQuestion, "to" | "notify" | "route"> {
  if (followed) return { to: followed.to, notify: followed.notify, route: followed.route };
  const isReached = notify.some(({ channel }) => reach.some(({ name }) => name === channel));
  const route = findRoute(routes, asked, run);
  if (!route || (to.length > 0 && isReached)) return { to, notify, route: undefined };
  return {
    to: to.length > 0 ? to : [...route.people],
    notify: isReached ? notify : [...notify, ...route.channels.map((channel) => ({ channel }))],
    route: route.name,
  };
}

/**
 * A follow-up has the duration and policy of the first question unless it declares its own; its clock starts when it is
 * asked.
 */
function deadlineOf(
  content: Content,
  input: AskInput,
  followed: Question | undefined,
  at: DecisionContext,
): Pick<PendingQuestion, "timeoutMs" | "onTimeout"> {
  const isKept = followed && !input.declares.onTimeout && mayAnswerLike(followed.onTimeout.answer, content, at);
  const firstMs = followed?.timeoutMs ?? (followed?.dueAt && msBetween(followed.askedAt, followed.dueAt));
  return {
    timeoutMs: followed && !input.declares.timeout ? firstMs : input.timeoutMs,
    onTimeout: isKept ? followed.onTimeout : input.onTimeout,
  };
}

/** Says whether a default answer fits this content. */
function mayAnswerLike(answer: string | undefined, content: Content, at: DecisionContext) {
  if (answer === undefined) return true;
  try {
    matchAnswer(content, plainAnswerInput(answer), at.rules.limits);
    return true;
  } catch (error) {
    if (error instanceof Refusal) return false;
    throw error;
  }
}

function threadOf(question: Question): QuestionId {
  return question.thread ?? question.id;
}

/** A run made for this ask has no process to watch: without a hold it awaits input from the start. */
function statusAfterAsk(run: Run, input: AskInput, isFromOutside: boolean): Run["status"] {
  if (run.implicit && input.holdMs === undefined) return "awaiting_input";
  // Somebody else asks in its name: its agent is as it was, and a worker starts it when it is owed something.
  if (isFromOutside && !run.implicit && run.giveBack === "worker") return run.status;
  return "running";
}

/** A tool use that a person allowed for the rest of the run; the trail names the answer that allowed it. */
function answerByPermission(
  changes: Changes,
  read: PendingSnapshot,
  { answerId, questionId }: RunPermission,
  at: DecisionContext,
): Changes & { read: QuestionSnapshot } {
  const items = Object.fromEntries(read.content.items.map(({ id }) => [id, { values: [ALLOW] }]));
  return answerAtOnce(changes, read, { items, policy: ALLOW_RUN, allowedBy: answerId, allowedIn: questionId }, at);
}
