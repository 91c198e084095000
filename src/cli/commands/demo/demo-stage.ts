import { mkdir, mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runDirOf } from "../../../agents/runner/run-files.ts";
import { stopRun } from "../../../agents/process/stop.ts";
import { SYSTEM } from "../../../core/people/actor.ts";
import { type Run, hasEnded } from "../../../core/run/run.ts";
import type { Engine } from "../../../engine/engine.ts";
import { workerLockFile } from "../service/background-worker.ts";
import type { Context, ServingHandle } from "../../context.ts";
import { homeVariables } from "../../paths.ts";

/** Where the agent works. */
const WORK = "work";
const MOST_LOGGED = 200;
const GRACE_MS = 2_000;
/** Variables of the caller that would change the demo. */
const NONE = { ASKD_NO_SERVICE: "", CI: "", ASKD_PROMPT_DISABLED: "" };

/** A store, a server and a worker for one demo; removed when it ends. */
export class DemoStage {
  /** The directory that holds all its files. */
  readonly dir: string;
  readonly context: Context;
  readonly engine: Engine;
  readonly serving: ServingHandle;
  /** The last log lines of its server and worker. */
  readonly logged: readonly string[];
  readonly #unlock: (() => void) | undefined;
  readonly #working: Promise<void>;

  private constructor(
    dir: string,
    context: Context,
    parts: { engine: Engine; serving: ServingHandle; logged: string[]; unlock: (() => void) | undefined },
  ) {
    this.dir = dir;
    this.context = context;
    this.engine = parts.engine;
    this.serving = parts.serving;
    this.logged = parts.logged;
    this.#unlock = parts.unlock;
    this.#working = parts.serving.work();
  }

  static async open(caller: Context): Promise<DemoStage> {
    const dir = await realpath(await mkdtemp(join(tmpdir(), "askd-demo-")));
    try {
      await mkdir(join(dir, WORK));
      const context = await caller.inHome(dir);
      const engine = await context.engine();
      const logged: string[] = [];
      const onLog = (line: string): void => void logged.splice(0, logged.push(line) - MOST_LOGGED);
      const serving = await context.serve({ port: 0, names: [], isSecure: false, onLog });
      const unlock = await context.lock(workerLockFile(context));
      return new DemoStage(dir, context, { engine, serving, logged, unlock });
    } catch (error) {
      await rm(dir, { recursive: true, force: true });
      throw error;
    }
  }

  /** Runs an askd command in its own process and passes its output on line by line. */
  async type(argv: readonly string[], onLine: (line: string) => void): Promise<{ exitCode: number; stdout: string }> {
    const { runChild, self } = this.context;
    const env = { ...homeVariables(this.dir), ...NONE };
    return runChild({ argv: [...self, ...argv], env, cwd: join(this.dir, WORK), stdio: "pipe", onLine });
  }

  runDir(run: Run): string {
    return runDirOf(this.context.place.stateDir, run.id);
  }

  /** Stops all its processes, and removes its files unless --keep is set. */
  async close({ isKept }: { isKept: boolean }): Promise<void> {
    for (const run of await this.engine.listRuns({ order: "newest", limit: 10 })) {
      if (!hasEnded(run)) await this.engine.cancelRun(run.id, SYSTEM, "the demonstration ended");
      await stopRun({ runId: run.id, runDir: this.runDir(run), lastEpoch: run.epoch + 1, graceMs: GRACE_MS });
    }
    await this.serving.close();
    await this.#working;
    this.#unlock?.();
    if (!isKept) await rm(this.dir, { recursive: true, force: true });
  }
}
