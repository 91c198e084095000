import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Event } from "../../src/core/trail/event.ts";
import type { Question } from "../../src/core/question/question.ts";
import { type Run, hasEnded } from "../../src/core/run/run.ts";
import { ADA } from "../builders.ts";
import { said } from "../scene.ts";
import { AGENTS, ASKD, type Box, TYPED, write } from "./agent.ts";
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
  /** What is typed behind the prompt. */
  flags?: readonly string[];
  /** Adds to the configuration of the agent's user. */
  configure?: (box: Box) => void;
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
    more.configure?.(box);
    const command = [programFile(program, version), ...TYPED[program], promptOf(steps), ...(more.flags ?? [])];
    return BackgroundRun.#queue(stage, { dir: box.dir, env: { ...env, ...more.env }, window, command });
  }

  /** The same for a script of the shell, which is no agent that askd knows. */
  static async startScript(stage: Stage, script: string): Promise<BackgroundRun> {
    const { box, env } = await stage.box(() => ({}));
    const command = join(box.dir, "agent.sh");
    writeFileSync(command, `#!/bin/sh\n${script}`, { mode: 0o755 });
    return BackgroundRun.#queue(stage, { dir: box.dir, env, window: "1s", command: [command] });
  }

  static async #queue(
    stage: Stage,
    at: { dir: string; env: Record<string, string>; window: string; command: readonly string[] },
  ): Promise<BackgroundRun> {
    await stage.work();
    const args = ["run", "--live-window", at.window, "--", ...at.command];
    return new BackgroundRun(stage, Number(await stage.typeIn(at.dir, at.env, ...args)), at.dir);
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

  async withdraw({ id }: Question, note: string): Promise<void> {
    await (await this.#stage.engine()).cancel(id, { resume: note }, ADA);
  }

  /** Stops the agent's own processes, so that it cannot end; returns what continues them. */
  async freeze(name: string): Promise<() => void> {
    const { id } = await this.#find();
    const frozen = (await this.#stage.processesOf(id)).filter((each) => each.name === name && !isOurs(each.pid));
    if (frozen.length === 0) throw new Error(`#${this.#number} has no process that is called ${name}`);
    for (const { pid } of frozen) process.kill(pid, "SIGSTOP");
    return () => {
      for (const { pid } of frozen) process.kill(pid, "SIGCONT");
    };
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

/** Says whether a process is one of askd: its hooks, its tools and its bridges run beside the agent. */
function isOurs(pid: number): boolean {
  return readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0").includes(ASKD);
}
