import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Event } from "../../src/core/trail/event.ts";
import type { Question } from "../../src/core/question/question.ts";
import { type Run, hasEnded } from "../../src/core/run/run.ts";
import { ADA } from "../builders.ts";
import { said } from "../scene.ts";
import { AGENTS, TYPED, write } from "./agent.ts";
import { type ProgramName, programFile } from "./install.ts";
import { type Stage, promptOf } from "./stage.ts";

/** Starts take many seconds on a busy machine. */
const BOUND_MS = 150_000;

export interface RunOptions {
  program: ProgramName;
  /** Another version than the pinned one. */
  version?: string;
  steps: readonly object[];
  /** How long a question is held that does not say so itself. */
  window: string;
  env?: Readonly<Record<string, string>>;
  /** Settings of OpenCode beside those that it needs to run here. */
  config?: object;
}

/** A run of a real agent that a worker carries in the background. */
export class BackgroundRun {
  readonly #stage: Stage;
  readonly #number: number;
  /** Where its agent works. */
  readonly dir: string;

  private constructor(stage: Stage, number: number, dir: string) {
    this.#stage = stage;
    this.#number = number;
    this.dir = dir;
  }

  /** Queues the run with `askd run` and starts a worker for it. */
  static async start(stage: Stage, { program, version, steps, window, ...more }: RunOptions): Promise<BackgroundRun> {
    const { box, env } = await stage.box((at) => AGENTS[program](at, { kind: "none" }, "").env);
    if (more.config) {
      const file = join(box.home, ".config", "opencode", "opencode.json");
      write(file, JSON.stringify({ ...JSON.parse(readFileSync(file, "utf8")), ...more.config }));
    }
    await stage.work();
    const command = [programFile(program, version), ...TYPED[program], promptOf(steps)];
    const args = ["run", "--live-window", window, "--", ...command];
    const number = Number(await stage.typeIn(box.dir, { ...env, ...more.env }, ...args));
    return new BackgroundRun(stage, number, box.dir);
  }

  /** The run when its agent is gone and its question is kept. */
  parked(): Promise<Run> {
    return this.#wait("it is parked", async (run) => (run.status === "awaiting_input" ? run : undefined));
  }

  /** The run when it is completed; one that asks once more, or ends in another way, fails the test. */
  completed(): Promise<Run> {
    return this.#wait("it is completed", async (run) => {
      if (run.pendingId !== undefined) throw new Error(`#${run.number} asks again: ${await this.#sayPending()}`);
      return run.status === "completed" ? run : undefined;
    });
  }

  /** The run when that holds of it, whatever its state. */
  becomes(what: string, holds: (run: Run) => boolean): Promise<Run> {
    return this.#stage.until(what, async () => [await this.#find()].find(holds), BOUND_MS);
  }

  /** The nth question of the run when it is asked. */
  asked(nth: number): Promise<Question> {
    return this.#wait(`it asks question ${nth}`, async () => (await this.questions())[nth - 1]);
  }

  /** Comes back when the trail shows this event of a question. */
  async shows(type: Event["type"], { id }: Question): Promise<void> {
    await this.#wait(`its trail shows ${type}`, async () =>
      (await this.trail()).find((event) => event.type === type && event.questionId === id),
    );
  }

  async answer({ id }: Question, text: string, more: { note?: string } = {}): Promise<void> {
    await (await this.#stage.engine()).answer(id, said(text, more), ADA);
  }

  async questions(): Promise<Question[]> {
    const { id: runId } = await this.#find();
    return (await this.#stage.engine()).listQuestions({ runId, order: "oldest", limit: 100 });
  }

  async trail(): Promise<Event[]> {
    const { id } = await this.#find();
    return (await (await this.#stage.engine()).readChain(id)).map(({ event }) => event);
  }

  async #sayPending(): Promise<string> {
    return (await this.questions()).map(({ title, status }) => `${title} (${status})`).join(", ");
  }

  async #find(): Promise<Run> {
    const [run] = (await (await this.#stage.engine()).lookUp({ by: "number", number: this.#number }, 1)).runs;
    if (!run) throw new Error(`#${this.#number} is not there`);
    return run;
  }

  #wait<Value>(what: string, look: (run: Run) => Promise<Value | undefined>): Promise<Value> {
    return this.#stage.until(
      what,
      async () => {
        const run = await this.#find();
        const found = await look(run);
        if (found !== undefined || !hasEnded(run)) return found;
        throw new Error(`waited until ${what}, but it is ${run.status}: ${JSON.stringify([run.reason, run.result])}`);
      },
      BOUND_MS,
    );
  }
}
