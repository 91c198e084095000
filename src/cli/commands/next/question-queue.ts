import type { QuestionSnapshot } from "../../../core/changes.ts";
import { actorName } from "../../../core/people/actor.ts";
import { compareUrgency } from "../../../core/people/inbox.ts";
import type { Instant } from "../../../core/instant.ts";
import type { PendingQuestion, Question } from "../../../core/question/question.ts";
import { sameQuestionKey } from "../../../core/question/same-question.ts";
import type { Engine } from "../../../engine/engine.ts";
import type { QuestionPredicate } from "../inspect/question-filter.ts";
import type { QuestionCard } from "./next-state.ts";

const MOST = 500;

type Waiting = QuestionSnapshot & { question: PendingQuestion };

/** Reads the waiting questions repeatedly; unchanged ones are read only once. */
export class QuestionQueue {
  readonly #engine: Engine;
  readonly #wanted: QuestionPredicate;
  #known = new Map<string, QuestionSnapshot>();

  constructor(engine: Engine, wanted: QuestionPredicate) {
    this.#engine = engine;
    this.#wanted = wanted;
  }

  /** The waiting questions for this person, as cards in order. */
  async read(user: string): Promise<{ cards: QuestionCard[]; now: Instant }> {
    const { open, now } = await this.#readOpen();
    const offered = open.filter((read) => this.#isOffered(read, now));
    return { cards: groupSame(sortUrgent(offered, user)), now };
  }

  /** How many questions wait for this person, and how many others are open: snoozed, voted on, not asked for here. */
  async count(user: string): Promise<{ waiting: number; others: number }> {
    const { open, now } = await this.#readOpen();
    const hasVoted = ({ question }: Waiting) => question.votes.some(({ by }) => actorName(by) === user);
    const waiting = open.filter((read) => this.#isOffered(read, now) && !hasVoted(read)).length;
    return { waiting, others: open.length - waiting };
  }

  /** The open questions; those that were just answered are not among them. */
  async #readOpen() {
    const now = await this.#engine.now();
    const pending = await this.#engine.listQuestions({ status: "pending", order: "oldest", limit: MOST });
    const reads = await Promise.all(pending.map((question) => this.#readOne(question)));
    this.#known = new Map(reads.map((read) => [read.question.id, read]));
    return { open: reads.filter(isOpen), now };
  }

  #isOffered(read: Waiting, now: Instant) {
    const { snoozedUntil } = read.question;
    return !(snoozedUntil !== undefined && snoozedUntil > now) && this.#wanted(read);
  }

  async #readOne(question: Question) {
    const known = this.#known.get(question.id);
    return known?.question.version === question.version ? known : this.#engine.read(question.id);
  }
}

/** Sorts by deadline, then risk, then age; questions claimed by others come last. */
export function sortUrgent(reads: readonly Waiting[], user: string): Waiting[] {
  const isTaken = ({ question }: Waiting) => Number(question.claim !== undefined && question.claim.by.id !== user);
  return reads.toSorted((one, other) => isTaken(one) - isTaken(other) || compareUrgency(one.question, other.question));
}

/** Groups identical questions under the most urgent of them. */
export function groupSame(reads: readonly Waiting[]): QuestionCard[] {
  const cards = new Map<string, QuestionCard>();
  for (const read of reads) {
    const name = sameQuestionKey(read) ?? read.question.id;
    const card = cards.get(name);
    cards.set(name, card ? { ...card, same: [...card.same, read] } : { read, same: [] });
  }
  return [...cards.values()];
}

function isOpen(read: QuestionSnapshot): read is Waiting {
  return read.question.status === "pending" && read.question.settling === undefined;
}
