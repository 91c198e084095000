import { join } from "node:path";
import { type Box, RESUMED, type Start } from "./agent.ts";
import type { ProgramName } from "./install.ts";
import { type Ended, type Stage, promptOf } from "./stage.ts";

/** How a person starts a session, with one of our doors. */
export interface HandDoor {
  program: ProgramName;
  start(stage: Stage, box: Box, prompt: string, window: string): Promise<Start> | Start;
  /** A worker resumes the session, as nobody sits at it. */
  isResumed?: boolean;
}

/** Starts the session, and later goes on in it, as a person would. */
export class HandSession {
  readonly #stage: Stage;
  readonly #door: HandDoor;
  readonly #window: string;
  #start: Start | undefined;
  #isWorking = false;

  constructor(stage: Stage, door: HandDoor, window: string) {
    this.#stage = stage;
    this.#door = door;
    this.#window = window;
  }

  async begin(steps: readonly object[]): Promise<{ ended: Promise<void> }> {
    const box = await this.#stage.box(() => ({}));
    this.#start = await this.#door.start(this.#stage, box.box, promptOf(steps), this.#window);
    return this.#launch(this.#start.argv);
  }

  /** Goes on to the next end, by the command that the person is given or by a worker. */
  async goOn(run = 1): Promise<void> {
    if (this.#door.isResumed) return this.#wait();
    const typed = { PATH: process.env["PATH"] ?? "", HOME: join(this.#stage.root, "home"), ASKD_NO_SERVICE: "1" };
    const own = { ...typed, ASKD_HOME: this.#stage.askdHome };
    const line = (await this.#stage.typeIn(this.#stage.root, own, "takeover", String(run))).trim();
    const words = (line.split(" && ")[1] ?? "").split(" ");
    if (words[0] !== this.#door.program) throw new Error(`takeover says ${line}`);
    const argv = (this.#start?.argv ?? []).map((word) => (word.includes("@@mock") ? "Go on." : word));
    const { ended } = await this.#launch(RESUMED[this.#door.program](argv, words.slice(1)));
    await ended;
  }

  async #wait(): Promise<void> {
    if (!this.#isWorking) await this.#stage.work();
    this.#isWorking = true;
    const engine = await this.#stage.engine();
    await this.#stage.until("the worker is done", async () => {
      const [run] = await engine.listRuns({ order: "oldest", limit: 1 });
      if (run?.status === "failed") throw new Error(JSON.stringify([run.reason, run.result]));
      return run?.worker === undefined && run?.status !== "resuming" ? run : undefined;
    });
  }

  async #launch(argv: string[]): Promise<{ ended: Promise<void> }> {
    const env = { ...this.#start?.env, ASKD_HOME: this.#stage.askdHome, ASKD_LIVE_WINDOW: this.#window };
    const { ended } = await this.#stage.launch(() => ({ argv, env }));
    return { ended: requireGoodEnd(ended) };
  }
}

async function requireGoodEnd(ended: Promise<Ended>): Promise<void> {
  const { exitCode, output } = await ended;
  if (exitCode !== 0) throw new Error(output);
}
