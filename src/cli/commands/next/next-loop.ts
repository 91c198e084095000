import type { Actor } from "../../../core/people/actor.ts";
import { SECOND_MS } from "../../../core/instant.ts";
import { Refusal } from "../../../core/refusal.ts";
import type { Engine } from "../../../engine/engine.ts";
import type { Context } from "../../context.ts";
import { oneLine } from "../../view/sanitise.ts";
import { EffectRunner } from "./effect-runner.ts";
import type { CardPen } from "./card-view.ts";
import { drawScreen } from "./screen-view.ts";
import type { QuestionPredicate } from "../inspect/question-filter.ts";
import { QuestionQueue } from "./question-queue.ts";
import type { RawTerminal } from "../../terminal/raw-terminal.ts";
import { type NextEvent, reduce } from "./reduce.ts";
import { type NextEffect, type NextState, startState } from "./next-state.ts";

const LOOK_MS = 500;
const LOOK_FAR_MS = 2 * SECOND_MS;

export interface LoopStart {
  engine: Engine;
  context: Context;
  by: Actor;
  wanted: QuestionPredicate;
  isFollowing: boolean;
  undoMs: number;
}

/** How the loop ended. */
export interface LoopEnd {
  isInterrupted: boolean;
}

/** Shows waiting questions one by one on a terminal, until none is left or the person quits. */
export class NextLoop {
  readonly #start: LoopStart;
  readonly #terminal: RawTerminal;
  readonly #actions: EffectRunner;
  readonly #queue: QuestionQueue;
  readonly #pen: CardPen;
  #state: NextState;
  #look: NodeJS.Timeout | undefined;
  #shown = "";
  /** Counts effects: a queue that was read before the last effect is stale. */
  #deeds = 0;
  #isAway = false;
  #end: (end: LoopEnd) => void = () => undefined;
  #fail: (error: unknown) => void = () => undefined;

  constructor(start: LoopStart, terminal: RawTerminal) {
    const { context, engine, by } = start;
    this.#start = start;
    this.#terminal = terminal;
    this.#queue = new QuestionQueue(engine, start.wanted);
    this.#pen = { style: context.style, ahead: context.ahead };
    this.#state = startState({
      now: context.now(),
      size: terminal.size(),
      user: by.id,
      isFollowing: start.isFollowing,
    });
    this.#actions = new EffectRunner({ ...start, terminal, aside: (work) => this.#aside(work) });
  }

  /** Runs to the end and restores the terminal. */
  async run(): Promise<LoopEnd> {
    const ended = new Promise<LoopEnd>((resolve, reject) => {
      this.#end = resolve;
      this.#fail = reject;
    });
    this.#take();
    try {
      void this.#refresh();
      return await ended;
    } finally {
      clearTimeout(this.#look);
      this.#terminal.release();
      await this.#actions.close();
      this.#actions.report();
    }
  }

  #take() {
    this.#isAway = false;
    this.#shown = "";
    this.#terminal.take({
      pressed: (key) => this.#dispatch({ type: "key", key }),
      stale: () => {
        this.#shown = "";
        this.#dispatch({ type: "resized", size: this.#terminal.size() });
      },
    });
  }

  /** Hands the terminal to another program while `work` runs. */
  async #aside<Value>(work: () => Promise<Value>) {
    this.#isAway = true;
    this.#terminal.release();
    try {
      return await work();
    } finally {
      this.#take();
      this.#dispatch({ type: "resized", size: this.#terminal.size() });
    }
  }

  #dispatch(event: NextEvent) {
    const { state, effects } = reduce(this.#state, event);
    this.#state = state;
    this.#draw();
    const isInterrupted = event.type === "key" && event.key.name === "interrupt";
    for (const effect of effects) void this.#do(effect, isInterrupted).catch(this.#fail);
  }

  async #do(effect: NextEffect, isInterrupted: boolean) {
    if (effect.do === "quit") return this.#end({ isInterrupted });
    if (effect.do === "suspend") return this.#terminal.suspend();
    const event = await this.#actions.do(effect, this.#state).catch(refused);
    this.#deeds += 1;
    if (event) this.#dispatch(event);
    if (effect.do !== "bell" && effect.do !== "count") await this.#refresh();
  }

  /** Reads the queue, and schedules the next read. */
  async #refresh() {
    clearTimeout(this.#look);
    const { engine, by, context } = this.#start;
    const deeds = this.#deeds;
    const isFar = context.place.store.kind === "server";
    try {
      if (!isFar) await engine.doDue();
      await this.#actions.settle();
      const { cards, now } = await this.#queue.read(by.id);
      const id = this.#state.card?.read.question.id;
      const isListed = cards.some(({ read }) => read.question.id === id);
      const shown = id === undefined || isListed ? undefined : await engine.read(id);
      if (deeds === this.#deeds) this.#dispatch({ type: "waiting", cards, now, shown });
    } catch (error) {
      if (!(error instanceof Refusal)) return this.#fail(error);
      this.#dispatch({ type: "told", text: `Showing the last state: ${error.message}` });
    }
    clearTimeout(this.#look);
    this.#look = setTimeout(() => void this.#refresh(), isFar ? LOOK_FAR_MS : LOOK_MS);
  }

  #draw() {
    if (this.#isAway) return;
    const { lines, cursor, scroll } = drawScreen(this.#state, this.#pen);
    this.#state = { ...this.#state, scroll };
    const place = cursor ? `\x1b[${cursor.row + 1};${cursor.column + 1}H\x1b[?25h` : "";
    const picture = `\x1b[?25l\x1b[H${lines.map((line) => `${line}\x1b[K`).join("\r\n")}\x1b[J${place}`;
    if (picture === this.#shown) return;
    this.#shown = picture;
    this.#terminal.write(picture);
  }
}

function refused(error: unknown): NextEvent {
  if (!(error instanceof Refusal)) throw error;
  return { type: "refused", text: oneLine([error.message, error.hint].filter(Boolean).join(". ")) };
}
