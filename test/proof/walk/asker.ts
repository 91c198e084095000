import { setTimeout as sleep } from "node:timers/promises";
import { QuestionId, type RunId } from "../../../src/core/id.ts";
import type { Chance } from "./chance.ts";
import type { Ledger } from "./ledger.ts";
import { type Ask, makeAsk } from "./plan.ts";
import type { Stage } from "./stage.ts";

/** What an asker outside of runs was given for one of its questions. */
export interface Heard {
  questionId: QuestionId;
  tag: string;
  via: string;
  text: string;
  atMs: number;
}

/** What is known of a question after a call. */
export interface Got {
  id: QuestionId | undefined;
  /** Still open: look again later. */
  isOpen: boolean;
  text: string;
  /** The words of a refusal. */
  refused?: string;
}

/** One way to ask without a run of one's own. A call that was cut off gives nothing and is made again. */
export interface AskingWay {
  name: string;
  /** Its questions belong to one session. */
  isSession: boolean;
  ask(tag: string, ask: Ask): Promise<Got | undefined>;
  look(id: QuestionId): Promise<Got | undefined>;
  /** Withdraws its own question; where there is no way to do so it does nothing. */
  withdraw?(id: QuestionId): Promise<boolean>;
  close(): Promise<void>;
}

export interface AskerDeps {
  stage: Stage;
  ledger: Ledger;
  chance: Chance;
  heard: Heard[];
  /** What was asked, by tag. */
  asks: Map<string, Ask>;
}

const LOOK_MS = 500;

/** Somebody outside of runs who asks two or three questions one after another and waits for what becomes of each. */
export class Asker {
  readonly #deps: AskerDeps;
  readonly #way: AskingWay;
  readonly tag: string;
  isOver = false;
  #runId: RunId | undefined;

  constructor(tag: string, way: AskingWay, deps: AskerDeps) {
    this.tag = tag;
    this.#way = way;
    this.#deps = deps;
  }

  async run(): Promise<void> {
    const { chance, ledger } = this.#deps;
    try {
      const count = chance.between(2, 3);
      for (let number = 1; number <= count; number += 1) await this.#play(`${this.tag}-${number}`);
    } catch (error) {
      if (this.#deps.stage.isOpen) ledger.fault(`an asker by ${this.#way.name} failed`, String(error));
    } finally {
      await this.#way.close().catch(() => undefined);
      this.isOver = true;
    }
  }

  async #play(tag: string): Promise<void> {
    const { chance } = this.#deps;
    const ask = makeAsk(tag, chance);
    this.#deps.asks.set(tag, ask);
    let text = await this.#askOne(tag, ask);
    // Who is asked back explains, and asks again.
    for (let again = 1; again <= 2 && /asks back|"clarify"/.test(text); again += 1) {
      const next = `${tag}.${again}`;
      text = await this.#askOne(next, JSON.parse(JSON.stringify(ask).replaceAll(tag, next)));
    }
  }

  async #askOne(tag: string, ask: Ask): Promise<string> {
    const { ledger, chance, stage } = this.#deps;
    let got = await this.#sure(tag, () => this.#way.ask(tag, ask));
    const run = got.id && (await stage.store.findQuestion(got.id))?.runId;
    this.#runId = run ?? this.#runId;
    ledger.step(
      "ask",
      run,
      `${tag} by ${this.#way.name} -> ${got.refused ?? got.id} ${got.isOpen ? "open" : "closed"}`,
    );
    if (got.refused !== undefined) {
      await this.#judgeRefusal(tag, got.refused);
      return "";
    }
    let id = got.id;
    if (!id) throw new Error(`${tag} has no id: ${got.text}`);
    if (got.isOpen && this.#way.withdraw && chance.is(0.06) && (await this.#way.withdraw(id))) {
      ledger.step("withdraw", run, tag);
      return "";
    }
    const isRepeating = this.#way.isSession && ask.kind !== "approval" && chance.is(0.2); // leave is never reused
    while (got.isOpen && stage.isOpen) {
      await sleep(LOOK_MS * chance.between(1, 3));
      const first = id;
      got = await this.#sure(tag, () => (isRepeating ? this.#way.ask(tag, ask) : this.#way.look(first)));
      if (got.refused !== undefined) {
        await this.#judgeRefusal(tag, got.refused);
        return "";
      }
      if (got.id !== undefined && got.id !== id) await this.#judgeOther(tag, id, got.id);
      id = got.id ?? id;
    }
    this.#deps.heard.push({ questionId: id, tag, via: this.#way.name, text: got.text, atMs: Date.now() });
    ledger.note(run, `${tag} heard: ${got.text.slice(0, 120).replaceAll("\n", " ")}`);
    return got.text;
  }

  /** A session can always ask again, unless a person has ended its run. */
  async #judgeRefusal(tag: string, words: string): Promise<void> {
    const { stage, ledger } = this.#deps;
    // The reply to the first ask of a session may be lost: then only the refusal names its run.
    const number = Number(/^Run #(\d+) was cancelled/.exec(words)?.[1]);
    const named = number > 0 ? await stage.store.lookUp({ by: "number", number }, 1) : undefined;
    const runId = this.#runId ?? named?.runs[0]?.id;
    const chain = runId && this.#way.isSession ? await stage.store.readChain(runId) : undefined;
    const isOver = chain?.events.some(({ event }) => event.type === "run.cancelled" && event.by.scope === "human");
    if (!isOver) ledger.fault(`an ask was refused by ${this.#way.name}`, `${tag}: ${words}`, this.#runId);
  }

  /**
   * The same ask finds its question as long as that waits, or has an outcome that was not given. After a deadline that
   * ended it there is none, until somebody forces an answer.
   */
  async #judgeOther(tag: string, first: QuestionId, other: QuestionId): Promise<void> {
    const { stage, ledger } = this.#deps;
    const [question, asked] = [await stage.store.findQuestion(first), await stage.store.findQuestion(other)];
    const forced = question?.status === "timeout" ? question.forced : undefined;
    if (forced && asked && asked.askedAt <= forced.answer.at) return;
    const isOpen =
      question && (question.status === "pending" || /"state":"(owed|handing)"/.test(JSON.stringify(question)));
    if (isOpen)
      ledger.fault("the same ask is another question", `${tag} by ${this.#way.name}: ${first}, ${other}`, this.#runId);
  }

  /** Makes a call until it gives something: a server that is away comes back. */
  async #sure(tag: string, call: () => Promise<Got | undefined>): Promise<Got> {
    for (;;) {
      const got = await call();
      if (got) return got;
      this.#deps.ledger.note(undefined, `${tag}: a call by ${this.#way.name} gave nothing`);
      if (!this.#deps.stage.isOpen) throw new Error("the walk is over");
      await sleep(LOOK_MS);
    }
  }
}

/** Reads the id of a question where there is one. */
export function readId(value: unknown): QuestionId | undefined {
  return QuestionId.safeParse(value).data;
}
