import { mkdir, mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runDirOf } from "../../../agents/runner/run-files.ts";
import { stopRun } from "../../../agents/process/stop.ts";
import { SYSTEM } from "../../../core/people/actor.ts";
import { type Run, hasEnded } from "../../../core/run/run.ts";
import type { Engine } from "../../../engine/engine.ts";
import { command } from "../../../agents/command/command.ts";
import { listRunProcesses } from "../../../agents/process/process-list.ts";
import type { KeptEvent } from "../../../core/trail/event.ts";
import { shortId } from "../../../core/id.ts";
import type { Context, ServingHandle } from "../../context.ts";
import { homeVariables, workerLockFile } from "../../paths.ts";
import { cutCells, textWidth } from "../../terminal/terminal.ts";
import { sayBy } from "../../view/run-text.ts";
import { waitForRunChange } from "../run/run-follow.ts";
import { RunLog } from "../run/run-log.ts";

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
      const onLog = (line: string) => void logged.splice(0, logged.push(line) - MOST_LOGGED);
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

/** Prints what happens to a run: the agent's output and the committed events. */
export class DemoStory {
  readonly #stage: DemoStage;
  readonly #run: Run;
  readonly #log: RunLog;
  /** All processes of the run so far. */
  readonly #seen = new Set<number>();
  #told = 0;

  constructor(stage: DemoStage, run: Run) {
    this.#stage = stage;
    this.#run = run;
    this.#log = new RunLog({
      runDir: stage.runDir(run),
      kind: "out",
      agent: command,
      style: stage.context.style,
      write: (text) => {
        for (const line of text.split("\n").slice(0, -1)) this.say("agent", line);
      },
    });
  }

  /** Prints until the run is in the wanted state; undefined if the wait is aborted. */
  async until(isThere: (run: Run) => boolean, signal: AbortSignal): Promise<Run | undefined> {
    const { engine, context } = this.#stage;
    for (;;) {
      const run = (await engine.findRun(this.#run.id)) ?? this.#run;
      for (const { pid } of await listRunProcesses(run.id)) this.#seen.add(pid);
      await this.#log.more();
      await this.#tellEvents();
      if (isThere(run)) return run;
      if (signal.aborted) return undefined;
      await waitForRunChange(this.#stage.runDir(run), signal, context);
    }
  }

  say(who: "agent" | "askd", line: string): void {
    const { stdout, style } = this.#stage.context;
    const width = textWidth(stdout.columns) - 8;
    stdout.write(`${style.dim(`${who.padStart(5)} │`)} ${cutCells(line, width)}\n`);
  }

  async #tellEvents() {
    const events = await this.#stage.engine.readChain(this.#run.id);
    for (const { event } of events.slice(this.#told)) {
      const line = await this.#sayEvent(event);
      if (line !== undefined) this.say("askd", `${event.type.padEnd(20)}${line}`);
    }
    this.#told = events.length;
  }

  async #sayEvent(event: KeptEvent["event"]) {
    switch (event.type) {
      case "run.started":
        return "in its own process";
      case "question.asked":
        return `${event.questionId ? shortId(event.questionId) : ""}, on disk before anyone is notified`;
      case "run.parked":
        return this.#sayGone();
      case "question.timed_out":
        return "nobody answered; the agent's default applies";
      case "question.answered":
        return `by ${sayBy(event.by)}`;
      case "run.resuming":
        return event.detail?.["worker"] === undefined
          ? undefined
          : "a new process, which receives the answer and who gave it";
      case "question.given":
        return "the answer was delivered, once";
      case "run.completed":
      case "run.failed":
      case "run.cancelled":
        return `run #${this.#run.number}`;
      default:
        return undefined;
    }
  }

  async #sayGone() {
    const left = await listRunProcesses(this.#run.id);
    if (left.length > 0) return `${left.length} of its processes are still ending`;
    const pids = [...this.#seen].join(", ");
    return pids === "" ? "no process of it is left" : `processes ${pids} have ended; none is left`;
  }
}
