import type { Read } from "../../core/changes.ts";
import type { Content } from "../../core/content.ts";
import { type Instant, earlier } from "../../core/instant.ts";
import type { Pending, Question } from "../../core/question.ts";
import type { Run } from "../../core/run.ts";
import type { Engine } from "../../engine/engine.ts";
import type { Card } from "./state.ts";

const MOST = 500;
const RISKS: ReadonlyArray<Question["risk"]> = ["high", "medium", "low"];
const NEVER = "9999";

type Waiting = Read & { question: Pending };

/** Which questions somebody wants to be offered. */
export type Wanted = (read: { question: Question; run: Run }) => boolean;

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
    return { cards: groupSame(open.toSorted((one, other) => compareUrgency(one, other, user))), now };
  }

  async #readOne(question: Question): Promise<Read> {
    const known = this.#known.get(question.id);
    return known?.question.version === question.version ? known : this.#engine.read(question.id);
  }
}

/** The soonest consequence first, then risk, then age; what somebody else has claimed comes last. */
export function compareUrgency(one: Waiting, other: Waiting, user: string): number {
  const ranks = ({ question }: Waiting): string[] => [
    question.claim && question.claim.by.id !== user ? "1" : "0",
    consequenceAt(question) ?? NEVER,
    String(RISKS.indexOf(question.risk)),
    question.askedAt,
    question.id,
  ];
  const [left, right] = [ranks(one), ranks(other)];
  const at = left.findIndex((rank, index) => rank !== right[index]);
  return at < 0 ? 0 : (left[at] ?? "") < (right[at] ?? "") ? -1 : 1;
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

/** When something happens if nobody answers; an agent that only stops loses nothing by it. */
function consequenceAt({ dueAt, hold }: Pending): Instant | undefined {
  return hold?.after === "proceed" ? earlier(hold.until, dueAt) : dueAt;
}

/** Equal for questions that one answer fits; a leave or a risk is never given to several at once. */
function sameName({ question, content }: Waiting): string | undefined {
  if (question.kind === "approval" || question.risk === "high" || question.approvals.need > 1) return undefined;
  return JSON.stringify([content.items.map(sameItem), question.accepts]);
}

function sameItem(item: Content["items"][number]): unknown[] {
  const options = item.options.map(({ label, value }) => [normal(label), normal(value)]);
  return [normal(item.text), options, item.multiple, item.allowText, item.schema ?? null];
}

function normal(text: string): string {
  return text
    .normalize("NFKC")
    .toLowerCase()
    .replace(/\s+/g, " ")
    .replace(/[\s.?!]+$/, "")
    .trim();
}

function isOpen(read: Read): read is Waiting {
  return read.question.status === "pending";
}

/** Neither snoozed nor just answered. */
function isOffered({ question }: Waiting, now: Instant): boolean {
  return question.settling === undefined && !(question.snoozedUntil !== undefined && question.snoozedUntil > now);
}
