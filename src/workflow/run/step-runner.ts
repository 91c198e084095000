import { randomBytes } from "node:crypto";
import { SYSTEM } from "../../core/people/actor.ts";
import type { Changes } from "../../core/changes.ts";
import type { RunId, WorkerId } from "../../core/id.ts";
import { SECOND_MS, later } from "../../core/instant.ts";
import type { ClaimedJob, JobKind } from "../../core/run/job.ts";
import { stepJob } from "../../core/run/job.ts";
import { type Run, hasEnded } from "../../core/run/run.ts";
import { cancelRun } from "../../core/run/run-lifecycle.ts";
import { failDamagedRun } from "../../core/trail/rebuilt-row.ts";
import { Refusal } from "../../core/refusal.ts";
import { type Redactor, redactor } from "../../core/secret/redact.ts";
import { DELIMITER_BYTES, delimiterFrom } from "../../core/text/foreign-text.ts";
import { sayLostDefinition } from "../../core/workflow/approval.ts";
import { findTimeoutMs } from "../../core/workflow/definition/step-policy.ts";
import type { StepResult } from "../../core/workflow/run/machine.ts";
import { JobLost } from "../../engine/decide.ts";
import { retryOf, sayWhy } from "../../engine/jobs/job-retry.ts";
import type { Handler, JobContext } from "../../engine/jobs/worker.ts";
import { readAgentTask } from "../tool/agent.ts";
import { findTool } from "../tool/find-tool.ts";
import { type StepContext, StepError, type StepOutside } from "../tool/tool.ts";
import { findHold } from "./approved-file.ts";
import { reserveBudget } from "./budget.ts";
import { redactDeep } from "./redact-deep.ts";
import { findDefinition } from "./kept-definition.ts";
import { type RunReading, readTurn } from "./read-turn.ts";
import { mayStartNow, pauseBeforeStart } from "./start-limit.ts";
import { lookAtTriggers } from "./trigger-handler.ts";
import { type Turn, type TurnCause, takeTurn } from "./turn.ts";

const LEASE_MS = 15 * SECOND_MS;
/** How often a lease is renewed before it ends. */
const RENEWALS = 3;
/** A step that takes longer goes on beside the worker, which claims other jobs meanwhile. */
const PATIENCE_MS = 250;
/** How many steps this process does at a time. */
const MOST_AT_ONCE = 64;
const BUSY_PAUSE_MS = SECOND_MS;
/** Between looks whether the definition of an imported run was approved. */
const HELD_PAUSE_MS = 30 * SECOND_MS;
/** How long steps may take to end when the process stops. */
const LEAVE_MS = 10 * SECOND_MS;
/** The longest that a step without a timeout of its own may take. */
const LONGEST_CALL_MS = 60 * 60 * SECOND_MS;
/** How often a step is tried whose service does not reply. */
const MOST_ATTEMPTS = 6;
const MOST_CHILDREN = 1_000;
const MOST_OUTPUT_CHARS = 256 * 1024;
/** How much a failed step keeps of what its program printed. */
const MOST_FAILURE_CHARS = 4_000;

export interface StepRunnerDeps {
  worker: WorkerId;
  outside: StepOutside;
  /** The secrets that steps may use. */
  readSecrets(): Readonly<Record<string, string>>;
  /** Ends processes that an earlier process of this machine left running for the run. */
  stopPrograms(run: Run): Promise<void>;
  /** How long a step belongs to this process after it last wrote; tests shorten it. */
  leaseMs?: number | undefined;
  /** How long a run waits for room while this process does as many as it can; tests have longer. */
  roomMs?: number | undefined;
  /** Called at each station of a step; tests kill the process there. */
  onStep?: ((station: string) => void) | undefined;
}

/** The job that this process holds; each commit renews it. */
interface HeldJob {
  job: ClaimedJob;
}

/** Does the steps of workflow runs, as jobs demand. */
export class StepRunner {
  readonly #deps: StepRunnerDeps;
  readonly #doing = new Map<RunId, Promise<void>>();
  readonly #leaving = new AbortController();

  constructor(deps: StepRunnerDeps) {
    this.#deps = deps;
  }

