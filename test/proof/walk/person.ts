import type { QuestionId } from "../../../src/core/id.ts";
import type { Question } from "../../../src/core/question/question.ts";
import type { Run } from "../../../src/core/run/run.ts";
import { QuestionView } from "../../../src/core/api/view.ts";
import { type Deed, type QuestionDeed, type RunDeed, requestFor, whoDoes, wordsFor } from "./deed.ts";
import { findMissing } from "./effect.ts";
import type { Ledger } from "./ledger.ts";
import { type Prediction, type Sight, predict, predictRun } from "./predict.ts";
import type { Reply } from "./reply.ts";
import type { Stage } from "./stage.ts";

type Kill = { afterMs: number; signal: NodeJS.Signals };

/** The rows that a deed concerns, as they were read before and after it. */
interface Rows {
  before: Pick<Sight, "run"> & Partial<Sight>;
  after: Pick<Sight, "run"> & Partial<Sight>;
}

/** Does what people do, and holds every reply against what the oracle says may come of it. */
export class People {
  readonly #stage: Stage;
  readonly #ledger: Ledger;
  /** How each closed question was seen first: its outcome never changes. */
  readonly #outcomes = new Map<QuestionId, string>();

  constructor(stage: Stage, ledger: Ledger) {
    this.#stage = stage;
    this.#ledger = ledger;
  }

  /** Does something to a question; a command may be killed on its way. */
  async do(deed: QuestionDeed, kill?: Kill): Promise<void> {
    const before = await this.look(deed.id);
    if (!before) return;
    const reply = await this.#send(deed, kill);
    const after = await this.look(deed.id);
    if (!after) return this.#ledger.fault("a question is gone", deed.id, before.run.id);
    const what = sayDeed(deed);
    this.#ledger.step(deed.do, before.run.id, `${what} -> ${sayReply(reply)}`);
    const allowed = [predict(deed, before), predict(deed, after)];
    this.#judge(deed, reply, allowed, { before, after });
    const isDone = reply.is === "done" || (reply.is === "unknown" && hasHappened(deed, before, after));
    if (!isDone) return;
    const { run } = before;
    const outcomeId = outcomeOf(deed, after);
    this.#ledger.facts.push({ deed, runId: run.id, questionId: deed.id, outcomeId, atMs: Date.now() });
    for (const missing of findMissing(deed, before, after))
      this.#ledger.fault(
        `${deed.do} was acknowledged, but ${missing.replace(/"[^"]*"|\[[^\]]*\]/g, "…")}`,
        `${what}: ${missing}`,
        run.id,
      );
    if (reply.is === "done" && deed.way === "rest") this.#checkView(deed, reply.body, run.id);
  }

  async doToRun(deed: RunDeed): Promise<void> {
    const before = await this.#stage.store.findRun(deed.runId);
    const reply = await this.#send(deed);
    const after = await this.#stage.store.findRun(deed.runId);
    if (!before || !after) return;
    this.#ledger.step(deed.do, deed.runId, `by ${whoDoes(deed)} (${deed.way}) -> ${sayReply(reply)}`);
    const rows = { before: { run: before }, after: { run: after } };
    this.#judge(deed, reply, [await this.#predictRun(deed, before), await this.#predictRun(deed, after)], rows);
    const isCancelled = deed.do === "cancel run" && after.status === "cancelled" && before.status !== "cancelled";
    if (reply.is !== "done" && !(reply.is === "unknown" && isCancelled)) return;
    const unnamed = { questionId: undefined, outcomeId: undefined };
    this.#ledger.facts.push({ deed, runId: deed.runId, ...unnamed, atMs: Date.now() });
    if (deed.do === "cancel run" && after.status !== "cancelled")
      this.#ledger.fault("a run was cancelled, but goes on", `it is ${after.status}`, deed.runId);
  }

  async #predictRun(deed: RunDeed, run: Run): Promise<Prediction> {
    const owed = await Promise.all(run.owes.map((id) => this.#stage.store.findQuestion(id)));
    return predictRun(
      deed,
      run,
      owed.filter((question) => question !== undefined),
    );
  }

  /** The rows of a question; its outcome has to be the one that was seen before. */
  async look(id: QuestionId): Promise<Sight | undefined> {
    const { store } = this.#stage;
    const question = await store.findQuestion(id);
    const run = question && (await store.findRun(question.runId));
    const content = question && (await store.findContent(question.content));
    if (!question || !run || !content) return undefined;
    this.#holdOutcome(question);
    return { question, run, content };
  }

  #holdOutcome(question: Question): void {
    if (question.status === "pending") {
      if (this.#outcomes.has(question.id)) this.#ledger.fault("a closed question is open", question.id, question.runId);
      return;
    }
    const answer = question.status === "cancelled" ? undefined : question.answer;
    const now = `${question.status} ${answer?.id ?? ""}`;
    const first = this.#outcomes.get(question.id) ?? now;
    this.#outcomes.set(question.id, first);
    if (first !== now)
      this.#ledger.fault("a question has two outcomes", `${question.id} was ${first}, is ${now}`, question.runId);
  }

  #send(deed: Deed, kill?: Kill): Promise<Reply> {
    if (deed.way === "rest") return this.#stage.request(requestFor(deed), deed.by);
    return this.#stage.command(wordsFor(deed), deed, kill);
  }

  #judge(deed: Deed, reply: Reply, allowed: readonly Prediction[], rows: Rows): void {
    const { run } = rows.before;
    if (reply.is === "unknown") return;
    if (reply.is === "wrong") return this.#ledger.fault(`${deed.do} failed`, reply.words, run.id);
    const isContested = countChanges(rows) > (reply.is === "done" ? 1 : 0);
    const expected = allowed.map(({ refusals, maybe }) => [...refusals, ...maybe].join("|") || "done").join(" or ");
    if (reply.is === "done") {
      if (allowed.some(({ refusals }) => refusals.length === 0)) return;
      if (isContested) return this.#ledger.contest();
      return this.#ledger.fault(`${deed.do} was taken, but is to be refused`, `${sayDeed(deed)}: ${expected}`, run.id);
    }
    const isExpected = allowed.some(({ refusals, maybe }) =>
      reply.codes.some((code) => refusals.includes(code) || maybe.includes(code)),
    );
    if (isExpected) return;
    if (isContested) return this.#ledger.contest();
    this.#ledger.fault(
      `${deed.do} was refused (${reply.codes.length === 1 ? reply.codes[0] : reply.words.slice(0, 6)}), expected was ${expected}`,
      `${sayDeed(deed)}: ${reply.words}`,
      run.id,
    );
  }

  /** What a program is shown has the shape that it was promised, and all that was said. */
  #checkView(deed: QuestionDeed, body: unknown, runId: Sight["run"]["id"]): void {
    const view = QuestionView.safeParse(body);
    if (!view.success) return this.#ledger.fault("a reply does not have its shape", view.error.message, runId);
    if (deed.do !== "answer" || view.data.status !== "answered" || deed.said.outcome !== "answer") return;
    const shown = JSON.stringify(view.data.answers);
    const said = [...deed.said.values, ...(deed.said.text === undefined ? [] : [deed.said.text])];
    const lost = said.filter((word) => !shown.includes(word) && !shown.includes(word.toLowerCase()));
    if (lost.length > 0 && view.data.answered_by === whoDoes(deed))
      this.#ledger.fault("a reply does not show all that was answered", `${lost.join()} of ${shown}`, runId);
  }
}

