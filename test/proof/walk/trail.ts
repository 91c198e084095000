import type { Kept } from "../promise.ts";
import type { Fact, Ledger } from "./ledger.ts";
import type { Ask } from "./plan.ts";
import { tagOf } from "./unit.ts";

/** How soon after it was taken back a reply must not have been followed by the deadline. */
const AT_ONCE_MS = 250;

/** Judges what the audit trail of a run says against what was done and acknowledged. */
export function judgeTrail(
  { run, questions, events }: Kept,
  { facts, asks, ledger }: { facts: readonly Fact[]; asks: ReadonlyMap<string, Ask>; ledger: Ledger },
): void {
  for (const fact of facts) judgeFact(fact, facts, questions, ledger);
  for (const question of questions) {
    const own = events.filter(({ questionId }) => questionId === question.id);
    const tag = tagOf(question) ?? question.id;
    const closedAt = own.find(({ type }) => type === "question.answered")?.at;
    const undone = own.findLast(({ type }) => type === "question.undone");
    const expired = own.find(({ type }) => type === "question.timed_out");
    const isAtOnce = undone && expired && Date.parse(expired.at) - Date.parse(undone.at) < AT_ONCE_MS;
    if (isAtOnce && !isLate(own, undone, findAsk(asks, tag)))
      ledger.fault("an undone answer was followed by the deadline at once", tag, run.id);
    const fact = facts.find(
      ({ deed, questionId }) => deed.do === "answer" && deed.said.undoMs > 0 && questionId === question.id,
    );
    const window =
      fact?.deed.do === "answer" && question.status === "answered" && fact.outcomeId === question.answer.id
        ? fact.deed.said.undoMs
        : 0;
    if (
      window > 0 &&
      closedAt !== undefined &&
      question.status === "answered" &&
      Date.parse(closedAt) - Date.parse(question.answer.at) < window
    )
      ledger.fault("an answer was closed inside its undo window", `${tag}: ${window} ms`, run.id);
    for (const { id, handover } of question.amendments) {
      const sent = own.find(({ type, detail }) => type === "question.amended" && detail?.["id"] === id);
      const failed = own.some(({ type }) => type === "question.delivery_failed");
      if (handover.state === "void" && sent?.detail?.["delivered"] === true && !failed)
        ledger.fault("the trail says that a correction was delivered, and it was not", `${tag}: ${id}`, run.id);
    }
  }
}

/** A reply that came when no time was left, or whose deadline others moved, leaves none when it is taken back. */
function isLate(own: Kept["events"], undone: Kept["events"][number], ask: Ask | undefined): boolean {
  const before = own.slice(0, own.indexOf(undone));
  const replied = before.findLast(({ type }) => type === "question.settling");
  const asked = before.find(({ type }) => type === "question.asked");
  if (!replied || !asked || !ask || before.some(({ type }) => MOVED.has(type))) return true;
  const waitedMs = Date.parse(replied.at) - Date.parse(asked.at);
  return Number.parseInt(ask.timeout, 10) - waitedMs < AT_ONCE_MS;
}

function findAsk(asks: ReadonlyMap<string, Ask>, tag: string | undefined): Ask | undefined {
  return asks.get(tag?.replace(/\.\d$/, "") ?? "");
}

/** What changes a deadline: people, escalation, setting aside, and an answer that was taken back. */
const MOVED: ReadonlySet<string> = new Set([
  "question.extended",
  "question.escalated",
  "question.parked",
  "question.undone",
]);

/** Every question has the time that its own ask gave it, also one that explains an earlier one. */
export function judgeDeadlines({ run, questions, events }: Kept, asks: ReadonlyMap<string, Ask>, ledger: Ledger): void {
  for (const { id, title, askedAt, dueAt, ...question } of questions) {
    const tag = tagOf({ title });
    const ask = findAsk(asks, tag);
    const isMoved = events.some(
      ({ questionId, type, detail }) =>
        questionId === id && MOVED.has(type) && (type !== "question.parked" || detail?.["policy"] !== undefined),
    );
    if (!ask || isMoved || ask.on_timeout === "wait" || question.status === "cancelled") continue;
    const gotMs = dueAt === undefined ? Number.NaN : Date.parse(dueAt) - Date.parse(askedAt);
    if (gotMs !== Number.parseInt(ask.timeout, 10))
      ledger.fault(
        "a question does not have its own deadline",
        `${tag}: ${gotMs} ms instead of ${ask.timeout}`,
        run.id,
      );
  }
}

/** What was acknowledged is in the store to the end, unless it was taken back while it could be. */
function judgeFact(fact: Fact, facts: readonly Fact[], questions: Kept["questions"], ledger: Ledger): void {
  const { deed, questionId, outcomeId, runId } = fact;
  const question = questions.find(({ id }) => id === questionId);
  if (questionId !== undefined && !question)
    return ledger.fault("an acknowledged deed has lost its question", questionId, runId);
  if (!question || outcomeId === undefined || JSON.stringify(question).includes(outcomeId)) return;
  const isUndoable = deed.do === "answer" && deed.said.undoMs > 0;
  const mayBeUndone = facts.some((other) => other.questionId === questionId && other.deed.do === "undo");
  if (isUndoable && (mayBeUndone || question.status === "cancelled")) return;
  ledger.fault(`an acknowledged ${deed.do} is not in the store`, `${question.id}: ${outcomeId}`, runId);
}
