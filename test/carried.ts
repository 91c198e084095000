import { SYSTEM } from "../src/core/people/actor.ts";
import type { Changes, DecisionContext } from "../src/core/changes.ts";
import type { QuestionId, RunId } from "../src/core/id.ts";
import { handoverMessage } from "../src/core/run/agent-message.ts";
import { returnToOwed } from "../src/core/run/handover.ts";
import type { Run } from "../src/core/run/run.ts";
import type { RunResult, RunSnapshot } from "../src/core/run/run-lifecycle.ts";
import { claimRun, endOwnedRun } from "../src/core/run/run-ownership.ts";
import { Decider } from "../src/engine/decide.ts";
import { allQuestions } from "../src/engine/row-cache.ts";
import { AGENT, IDS } from "./builders.ts";
import { MCP, Scene } from "./scene.ts";

/** The worker of every such run. */
export const ME = IDS.worker();
const DONE: RunResult = { status: "completed" };

/** A run whose agent this worker starts and sees end, without any process. */
export class Carried extends Scene {
  readonly #decider = new Decider({ store: this.store, rules: this.rules, ids: IDS, now: () => this.now });
  #id: RunId | undefined;

  get id(): RunId {
    if (!this.#id) throw new Error("the run is not made yet");
    return this.#id;
  }

  async start(): Promise<this> {
    this.#id ??= (
      await this.engine.createRun({ agent: "claude", host: "here", session: "s", giveBack: "worker" }, AGENT)
    ).id;
    const asked = await allQuestions(this.store, this.id);
    await this.#decider.changeRun(this.id, SYSTEM, (read, at) => claimRun(read, { worker: ME, asked }, at));
    return this;
  }

  /** Changes the run as its worker does. */
  change(decide: (read: RunSnapshot, at: DecisionContext) => Changes): Promise<Run> {
    return this.#decider.changeRun(this.id, SYSTEM, decide);
  }

  async end(result: RunResult = DONE): Promise<Run> {
    const { epoch } = await this.run();
    return this.#decider.changeRun(this.id, SYSTEM, (read, at) => endOwnedRun(read, { worker: ME, epoch }, result, at));
  }

  async run(): Promise<Run> {
    const run = await this.engine.findRun(this.id);
    if (!run) throw new Error("the run is gone");
    return run;
  }

  async asks(text: string, raw: Record<string, unknown> = {}): Promise<QuestionId> {
    const { epoch } = await this.run();
    const input = this.input({ question: text, ...raw }, MCP);
    return (await this.engine.ask(input, AGENT, { runId: this.id, epoch })).question.id;
  }

  /** The hand-over of each of these questions. */
  async states(...ids: QuestionId[]): Promise<string[]> {
    const reads = await this.engine.readMany(ids);
    return reads.map(({ question }) => (question.status === "pending" ? "pending" : question.handover.state));
  }

  /** The hand-over of each correction of a question. */
  async correctionStates(id: QuestionId): Promise<string[]> {
    const { question } = await this.engine.read(id);
    return question.amendments.map(({ handover }) => handover.state);
  }

  /** This start does not tell this outcome after all. */
  async returnToOwed(id: QuestionId): Promise<void> {
    const { epoch } = await this.run();
    await this.#decider.changeQuestion(id, SYSTEM, (read, at) => returnToOwed(read.run, [read.question], epoch, at));
  }

  /** The message that the agent gets if it starts now. */
  async told(): Promise<string> {
    const { owes } = await this.run();
    return handoverMessage({ delimiter: "%", reads: await this.engine.readMany(owes) });
  }
}
