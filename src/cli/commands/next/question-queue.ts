import type { Read } from "../../../core/changes.ts";
import { compareUrgency } from "../../../core/people/inbox.ts";
import type { Instant } from "../../../core/instant.ts";
import type { Pending, Question } from "../../../core/question/question.ts";
import { sameName } from "../../../core/question/same-question.ts";
import type { Engine } from "../../../engine/engine.ts";
import type { Wanted } from "../inspect/question-filter.ts";
import type { Card } from "./next-state.ts";

const MOST = 500;

type Waiting = Read & { question: Pending };

/** Reads what waits, again and again; what has not changed since is not read twice. */
export class Queue {
  readonly #engine: Engine;
  readonly #wanted: Wanted;
  #known = new Map<string, Read>();

  constructor(engine: Engine, wanted: Wanted) {
    this.#engine = engine;
    this.#wanted = wanted;
  }

  /** What waits now for this person, as cards in the order in which they are offered. */
  async read(user: string): Promise<{ cards: Card[]; now: Instant }> {
    const now = await this.#engine.now();
    const pending = await this.#engine.listQuestions({ status: "pending", order: "oldest", limit: MOST });
    const reads = await Promise.all(pending.map((question) => this.#readOne(question)));
    this.#known = new Map(reads.map((read) => [read.question.id, read]));
    const open = reads.filter(isOpen).filter((read) => isOffered(read, now) && this.#wanted(read));
    return { cards: groupSame(sortUrgent(open, user)), now };
  }

  async #readOne(question: Question): Promise<Read> {
    const known = this.#known.get(question.id);
    return known?.question.version === question.version ? known : this.#engine.read(question.id);
  }
}

/** The soonest consequence first, then risk, then age; what somebody else has claimed comes last. */
export function sortUrgent(reads: readonly Waiting[], user: string): Waiting[] {
  const isTaken = ({ question }: Waiting): number =>
    Number(question.claim !== undefined && question.claim.by.id !== user);
  return reads.toSorted((one, other) => isTaken(one) - isTaken(other) || compareUrgency(one.question, other.question));
}

/** Puts questions that ask the same behind the most urgent of them. */
export function groupSame(reads: readonly Waiting[]): Card[] {
  const cards = new Map<string, Card>();
  for (const read of reads) {
    const name = sameName(read) ?? read.question.id;
    const card = cards.get(name);
    cards.set(name, card ? { ...card, same: [...card.same, read] } : { read, same: [] });
  }
  return [...cards.values()];
}

function isOpen(read: Read): read is Waiting {
  return read.question.status === "pending";
}

/** Neither snoozed nor just answered. */
function isOffered({ question }: Waiting, now: Instant): boolean {
  return question.settling === undefined && !(question.snoozedUntil !== undefined && question.snoozedUntil > now);
}
