import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { UsageMeter } from "../../src/agents/runner/usage-meter.ts";
import { engineOn } from "../../src/app.ts";
import { type Instant, epochMs, instant } from "../../src/core/instant.ts";
import { idsFrom } from "../../src/core/id.ts";
import { SYSTEM } from "../../src/core/people/actor.ts";
import { parseAsk } from "../../src/core/question/ask-input.ts";
import type { Rules } from "../../src/core/rules.ts";
import type { RunResult } from "../../src/core/run/run-lifecycle.ts";
import type { UsageRow } from "../../src/core/run/usage.ts";
import { type Run, hasEnded } from "../../src/core/run/run.ts";
import { parseCheckpoint } from "../../src/core/workflow/checkpoint.ts";
import type { IssueTracker } from "../../src/core/workflow/issue-tracker.ts";
import type { LocalEngine } from "../../src/engine/local-engine.ts";
import { readWorkflow } from "../../src/workflow/definition/read-workflow.ts";
import { StepRunner } from "../../src/workflow/run/step-runner.ts";
import { Workflows, type WorkflowStart } from "../../src/workflow/run/workflows.ts";
import type { AgentStart, ProgramResult, StepOutside, StepProgram } from "../../src/workflow/tool/tool.ts";
import type { Store } from "../../src/store/store.ts";
import { ADA, AGENT, NOON, countingIds } from "../builders.ts";
import { MemoryStore } from "../memory-store/memory.ts";
import { ROOMY, said } from "../scene.ts";

/** However slow the machine is, a run gets its turn. */
const ROOM_MS = 60_000;

/** What a program does that a shell step runs; a test scripts it by its first argument. */
export type Script = (program: StepProgram) => Promise<ProgramResult> | ProgramResult;

interface StageOptions {
  store?: Store;
  script?: Script;
  tracker?: IssueTracker;
  outside?: Partial<StepOutside>;
  secrets?: Record<string, string>;
  rules?: Partial<Rules>;
  onStep?: (station: string) => void;
  seed?: string;
  /** Its machine. */
  host?: string;
  /** Where its clock begins. */
  startMs?: number;
}

/** An engine that does workflows, on a store in memory, with a clock that moves when told and programs that are scripted. */
export class WorkflowStage {
  readonly store: Store;
  readonly engine: LocalEngine;
  readonly workflows: Workflows;
  readonly ran: string[][] = [];
  /** The agents that steps started, oldest first; a test says how each ends. */
  readonly agents: AgentStart[] = [];
  readonly failures: unknown[] = [];
  readonly #steps: StepRunner;
  readonly #rules: Rules;
  readonly #host: string;
  /** Programs that were started and did not end. */
  #hanging = 0;
  #nowMs: number;

  constructor(options: StageOptions = {}) {
    this.#nowMs = options.startMs ?? epochMs(NOON);
    this.store = options.store ?? new MemoryStore(() => this.now);
    const ids = countingIds(options.seed ?? "stage");
    const worker = idsFrom(
      () => this.#nowMs,
      () => new Uint8Array(10),
    ).worker();
    const rules = { ...ROOMY, ...options.rules };
    this.#rules = rules;
    this.#host = options.host ?? "here";
    const script: Script = options.script ?? (() => ({ exitCode: 0, stdout: "", stderr: "" }));
    const outside: StepOutside = {
      openTracker: () => Promise.resolve(options.tracker),
      openTree: () => Promise.resolve({ dir: "/tree", branch: "askd/tree" }),
      publishTree: () => Promise.resolve(true),
      runProgram: async (program) => {
        this.ran.push([...program.argv]);
        this.#hanging += 1;
        try {
          return await script(program);
        } finally {
          this.#hanging -= 1;
        }
      },
      request: () => Promise.reject(new Error("nothing is scripted")),
      prepareAgent: (start) => {
        this.agents.push(start);
        return Promise.resolve({ agent: start.agent });
      },
      findAgentBudget: () => undefined,
      mcpServers: [],
      env: {},
      ...options.outside,
    };
    const steps = new StepRunner({
      worker,
      outside,
      readSecrets: () => options.secrets ?? {},
      stopPrograms: () => Promise.resolve(),
      onStep: options.onStep,
      roomMs: ROOM_MS,
    });
    this.#steps = steps;
    this.engine = engineOn(this.store, {
      rules,
      nowMs: () => this.#nowMs,
      ids,
      worker,
      steps,
      host: this.#host,
      onFailure: (_job, error) => this.failures.push(error),
    });
    this.workflows = new Workflows(this.engine.inside);
  }