/** Says in a line who did what, through what. */
export function sayDeed(deed: Deed): string {
  const { by: _by, way, do: _do, ...rest } = deed;
  return `by ${whoDoes(deed)} (${way}) ${JSON.stringify(rest)}`;
}

function sayReply(reply: Reply): string {
  return reply.is === "done" ? "done" : `${reply.is} ${reply.words.slice(0, 160)}`;
}

/** Where a reply was lost the rows say whether it was done. */
function hasHappened(deed: QuestionDeed, before: Sight, after: Sight): boolean {
  if (before.question.version === after.question.version) return false;
  if (deed.do === "undo") {
    const undone = before.question.status === "pending" ? before.question.settling?.answer.id : undefined;
    return undone !== undefined && !JSON.stringify(after.question).includes(undone);
  }
  return findMissing(deed, before, after).length === 0;
}

/**
 * Commits that changed these rows between the two reads. If there was more than the deed's own, its reply fits a state
 * that nobody has seen.
 */
function countChanges({ before, after }: Rows): number {
  const ofRun = after.run.version - before.run.version;
  const ofQuestion = (after.question?.version ?? 0) - (before.question?.version ?? 0);
  return Math.max(ofRun, ofQuestion);
}

function outcomeOf(deed: QuestionDeed, { question }: Sight) {
  if (deed.do === "amend") return question.amendments.find(({ text }) => text === deed.text)?.id;
  if (deed.do !== "answer") return undefined;
  if (question.status === "timeout") return question.forced?.answer.id;
  if (question.status === "answered") return question.answer.id;
  return question.status === "pending" ? question.settling?.answer.id : undefined;
}
