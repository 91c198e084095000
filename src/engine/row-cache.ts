import type { QuestionSnapshot } from "../core/changes.ts";
import type { Content } from "../core/question/content.ts";
import { shortId, type QuestionId, type RunId } from "../core/id.ts";
import { type Question, findAnswer } from "../core/question/question.ts";
import { Refusal } from "../core/refusal.ts";
import type { Run } from "../core/run/run.ts";
import { UNREADABLE_CONTENT } from "../store/row.ts";
import type { StoreChange, Store } from "../store/store.ts";
import { RecentCache } from "./recent-cache.ts";

/** As many as may be held at once, and then some. */
const OPEN_KEPT = 20_000;
/** Few: callers that waited for a question read it at once after it closes. */
const CLOSED_KEPT = 256;
const CONTENTS_KEPT = 1_000;
const QUESTIONS_AT_ONCE = 500;
/** Longer texts are read again when needed, so that what is remembered stays small. */
const SHORT_CHARS = 4_000;

/**
 * Reads questions with their runs, and remembers the latest that this process wrote until it hears of a change
 * by another. That can be a moment late: a remembered row serves to decide what to commit, where its version is
 * checked, and to wait, where the change is still to be heard; never to refuse or to show.
 */
export class RowCache {
  readonly #store: Store;
  readonly #open = new RecentCache<QuestionSnapshot>(OPEN_KEPT);
  readonly #closed = new RecentCache<QuestionSnapshot>(CLOSED_KEPT);
  readonly #contents = new RecentCache<Content>(CONTENTS_KEPT);

  constructor(store: Store) {
    this.#store = store;
  }

  /** The question as the store has it now. */
  async read(id: QuestionId): Promise<QuestionSnapshot> {
    const question = await this.#store.findQuestion(id);
    if (!question) throw noQuestion(id);
    const [run, content] = await Promise.all([
      this.#store.findRun(question.runId),
      this.#readContent(question.content),
    ]);
    if (!run) throw lostRun(this.#reportLost(`run ${question.runId}`));
    return { run, question, content };
  }

  /**
   * These questions, which other rows name, as the store has them now, in the same order, with a few reads for all of
   * them. Those that cannot be read because a row is damaged or gone are left out, and reported.
   */
  async readMany(ids: readonly QuestionId[]): Promise<QuestionSnapshot[]> {
    if (ids.length === 0) return [];
    const questions = new Map((await this.#store.readQuestions(ids)).map((question) => [question.id, question]));
    const contents = new Map<string, Content>();
    const unknown = new Set<string>();
    for (const { content: hash } of questions.values()) {
      const known = this.#contents.get(hash);
      if (known) contents.set(hash, known);
      else unknown.add(hash);
    }
    const [runs, fetched] = await Promise.all([
      this.#store.readRuns([...new Set([...questions.values()].map(({ runId }) => runId))]),
      unknown.size === 0 ? contents : this.#store.readContents([...unknown]),
    ]);
    const byId = new Map(runs.map((run) => [run.id, run]));
    return ids.flatMap((id) => {
      const question = questions.get(id);
      const run = question && byId.get(question.runId);
      if (!question || !run) {
        this.#reportLost(question ? `run ${question.runId}` : `question ${shortId(id)}`);
        return [];
      }
      const content = contents.get(question.content) ?? fetched.get(question.content);
      return { run, question, content: content ?? this.#lostContent(question.content) };
    });
  }

  async readRun(id: RunId): Promise<Run> {
    return (await this.#store.findRun(id)) ?? noRun(id);
  }

  /** The question as this process last wrote it, if it is still cached. */
  recall(id: QuestionId): QuestionSnapshot | undefined {
    return this.#open.get(id) ?? this.#closed.get(id);
  }

  /** Remembers a question as it was just written. */
  remember(read: QuestionSnapshot): void {
    const { id, status } = read.question;
    this.forget(id);
    if (charsOf(read) <= SHORT_CHARS) (status === "pending" ? this.#open : this.#closed).set(id, read);
  }

  forget(id: string): void {
    this.#open.delete(id);
    this.#closed.delete(id);
  }

  /** Somebody changed these questions, perhaps in another process. */
  forgetChanged(change: StoreChange): void {
    if (change.all) {
      this.#open.clear();
      this.#closed.clear();
    }
    for (const id of change.questions) this.forget(id);
  }

  /** The open questions of a run: its pending question, and outcomes not yet given. */
  readOpen(run: Run): Promise<Question[]> {
    return this.readQuestions([...(run.pendingId ? [run.pendingId] : []), ...run.owes]);
  }

  /** These questions as far as they are there, in the same order. */
  async readQuestions(ids: readonly QuestionId[]): Promise<Question[]> {
    const found = await Promise.all(ids.map((id) => this.#store.findQuestion(id)));
    return found.filter((question) => question !== undefined);
  }

  async #readContent(hash: string) {
    const known = this.#contents.get(hash);
    if (known) return known;
    const content = await this.#store.findContent(hash);
    if (!content) return this.#lostContent(hash);
    this.#contents.set(hash, content);
    return content;
  }

  /** Stands for the text of a question that is gone, so that the question can still be seen and closed. */
  #lostContent(hash: string) {
    this.#reportLost(`text ${hash}`);
    return UNREADABLE_CONTENT;
  }

  /** A damaged row that others name was reported before, by its number. */
  #reportLost(name: string) {
    if (this.#store.listUnreadable().length === 0) this.#store.reportLost(name);
    return name;
  }
}

function charsOf({ question, content }: QuestionSnapshot) {
  const answer = findAnswer(question);
  const said = answer ? Object.values(answer.items).reduce((sum, { text }) => sum + (text?.length ?? 0), 0) : 0;
  const asked = content.items.reduce((sum, { text }) => sum + text.length, content.context?.length ?? 0);
  return asked + said + (answer?.note?.length ?? 0);
}

function noRun(id: RunId): never {
  throw new Refusal("not_found", `There is no run ${id}`, { hint: "See all with: askd status" });
}

function lostRun(name: string) {
  return new Refusal("store_unusable", `The ${name} of this question is gone from the store.`, {
    hint: "Rebuild it from its trail: askd doctor --fix",
  });
}

function noQuestion(id: QuestionId) {
  return new Refusal("not_found", `There is no question ${shortId(id)}`, {
    hint: "See what is waiting with: askd status",
  });
}

/** Every question of a run, oldest first. */
export async function allQuestions(store: Store, runId: RunId): Promise<Question[]> {
  const all: Question[] = [];
  for (;;) {
    const last = all.at(-1)?.id;
    const page = await store.listQuestions({ runId, order: "oldest", limit: QUESTIONS_AT_ONCE, after: last });
    all.push(...page);
    if (page.length < QUESTIONS_AT_ONCE) return all;
  }
}
