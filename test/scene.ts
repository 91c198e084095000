import { engineOn } from "../src/app.ts";
import { type Actor, SYSTEM } from "../src/core/people/actor.ts";
import { AnswerInput } from "../src/core/answer/answer-input.ts";
import { type AskInput, type DoorDefaults, parseAsk } from "../src/core/question/ask-input.ts";
import type { OpenChannel } from "../src/core/channel/channel.ts";
import type { QuestionSnapshot } from "../src/core/changes.ts";
import type { Ids } from "../src/core/id.ts";
import { type Instant, epochMs, instant } from "../src/core/instant.ts";
import type { PendingQuestion } from "../src/core/question/question.ts";
import { DEFAULT_LIMITS, DEFAULT_RULES, type Rules } from "../src/core/rules.ts";
import type { Engine } from "../src/engine/engine.ts";
import type { LocalEngine } from "../src/engine/local-engine.ts";
import { MemoryStore } from "./memory-store/memory.ts";
import type { Store } from "../src/store/store.ts";
import { AGENT, NOON } from "./builders.ts";
import { remoteEngine } from "./remote.ts";

/** Limits that do not get into the way of tests which ask a lot. */
export const ROOMY: Rules = {
  ...DEFAULT_RULES,
  callbackLoopback: true,
  limits: { ...DEFAULT_LIMITS, asksPerMinute: 10_000, asksPerRun: 10_000, repliesPerMinute: 10_000 },
};

export const SCRIPT: DoorDefaults = { via: "cli", accepts: ["answer", "decide"] };
export const MCP: DoorDefaults = { via: "mcp" };

/** An engine on a store in memory, with a clock that moves when told and ids that count. */
export class Scene {
  /** Where scenes have their engine: here, or behind a server. */
  static engines: "local" | "remote" = "local";
  #now = epochMs(NOON);
  readonly store: Store;
  readonly engine: Engine;
  /** The engine on the store itself, also where `engine` is behind a server. */
  readonly local: LocalEngine;
  readonly rules: Rules;
  /** Where ids come from, if they have to be the same each time. */
  readonly ids: Ids | undefined;

  constructor(
    over: {
      rules?: Partial<Rules>;
      store?: (now: () => Instant) => Store;
      ids?: Ids;
      openChannel?: OpenChannel;
    } = {},
  ) {
    this.rules = { ...ROOMY, ...over.rules };
    this.ids = over.ids;
    const now = () => instant(this.#now);
    this.store = over.store?.(now) ?? new MemoryStore(now);
    this.local = engineOn(this.store, {
      rules: this.rules,
      nowMs: () => this.#now,
      ...(over.ids && { ids: over.ids }),
      openChannel: over.openChannel,
      onFailure: (job, error) => {
        if (job.kind === "callback" || job.kind === "deliver" || job.kind === "mark_issue") return; // whom it reaches is outside, and what to do when it does not is its own rule
        throw new Error(`job ${job.key} failed`, { cause: error });
      },
    });
    this.engine = Scene.engines === "local" ? this.local : remoteEngine(this.local, this.store, this.rules);
  }

  get now(): Instant {
    return instant(this.#now);
  }

  /** Lets time pass and does what falls due. */
  async pass(ms: number): Promise<void> {
    this.#now += ms;
    await this.engine.doDue();
  }

  /** Lets time pass and leaves what falls due to somebody else. */
  skip(ms: number): void {
    this.#now += ms;
  }

  input(raw: Record<string, unknown> = {}, door: DoorDefaults = MCP): AskInput {
    // askd words the question about a tool itself.
    const usual = raw["tool"] === undefined ? { question: "Redis or Memcached?", options: ["Redis", "Memcached"] } : {};
    return parseAsk({ ...usual, ...raw }, door, this.rules, this.now);
  }

  async ask(raw: Record<string, unknown> = {}, door: DoorDefaults = SCRIPT, by: Actor = AGENT) {
    return this.engine.ask(this.input(raw, door), by);
  }

  /** A run that a worker started, and that may ask. */
  async startedRun(over: Parameters<Engine["createRun"]>[0] = {}) {
    const run = await this.engine.createRun(
      { name: "add-caching", agent: "claude", host: "here", giveBack: "worker", measured: ["agent", "repo"], ...over },
      AGENT,
    );
    return this.engine.startRun(run.id, AGENT);
  }

  /** Puts people on the list: only there are they known to be different people. */
  async know(...people: Array<string | { id: string; groups: string[] }>): Promise<void> {
    for (const person of people) {
      const { id, groups } = typeof person === "string" ? { id: person, groups: [] } : person;
      await this.engine.putPerson({ id, groups, version: 0 }, SYSTEM);
    }
  }

  async jobs(): Promise<string[]> {
    return (await this.store.listJobs(1000)).map((job) => job.kind).sort();
  }
}

/** The question, which must still wait. */
export function pendingOf({ question }: QuestionSnapshot): PendingQuestion {
  if (question.status !== "pending") throw new Error(`the question is ${question.status}`);
  return question;
}

/** What a person types, as the engine takes it. */
export function said(answer: string, over: Partial<AnswerInput> = {}): AnswerInput {
  return AnswerInput.parse({ answer, ...over });
}
