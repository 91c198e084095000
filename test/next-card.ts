import { type QuestionCard, type NextState, startState } from "../src/cli/commands/next/next-state.ts";
import { type NextEvent, reduce } from "../src/cli/commands/next/reduce.ts";
import type { NextEffect } from "../src/cli/commands/next/next-state.ts";
import { typedKeys } from "./typed-keys.ts";
import type { Content, Item } from "../src/core/question/content.ts";
import type { Instant } from "../src/core/instant.ts";
import type { PendingQuestion } from "../src/core/question/question.ts";
import type { Run } from "../src/core/run/run.ts";
import { NOON, aQuestion, aRun } from "./builders.ts";

/** A card as `askd next` shows it. */
export function aCard(
  over: { question?: Partial<PendingQuestion>; run?: Partial<Run>; items?: Item[]; context?: string } = {},
): QuestionCard {
  const content: Content = {
    items: over.items ?? [anItem("Redis or Memcached?", ["Redis", "Memcached"])],
    ...(over.context !== undefined && { context: over.context }),
  };
  const run = aRun({ number: 42, name: "add-caching", ...over.run });
  return { read: { run, question: aQuestion({ runId: run.id, ...over.question }), content }, same: [] };
}

export function anItem(text: string, labels: readonly string[], over: Partial<Item> = {}): Item {
  const options = labels.map((label, index) => ({ key: "ABCDEFGHI".charAt(index), value: label.toLowerCase(), label }));
  return { id: text.toLowerCase().replaceAll(/\W+/g, "-"), text, options, multiple: false, allowText: true, ...over };
}

/** A person at `askd next`, without a terminal: what they press changes the state, and what is to be done is noted. */
export class NextScene {
  state: NextState;
  effects: NextEffect[] = [];

  constructor(cards: readonly QuestionCard[], over: Partial<Pick<NextState, "size" | "isFollowing" | "now">> = {}) {
    this.state = startState({ now: NOON, size: { columns: 100, rows: 24 }, user: "ada", isFollowing: false, ...over });
    this.waits(cards);
  }

  happens(event: NextEvent): void {
    const next = reduce(this.state, event);
    this.state = next.state;
    this.effects.push(...next.effects);
  }

  waits(cards: readonly QuestionCard[], over: { now?: Instant; shown?: QuestionCard["read"] } = {}): void {
    this.happens({ type: "waiting", cards, now: this.state.now, ...over });
  }

  /** Types this, as a terminal would send it. */
  type(text: string): void {
    for (const key of typedKeys(text)) this.happens({ type: "key", key });
  }

  press(name: "enter" | "escape"): void {
    this.happens({ type: "key", key: { name } });
  }

  /** The answer that is given, and nothing else is done. */
  answer(): Extract<NextEffect, { do: "answer" }> {
    const [effect, ...more] = this.done();
    if (effect?.do === "answer" && more.length === 0) return effect;
    throw new Error(`no answer is given, but ${JSON.stringify([effect, ...more])}`);
  }

  /** What is to be done besides counting, and forgets it. */
  done(): NextEffect[] {
    const done = this.effects.filter((effect) => effect.do !== "count");
    this.effects = [];
    return done;
  }
}