  get #leaseMs(): number {
    return this.#deps.leaseMs ?? LEASE_MS;
  }

  /** How many steps this process does now. */
  get count(): number {
    return this.#doing.size;
  }

  handlers(): Partial<Record<JobKind, Handler>> {
    const { outside } = this.#deps;
    return { step: (job, work) => this.#handle(job, work), trigger: (job, work) => lookAtTriggers(job, work, outside) };
  }

  /** Lets steps end, and gives up those that do not: another process goes on with them as after a crash. */
  async leave(): Promise<void> {
    if (this.#doing.size === 0) return;
    const timer = setTimeout(() => this.#leaving.abort(), LEAVE_MS);
    await Promise.all(this.#doing.values());
    clearTimeout(timer);
  }

  async #handle(job: ClaimedJob, work: JobContext): Promise<void> {
    const { runId } = job;
    if (runId === undefined) throw new Error(`job ${job.key} names no run`);
    if (!(await this.#hasRoom()) || this.#doing.has(runId)) {
      return void (await work.decider.commit({
        postponed: [{ job, dueAt: later(work.now, BUSY_PAUSE_MS), tries: 0 }],
      }));
    }
    const doing = this.#advance(runId, { job }, work).finally(() => this.#doing.delete(runId));
    this.#doing.set(runId, doing);
    let timer: NodeJS.Timeout | undefined;
    const patience = new Promise<void>((resolve) => (timer = setTimeout(resolve, PATIENCE_MS)));
    await Promise.race([doing, patience]);
    clearTimeout(timer);
  }

  /** Waits a little for room, because most steps are short: a postponed one costs a commit and a second. */
  async #hasRoom(): Promise<boolean> {
    const endMs = performance.now() + (this.#deps.roomMs ?? PATIENCE_MS);
    while (this.#doing.size >= MOST_AT_ONCE) {
      const leftMs = endMs - performance.now();
      if (leftMs <= 0) return false;
      let timer: NodeJS.Timeout | undefined;
      const isOver = new Promise<void>((resolve) => (timer = setTimeout(resolve, leftMs)));
      await Promise.race([...this.#doing.values(), isOver]);
      clearTimeout(timer);
    }
    return true;
  }

  /** Does steps until the run waits or ends. A failure of the store or of this machine is tried again later. */
  async #advance(runId: RunId, held: HeldJob, work: JobContext): Promise<void> {
    try {
      this.#deps.onStep?.("claimed");
      let cause: TurnCause = { is: "claimed", isRepeatable: (tool) => findTool(tool).isRepeatable };
      for (;;) {
        const turn = await this.#turn(runId, cause, held, work);
        if (!turn?.call) return;
        cause = await this.#call(turn, turn.call, held, work);
        this.#deps.onStep?.(`called ${turn.call.step.id}`);
      }
    } catch (error) {
      if (error instanceof JobLost || this.#leaving.signal.aborted) return; // another process goes on with it
      work.onFailure(held.job, error);
      const { now } = work.decider.at(SYSTEM);
      await work.decider.commit({ postponed: [retryOf(held.job, error, now)] }).catch(() => undefined); // its lease ends
    }
  }

  /** Reads, decides and commits one turn; undefined if there is nothing to do. */
  async #turn(runId: RunId, cause: TurnCause, held: HeldJob, work: JobContext): Promise<Turn | undefined> {
    const { decider } = work;
    let isFirst = cause.is === "claimed";
    return decider
      .retry(async () => {
        const reading = await readTurn(runId, work, this.#deps);
        if (!reading) {
          await failLost(runId, work);
          return finished(held, work);
        }
        const { run, children } = reading.snapshot;
        if (hasEnded(run)) {
          await cancelAll(children, work);
          return finished(held, work);
        }
        const why = await findHold(run, work.store);
        if (why !== undefined) {
          const dueAt = later(work.now, HELD_PAUSE_MS);
          await decider.commit({ postponed: [{ job: held.job, dueAt, tries: 1, failure: { why, at: work.now } }] });
          return "none";
        }
        if (isFirst && !(await mayStartNow(run, reading, work))) {
          const dueAt = later(work.now, pauseBeforeStart(run, work.now));
          await decider.commit({ postponed: [{ job: held.job, dueAt, tries: 0 }] });
          return "none";
        }
        if (isFirst && reading.isInterrupted) await this.#deps.stopPrograms(run);
        isFirst = false;
        const at = decider.at(SYSTEM);
        const context = { at, machine: reading.machine, clean: this.#redactor(work) };
        const { rejection } = reading;
        const turn = takeTurn(reading.snapshot, rejection ? { is: "rejected", failure: rejection } : cause, context);
        this.#deps.onStep?.(`committing ${describe(turn)}`);
        const isDone = await this.#commit(turn, held, work);
        if (!isDone) return undefined;
        this.#deps.onStep?.(`committed ${describe(turn)}`);
        await cancelAll(staleChildren(reading), work);
        return turn;
      })
      .then((turn) => (turn === "none" ? undefined : turn));
  }

  /** Commits a turn together with its job: kept by this process, due later, or done. */
  async #commit({ changes, run, call, dueAt }: Turn, held: HeldJob, { decider }: JobContext): Promise<boolean> {
    const { now } = decider.at(SYSTEM);
    const announced = await decider.announce(changes);
    const claim = { worker: this.#deps.worker, leaseMs: this.#leaseMs };
    const next = call ? [{ ...stepJob(run, now), claim }] : dueAt === undefined ? [] : [stepJob(run, dueAt)];
    // The old claim is finished in the same commit: a process that has lost it writes nothing.
    const committed = await decider.commit({
      ...announced,
      scheduled: [
        ...(announced.scheduled ?? []).filter(({ key }) => key !== held.job.key || next.length === 0),
        ...next,
      ],
      finished: [held.job],
    });
    if (!committed.ok) return false;
    const attempt = committed.attempts.get(held.job.key);
    if (call && attempt !== undefined) held.job = { ...held.job, attempt };
    return true;
  }

  /** Makes the call of a step, and keeps the job meanwhile. */
  async #call(turn: Turn, call: NonNullable<Turn["call"]>, held: HeldJob, work: JobContext): Promise<TurnCause> {
    const stop = new AbortController();
    const renewal = this.#renew(turn.run, held, stop, work);
    const timeout = AbortSignal.timeout(findTimeoutMs(call.step) ?? LONGEST_CALL_MS);
    const signal = AbortSignal.any([stop.signal, timeout, this.#leaving.signal]);
    try {
      this.#deps.onStep?.(`calling ${call.step.id}`);
      return await this.#do(turn, call, signal, work);
    } catch (error) {
      if (stop.signal.aborted || this.#leaving.signal.aborted)
        throw new JobLost("the step was given up", { cause: error });
      if (mayRepeat(error, call) && !timeout.aborted) throw error;
      return { is: "result", result: failureOf(error, { isOver: timeout.aborted, clean: this.#redactor(work) }) };
    } finally {
      await renewal.end();
    }
  }

  async #do(
    { run }: Turn,
    { step, input }: NonNullable<Turn["call"]>,
    signal: AbortSignal,
    work: JobContext,
  ): Promise<TurnCause> {
    const { outside } = this.#deps;
    if (step.tool === "agent") return this.#startAgent(run, step.id, input, work);
    const context: StepContext = {
      run,
      key: await keyOf(run, step.id, work),
      issue: run.issue?.repo === undefined ? undefined : { repo: run.issue.repo, number: run.issue.number },
      outside,
      signal,
      openTree: () => outside.openTree(run),
    };
    const output = await findTool(step.tool).run(input, context);
    const kept = redactDeep(output, this.#redactor(work));
    if ((JSON.stringify(kept) ?? "").length > MOST_OUTPUT_CHARS) {
      throw new StepError("too_large", `Its output is larger than ${MOST_OUTPUT_CHARS / 1024} kB`);
    }
    return { is: "result", result: { is: "done", output: kept } };
  }

  /** Removes secrets, those of the settings among them, from what is kept. */
  #redactor({ decider }: JobContext): Redactor {
    return redactor(Object.values(this.#deps.readSecrets()), decider.at(SYSTEM).rules.redact);
  }

  /** Prepares the run of an agent; the next turn creates it together with the checkpoint. */
  async #startAgent(
    run: Run,
    step: string,
    input: Readonly<Record<string, unknown>>,
    work: JobContext,
  ): Promise<TurnCause> {
    const { outside } = this.#deps;
    const task = readAgentTask(input, delimiterFrom(randomBytes(DELIMITER_BYTES)));
    const id = work.decider.at(SYSTEM).ids.run();
    const mostUsd = outside.findAgentBudget(task.agent);
    const budgetUsd = await reserveBudget(run, { id, budgetUsd: task.budgetUsd, mostUsd }, work);
    const tree = await outside.openTree(run);
    const { agent } = await outside.prepareAgent({
      runId: id,
      agent: task.agent,
      prompt: task.prompt,
      dir: tree.dir,
      budgetUsd,
    });
    const branch = tree.branch === undefined ? {} : { branch: tree.branch };
    return { is: "agent", child: { id, name: `${run.name}/${step}`, agent, dir: tree.dir, ...branch } };
  }

  /** Renews the job every few seconds, and stops the step when the run was cancelled or the job is lost. */
  #renew(run: Run, held: HeldJob, stop: AbortController, { store, decider }: JobContext) {
    let renewing: Promise<void> = Promise.resolve();
    const renew = async () => {
      const now = await store.findRun(run.id);
      if (!now || hasEnded(now)) return stop.abort();
      const job = {
        ...stepJob(run, decider.at(SYSTEM).now),
        claim: { worker: this.#deps.worker, leaseMs: this.#leaseMs },
      };
      const committed = await decider.commit({ finished: [held.job], scheduled: [job] });
      const attempt = committed.ok ? committed.attempts.get(job.key) : undefined;
      if (attempt !== undefined) held.job = { ...held.job, attempt };
    };
    const timer = setInterval(() => {
      renewing = renewing.then(renew).catch((error: unknown) => {
        // While the store is away the lease may end; the next commit finds out.
        if (error instanceof JobLost) stop.abort();
      });
    }, this.#leaseMs / RENEWALS);
    return {
      end: async () => {
        clearInterval(timer);
        await renewing;
      },
    };
  }
}

async function finished({ job }: HeldJob, { decider }: JobContext): Promise<"none"> {
  await decider.commit({ finished: [job] });
  return "none";
}

/** Fails a run whose checkpoint or definition is lost, and cancels the runs that it started. */
async function failLost(runId: RunId, work: JobContext): Promise<void> {
  const found = await work.store.findRun(runId);
  if (!found) return;
  const { workflow } = found;
  const isLost = workflow && !(await findDefinition(work.store, workflow.definition));
  const summary = isLost ? sayLostDefinition(workflow) : "Its checkpoint is lost: nobody knows which steps were done";
  await work.decider.changeRun(runId, SYSTEM, ({ run, open }, at) =>
    failDamagedRun({ run: { ...run, result: { summary } }, open }, at),
  );
  const children = await work.store.listRuns({ parentId: runId, order: "oldest", limit: MOST_CHILDREN });
  await cancelAll(
    children.filter(({ waitedForBy }) => waitedForBy?.runId === runId),
    work,
  );
}

/** Cancels runs that nobody waits for any more. */
async function cancelAll(runs: readonly Run[], { decider }: JobContext): Promise<void> {
  for (const { id } of runs.filter((run) => !hasEnded(run))) {
    await decider.changeRun(id, SYSTEM, (read, at): Changes =>
      hasEnded(read.run) ? {} : cancelRun(read, "parent_ended", at),
    );
  }
}

/** The runs of a step that has ended without them. */
function staleChildren({ snapshot, machine }: RunReading): readonly Run[] {
  const isWaited = machine.current?.record.status === "waiting";
  return isWaited ? [] : snapshot.children;
}

/** Names a step of a run outside; each item of a list has its own name. */
async function keyOf(run: Run, step: string, { store }: JobContext): Promise<string> {
  const entry = await store.findEntry("checkpoint", run.id);
  const outputs = (entry?.body["steps"] as Record<string, { outputs?: unknown[] }> | undefined)?.[step]?.outputs;
  return `${run.id}:${step}${outputs ? `:${outputs.length}` : ""}`;
}

/** A service that did not reply is tried again soon, if the step looks for what it did before. */
function mayRepeat(error: unknown, { step, attempt }: NonNullable<Turn["call"]>): boolean {
  const isOutside = !(error instanceof StepError) && !(error instanceof Refusal);
  return isOutside && attempt < MOST_ATTEMPTS && findTool(step.tool).isRepeatable;
}

function failureOf(error: unknown, { isOver, clean }: { isOver: boolean; clean: Redactor }): StepResult {
  const printed = error instanceof StepError ? error.output : undefined;
  const output = printed === undefined ? undefined : endOf(clean(printed));
  if (isOver) return { is: "failed", failure: { code: "step_timeout", message: "Its time is over", output } };
  const message = sayWhy(error, clean);
  if (error instanceof StepError) {
    const isFinal = error.code === "bad_input" || error.code === "ambiguous_tool" || error.code === "nothing_changed";
    return { is: "failed", failure: { code: error.code, message, output }, isFinal };
  }
  return { is: "failed", failure: { code: "step_failed", message } };
}

/** The last lines of a text. */
function endOf(text: string): string {
  if (text.length <= MOST_FAILURE_CHARS) return text;
  const end = text.slice(-MOST_FAILURE_CHARS);
  return end.slice(end.indexOf("\n") + 1);
}

function describe({ call, run }: Turn): string {
  return call ? call.step.id : run.status;
}
