import type { Read } from "../core/changes.ts";
import type { Content } from "../core/content.ts";
import { shortId, type QuestionId, type RunId } from "../core/id.ts";
import type { Changes } from "../core/changes.ts";
import { type Question, findAnswer } from "../core/question.ts";
import { Refusal } from "../core/refusal.ts";
import type { Run } from "../core/run.ts";
import type { Change, Committed, Store } from "../store/store.ts";

/** As many as may be held at once, and then some. */
const KEPT = 20_000;
/** Longer texts are read again when needed, so that what is remembered stays small. */
const SHORT_CHARS = 4_000;

/**
 * Reads questions with their runs, and remembers the latest that this process wrote until it hears of a change
 * by another. That can be a moment late: a remembered row serves to decide what to commit, where its version is
 * checked, and to wait, where the change is still to be heard; never to refuse or to show.
 */
export class Rows {
  readonly #store: Store;
  readonly #runs = new Map<RunId, Run>();
  readonly #questions = new Map<QuestionId, Question>();
  readonly #contents = new Map<string, Content>();

  constructor(store: Store) {
    this.#store = store;
  }

  /** The question as the store has it now. */
  async read(id: QuestionId): Promise<Read> {
    const question = await this.#store.findQuestion(id);
    if (!question) throw noQuestion(id);
    const [run, content] = await Promise.all([this.readRun(question.runId), this.#readContent(question.content)]);
    return { run, question, content };
  }

  async readRun(id: RunId): Promise<Run> {
    const run = await this.#store.findRun(id);
    if (!run) throw new Refusal("not_found", `There is no run ${id}`, { hint: "See all with: askd status" });
    return run;
  }

  /** What this process last wrote of a question, if it remembers all of it. */
  recall(id: QuestionId): Read | undefined {
    const question = this.#questions.get(id);
    const run = question && this.#runs.get(question.runId);
    const content = question && this.#contents.get(question.content);
    return question && run && content ? { run, question, content } : undefined;
  }

  forget(id: QuestionId): void {
    const question = this.#questions.get(id);
    if (question) this.#runs.delete(question.runId);
    this.#questions.delete(id);
  }

  /** Somebody changed these questions, perhaps in another process. */
  forgetChanged(change: Change): void {
    if (change.all) {
      this.#runs.clear();
      this.#questions.clear();
    }
    for (const id of change.questions) this.#questions.delete(id as QuestionId); // deleting a stranger does no harm
  }

  /** What belongs to a run and is still open: its pending question, and outcomes not yet given. */
  async readOpen(run: Run): Promise<Question[]> {
    const ids = [...(run.pendingId ? [run.pendingId] : []), ...run.owes];
    const found = await Promise.all(ids.map((id) => this.#store.findQuestion(id)));
    return found.filter((question) => question !== undefined);
  }

  /** Remembers what was committed, at the versions it has now. */
  remember(changes: Changes, committed: Extract<Committed, { ok: true }>): void {
    for (const run of changes.runs ?? []) {
      const number = committed.numbers[run.id] ?? run.number;
      keep(this.#runs, run.id, { ...run, number, version: run.version + 1 });
    }
    for (const question of changes.questions ?? []) {
      if (isShortAnswer(question)) keep(this.#questions, question.id, { ...question, version: question.version + 1 });
      else this.#questions.delete(question.id);
    }
    for (const { hash, content } of changes.contents ?? []) this.#rememberContent(hash, content);
  }

  async #readContent(hash: string): Promise<Content> {
    const known = this.#contents.get(hash);
    if (known) return known;
    const content = await this.#store.findContent(hash);
    if (!content)
      throw new Refusal("store_unusable", `The text of a question is missing (${hash})`, { hint: "Restore a backup" });
    this.#rememberContent(hash, content);
    return content;
  }

  #rememberContent(hash: string, content: Content): void {
    const chars = content.items.reduce((sum, { text }) => sum + text.length, content.context?.length ?? 0);
    if (chars <= SHORT_CHARS) keep(this.#contents, hash, content);
  }
}

function isShortAnswer(question: Question): boolean {
  const answer = findAnswer(question);
  if (!answer) return true;
  const texts = Object.values(answer.items).map(({ text }) => text?.length ?? 0);
  return texts.reduce((sum, chars) => sum + chars, answer.note?.length ?? 0) <= SHORT_CHARS;
}

function keep<Key, Value>(map: Map<Key, Value>, key: Key, value: Value): void {
  map.delete(key);
  map.set(key, value);
  if (map.size <= KEPT) return;
  const oldest = map.keys().next();
  if (!oldest.done) map.delete(oldest.value);
}

function noQuestion(id: QuestionId): Refusal {
  return new Refusal("not_found", `There is no question ${shortId(id)}`, {
    hint: "See what is waiting with: askd status",
  });
}