  get now(): Instant {
    return instant(this.#nowMs);
  }

  /** Lets time pass and does what falls due. */
  async pass(ms: number): Promise<void> {
    this.#nowMs += ms;
    await this.doDue();
  }

  /** Lets time pass and leaves what falls due to somebody else. */
  skip(ms: number): void {
    this.#nowMs += ms;
  }

  /**
   * Does what is due until nothing is left. A step that takes long goes on beside the worker, so it is waited for, unless
   * its program never ends.
   */
  async doDue(): Promise<void> {
    for (;;) {
      const done = await this.engine.doDue();
      const isBusy = this.#isBusy;
      while (this.#isBusy) await new Promise((resolve) => setTimeout(resolve, 1));
      if (done === 0 && !isBusy) return;
    }
  }

  /** A scripted program ends before the next timer, so one that is there then hangs. */
  get #isBusy(): boolean {
    return this.#steps.count > this.#hanging;
  }

  /** Approves the workflow of a YAML text. */
  async approve(yaml: string, place = { dir: "/project", file: "test.yml" }) {
    const { definition, hash, problems } = readWorkflow(yaml, "test.yml");
    if (!definition || hash === undefined) throw new Error(problems.map(({ message }) => message).join("; "));
    const input = { name: definition.name, host: this.#host, ...place, definition: hash, repo: "acme/shop" };
    return this.workflows.approve(input, definition, ADA);
  }

  /** Writes the workflow into a file and approves it: triggers start runs only of a file that is as it was approved. */
  async approveFile(yaml: string) {
    const dir = mkdtempSync(join(tmpdir(), "askd-triggers-"));
    onTestFinished(() => rmSync(dir, { recursive: true }));
    const file = join(dir, "test.yml");
    writeFileSync(file, yaml);
    return this.approve(yaml, { dir, file });
  }

  /** All runs, oldest first. */
  async runs(): Promise<Run[]> {
    return this.store.listRuns({ order: "oldest", limit: 100 });
  }

  /** Starts a run of the workflow of a YAML text, and does what is due. */
  async start(yaml: string, over: Partial<WorkflowStart> = {}): Promise<Run> {
    const workflow = await this.approve(yaml);
    const run = await this.workflows.start({ workflow, cause: { type: "manual" }, inputs: {}, ...over }, ADA);
    await this.doDue();
    return this.run(run.id);
  }

  /** Comes back when a run has ended, for steps that take time of the real clock. */
  ended(id: Run["id"]): Promise<void> {
    return new Promise((resolve, reject) => {
      const look = async () => {
        if (!hasEnded(await this.run(id))) return;
        stop();
        resolve();
      };
      const stop = this.store.onChange(() => void look().catch(reject));
    });
  }

  async run(id: Run["id"]): Promise<Run> {
    const run = await this.store.findRun(id);
    if (!run) throw new Error("there is no such run");
    return run;
  }

  /** Answers the question that a run waits for, and does what is due. */
  async answer(run: Pick<Run, "id">, text: string): Promise<Run> {
    const { pendingId } = await this.run(run.id);
    if (pendingId === undefined) throw new Error("the run waits for nothing");
    await this.engine.answer(pendingId, said(text), ADA);
    await this.doDue();
    return this.run(run.id);
  }

  /** Lets the agent that was started last work: what it costs is counted, then it ends, and what is due is done. */
  async endAgent(over: Partial<RunResult> & { costUsd?: number } = {}): Promise<Run> {
    const { runId } = this.agents.at(-1) ?? {};
    if (runId === undefined) throw new Error("no agent was started");
    await this.#endAgent(runId, over);
    await this.doDue();
    return this.run(runId);
  }

  /** Lets all agents that were started work as `endAgent` does, and does what is due when the last has ended. */
  async endAgents(over: Partial<RunResult> & { costUsd?: number } = {}): Promise<void> {
    for (const { runId } of this.agents) await this.#endAgent(runId, over);
    await this.doDue();
  }

  async #endAgent(runId: Run["id"], { costUsd, ...result }: Partial<RunResult> & { costUsd?: number }) {
    await this.engine.startRun(runId, SYSTEM);
    if (costUsd !== undefined) {
      const meter = await UsageMeter.open(this.store, runId, undefined);
      await meter.keep([{ since: "process", costUsd }], this.now);
    }
    await this.engine.endRun(runId, { status: "completed", ...result }, SYSTEM);
  }

  /** The agent that was started last asks, and ends because nobody answers at once. */
  async askByAgent(question: string): Promise<Run> {
    const { runId } = this.agents.at(-1) ?? {};
    if (runId === undefined) throw new Error("no agent was started");
    const { epoch } = await this.engine.startRun(runId, SYSTEM);
    const by = { ...AGENT, runId };
    const input = parseAsk({ question }, { via: "mcp" }, this.#rules, this.now);
    await this.engine.ask({ ...input, holdMs: undefined }, by, { runId, epoch });
    await this.engine.endRun(runId, { status: "completed" }, SYSTEM);
    await this.doDue();
    return this.run(runId);
  }

  /** Counts what the agent that was started last uses. */
  async meter(base?: UsageRow): Promise<UsageMeter> {
    const { runId } = this.agents.at(-1) ?? {};
    if (runId === undefined) throw new Error("no agent was started");
    return UsageMeter.open(this.store, runId, base);
  }

  async checkpoint(run: Pick<Run, "id">) {
    const entry = await this.store.findEntry("checkpoint", run.id);
    if (!entry) throw new Error("the run has no checkpoint");
    return parseCheckpoint(entry).checkpoint;
  }

  async children(run: Pick<Run, "id">): Promise<Run[]> {
    return this.store.listRuns({ parentId: run.id, order: "oldest", limit: 100 });
  }

  async events(run: Pick<Run, "id">): Promise<string[]> {
    return (await this.engine.readChain(run.id)).map(({ event }) => event.type);
  }
}
