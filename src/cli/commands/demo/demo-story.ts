import { command } from "../../../agents/command/command.ts";
import { listRunProcesses } from "../../../agents/process/process-list.ts";
import type { KeptEvent } from "../../../core/trail/event.ts";
import { shortId } from "../../../core/id.ts";
import type { Run } from "../../../core/run/run.ts";
import type { DemoStage } from "./demo-stage.ts";
import { waitForRunChange } from "../run/run-follow.ts";
import { RunLog } from "../run/run-log.ts";
import { cutCells, textWidth } from "../../terminal/terminal.ts";
import { sayBy } from "../../view/run-text.ts";

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

  async #tellEvents(): Promise<void> {
    const events = await this.#stage.engine.readChain(this.#run.id);
    for (const { event } of events.slice(this.#told)) {
      const line = await this.#sayEvent(event);
      if (line !== undefined) this.say("askd", `${event.type.padEnd(20)}${line}`);
    }
    this.#told = events.length;
  }

  async #sayEvent(event: KeptEvent["event"]): Promise<string | undefined> {
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

  async #sayGone(): Promise<string> {
    const left = await listRunProcesses(this.#run.id);
    if (left.length > 0) return `${left.length} of its processes are still ending`;
    const pids = [...this.#seen].join(", ");
    return pids === "" ? "no process of it is left" : `processes ${pids} have ended; none is left`;
  }
}
