import type { Read } from "../core/changes.ts";
import type { QuestionId } from "../core/id.ts";
import type { Question } from "../core/question.ts";
import { type Similar, type Words, isPersonsAnswer, nearestTitles, rankSimilar, titleWords } from "../core/similar.ts";
import type { Change, Store } from "../store/store.ts";
import { nextTurn } from "./turn.ts";

/** How far back is looked: nothing is indexed for this, so that asking and answering stay as fast as they are. */
const MOST_LOOKED_AT = 2_000;
const PAGE = 250;
const MOST_READ = 40;
/** More changes than this are not looked at one by one. */
const MOST_CHANGED = 200;

interface SimilarDeps {
  store: Pick<Store, "listQuestions" | "findQuestion">;
  read: (id: QuestionId) => Promise<Read>;
}

interface Precedent {
  id: QuestionId;
  words: Words;
}

type Past = ReadonlyMap<QuestionId, Precedent>;

/** What people answered lately. It is read once and then kept up to date by what the store says has changed. */
export class Precedents {
  readonly #deps: SimilarDeps;
  readonly #changed = new Set<QuestionId>();
  #past: Past | undefined;
  #losses = 0;
  #reading: Promise<unknown> = Promise.resolve();

  constructor(deps: SimilarDeps) {
    this.#deps = deps;
  }

  noteChange({ all, questions }: Change): void {
    if (!all && this.#changed.size + questions.size <= MOST_CHANGED) {
      for (const id of questions) this.#changed.add(id as QuestionId); // what is none is not found
      return;
    }
    this.#changed.clear();
    this.#past = undefined;
    this.#losses += 1;
  }

  /** What people answered to questions like this one; the few that come nearest are read in full. */
  async find(id: QuestionId, limit: number): Promise<Similar[]> {
    const { read } = this.#deps;
    const asked = await read(id);
    const past = [...(await this.#readPast()).values()].filter((each) => each.id !== id);
    const newest = past.sort((one, other) => (one.id < other.id ? 1 : -1)).slice(0, MOST_LOOKED_AT);
    const { near, weight } = nearestTitles(asked, newest, MOST_READ);
    return rankSimilar(asked, await Promise.all(near.map((each) => read(each.id))), { weight, limit });
  }

  /** One after the other, so that no change falls between two who read. */
  #readPast(): Promise<Past> {
    const mine = this.#reading.then(() => this.#update());
    this.#reading = mine.catch(() => undefined);
    return mine;
  }

  async #update(): Promise<Past> {
    const changed = [...this.#changed];
    const known = this.#past;
    this.#changed.clear();
    // Until all is read nothing is known: if reading fails, or the store loses sight of changes, all is read again.
    this.#past = undefined;
    const losses = this.#losses;
    const past = known ? await this.#catchUp(known, changed) : await this.#readNewest();
    if (this.#losses === losses) this.#past = past;
    return past;
  }

  async #catchUp(known: Past, changed: readonly QuestionId[]): Promise<Past> {
    if (changed.length === 0) return known;
    const past = new Map(known);
    for (const id of changed) {
      const question = await this.#deps.store.findQuestion(id);
      past.delete(id);
      if (question) addTo(past, question);
    }
    const oldest = [...past.keys()].sort().slice(0, Math.max(0, past.size - MOST_LOOKED_AT));
    for (const id of oldest) past.delete(id);
    return past;
  }

  async #readNewest(): Promise<Past> {
    const past = new Map<QuestionId, Precedent>();
    let after: QuestionId | undefined;
    for (let looked = 0; looked < MOST_LOOKED_AT; looked += PAGE) {
      const filter = { status: "answered", order: "newest", limit: PAGE } as const;
      const page = await this.#deps.store.listQuestions({ ...filter, ...(after && { after }) });
      for (const question of page) addTo(past, question);
      after = page.at(-1)?.id;
      if (page.length < PAGE) break;
      await nextTurn();
    }
    return past;
  }
}

function addTo(past: Map<QuestionId, Precedent>, question: Question): void {
  if (isPersonsAnswer(question)) past.set(question.id, { id: question.id, words: titleWords(question.title) });
}
