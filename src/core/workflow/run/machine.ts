import type { QuestionId, RunId } from "../../id.ts";
import { type Instant, later } from "../../instant.ts";
import type { Checkpoint, StepFailure, StepRecord } from "../checkpoint.ts";
import type { ToolStep, WorkflowStep } from "../definition/definition.ts";
import { MissingSecret } from "../definition/evaluate.ts";
import { TELLING_TOOLS } from "../definition/scope-name.ts";
import { findItems, findRetryMs, findTimeoutMs } from "../definition/step-policy.ts";
import { fillTemplate, isMet } from "../definition/template.ts";
import { requireSize } from "../definition/value-size.ts";
import { promptParts } from "./prompt.ts";
import type { WorkflowPlan } from "./plan.ts";

/** The most steps that one run starts: a loop of `goto` ends here. */
const MOST_STARTED = 2_000;
/** How a step ended. */
export type StepResult =
  | { is: "done"; output: unknown }
  | { is: "failed"; failure: StepFailure; /** Trying again is useless. */ isFinal?: boolean }
  /** A branch was skipped, and so is the whole run. */
  | { is: "skipped"; reason: string | undefined };

/** How a question of the run ended. */
export interface QuestionResult {
  /** Nobody answered, or nobody was asked: the run is skipped, fails, or is blocked until a person resumes it. */
  ends?: { how: "skip" | "fail" | "block"; reason: string } | undefined;
  /** The answer as expressions see it; undefined if the person left the choice to the workflow. */
  answer: unknown;
  /** Everything else that expressions see of the question. */
  question: Readonly<Record<string, unknown>>;
}

/** A branch that begins, with the values that only its steps see. */
export interface StartedBranch {
  name: string;
  data: Readonly<Record<string, unknown>>;
}

/** The next thing that has to happen. */
export type NextAct =
  | { do: "call" | "ask"; step: ToolStep; input: Record<string, unknown> }
  | { do: "branches"; step: WorkflowStep; branches: StartedBranch[] }
  | { do: "wait"; until: Instant | undefined }
  | { do: "retry"; at: Instant }
  | {
      do: "end";
      status: "completed" | "failed" | "skipped" | "blocked";
      reason?: string;
      summary?: string | undefined;
    };

/** A step whose end has to be told. */
export interface EndedStep {
  step: string;
  record: StepRecord;
}

interface MachineInput {
  plan: WorkflowPlan;
  checkpoint: Checkpoint;
  /** Values that expressions see and that are not kept, such as the run itself. */
  around: Readonly<Record<string, unknown>>;
  /** The secrets of the settings; only the input of tools that tell nobody of it can have them. */
  secrets: Readonly<Record<string, string>>;
  now: Instant;
}

/** Moves one run from a checkpoint to the next: which step comes, with what input, and what its end means. It only decides. */
export class Machine {
  readonly ended: EndedStep[] = [];
  #state: Checkpoint;
  readonly #given: MachineInput;

  constructor(given: MachineInput) {
    this.#state = { ...given.checkpoint, updatedAt: given.now };
    this.#given = given;
  }

  get checkpoint(): Checkpoint {
    return this.#state;
  }

  /** The step whose end is not recorded. */
  get current(): { step: WorkflowStep; record: StepRecord } | undefined {
    const { current } = this.#state;
    const step = this.#steps.find(({ id }) => id === current);
    const record = current === undefined ? undefined : this.#state.steps[current];
    return step && record ? { step, record } : undefined;
  }

  /** Finds the next step and records its start. */
  next(): NextAct {
    for (;;) {
      const step = this.#steps[this.#state.index];
      if (!step) return this.#end();
      try {
        if (this.#state.started >= MOST_STARTED)
          throw new Error(`${MOST_STARTED} steps were done; its loop does not end`);
        requireSize(this.#state.data);
        const act = this.#begin(step);
        if (act) return act;
      } catch (error) {
        this.#record(step, newRecord(step, this.#given.now));
        this.#set({ current: step.id });
        this.finish({ is: "failed", failure: wrongExpression(error), isFinal: true });
      }
    }
  }

  /** The run cannot begin: it fails before its first step, and without those of `on_failure`. */
  reject({ code, message }: StepFailure): NextAct {
    this.#stop("failed", code, message);
    return this.#end();
  }

  /** Records the end of the current step; returns when it is tried again, if it is. */
  finish(result: StepResult): NextAct | undefined {
    const { step, record } = this.#getCurrent();
    if (result.is === "done") {
      this.#complete(step, record, result.output);
      return undefined;
    }
    if (result.is === "skipped") {
      this.#close(step, record, { status: "skipped" });
      this.#skip(result.reason);
      return undefined;
    }
    const { failure, isFinal = false } = result;
    const retryMs = isFinal || !("tool" in step) ? undefined : findRetryMs(step, record.attempt);
    if (retryMs !== undefined) {
      this.#record(step, { ...record, status: "retrying", failure, runs: undefined });
      return { do: "retry", at: later(this.#given.now, retryMs) };
    }
    this.#close(step, record, { status: "failed", failure });
    this.#fail(step.id, failure);
    return undefined;
  }

  /** Starts the current step again after a failure, or because nobody knows how it ended and repeating it is safe. */
  repeat(): NextAct {
    const { step, record } = this.#getCurrent();
    this.#record(step, { ...record, status: "running", attempt: record.attempt + 1, failure: undefined });
    this.#set({ started: this.#state.started + 1 });
    try {
      return this.#act(step);
    } catch (error) {
      return this.finish({ is: "failed", failure: wrongExpression(error), isFinal: true }) ?? this.next();
    }
  }

  /** Keeps the input of the current step as people may see it. */
  show(input: unknown): void {
    const { step, record } = this.#getCurrent();
    this.#record(step, { ...record, input });
  }

  /** The run waits for a person: no job is left but that of the question. */
  suspend(questionId: QuestionId): void {
    const { step, record } = this.#getCurrent();
    this.#record(step, { ...record, status: "suspended", questionId });
    this.#set({ pendingQuestionId: questionId, suspendedAt: this.#given.now });
  }

  /** The current step waits for these runs too. */
  waitFor(runs: Readonly<Record<string, RunId>>): NextAct {
    const { step, record } = this.#getCurrent();
    this.#record(step, { ...record, status: "waiting", runs: { ...record.runs, ...runs } });
    const timeoutMs = "tool" in step ? findTimeoutMs(step) : undefined;
    return { do: "wait", until: timeoutMs === undefined ? undefined : later(record.startedAt, timeoutMs) };
  }

  /** The branches of the current step that can begin while so many others are not done. */
  nextBranches(live: number): StartedBranch[] {
    const { step, record } = this.#getCurrent();
    const { branches, atOnce } = this.#branchesOf(step);
    const left = branches.filter(({ name }) => !Object.hasOwn(record.runs ?? {}, name));
    return left.slice(0, Math.max(0, atOnce - live));
  }

  /** The question of the current step has an outcome. */
  resume({ ends, answer, question }: QuestionResult): void {
    const { step, record } = this.#getCurrent();
    const pendingQuestion = { ...question, answer };
    const data = { ...this.#state.data, pendingQuestion };
    this.#set({ pendingQuestionId: undefined, resumedAt: this.#given.now, data });
    if (ends?.how === "skip" || ends?.how === "block") {
      this.#close(step, record, { status: "skipped" });
      return ends.how === "skip" ? this.#skip(ends.reason) : this.#stop("blocked", ends.reason);
    }
    if (ends) {
      const failure = { code: "input_timeout", message: "Nobody answered in time" };
      this.finish({ is: "failed", failure, isFinal: true });
      return;
    }
    this.#complete(step, record, pendingQuestion);
    this.#set({ data: { ...this.#state.data, answer } });
    if (record.outputs !== undefined) return; // other items follow
    try {
      this.#inject();
    } catch (error) {
      this.#fail("on_resume", wrongExpression(error));
    }
  }

  /** Goes back to the step that asked this question: a person answered after its deadline. */
  reopen(questionId: QuestionId): boolean {
    const [id] = Object.entries(this.#state.steps).find(([, record]) => record.questionId === questionId) ?? [];
    const index = this.#given.plan.lists.steps.findIndex((step) => step.id === id);
    if (id === undefined || index < 0) return false;
    this.#set({ list: "steps", index, current: id, ending: undefined });
    return true;
  }

  /** Goes back to a step, or to the one that failed; it and those after it are done again. */
  rewind(from: string | undefined): boolean {
    const { steps } = this.#given.plan.lists;
    const isOpen = (id: string) => {
      const status = this.#state.steps[id]?.status;
      return (
        status !== undefined && status !== "completed" && (status !== "skipped" || this.#state.ending !== undefined)
      );
    };
    const hasNone = Object.keys(this.#state.steps).length === 0;
    const index = steps.findIndex(({ id }) => (from === undefined ? hasNone || isOpen(id) : id === from));
    if (index < 0) return false;
    const again = new Set(steps.slice(index).map(({ id }) => id));
    const kept = Object.entries(this.#state.steps).filter(([id]) => !again.has(id));
    const place = { list: "steps", index, current: undefined, ending: undefined } as const;
    this.#set({ ...place, pendingQuestionId: undefined, steps: Object.fromEntries(kept) });
    return true;
  }

  get #steps(): readonly WorkflowStep[] {
    return this.#given.plan.lists[this.#state.list];
  }

  #getCurrent() {
    const { current } = this;
    if (!current) throw new Error("no step of the run is under way");
    return current;
  }

  /** Starts a step; undefined if there is nothing to do for it. */
  #begin(step: WorkflowStep): NextAct | undefined {
    const before = this.#state.steps[step.id];
    const isNew = before?.outputs === undefined || before.endedAt !== undefined;
    const record = newRecord(step, this.#given.now);
    if (isNew && !isMet(step.condition, this.#scope())) {
      this.#close(step, record, { status: "skipped" });
      this.#set({ index: this.#state.index + 1 });
      return undefined;
    }
    const items = "tool" in step ? findItems(step, this.#scope()) : undefined;
    const isOneByOne = items !== undefined && items.atOnce === 1;
    const outputs = isOneByOne ? (isNew ? [] : before.outputs) : undefined;
    this.#record(step, { ...record, outputs });
    this.#set({ current: step.id });
    if (isOneByOne && (outputs?.length ?? 0) >= items.items.length) {
      this.#finishStep(step, record, [...(outputs ?? [])]);
      return undefined;
    }
    this.#set({ started: this.#state.started + 1 });
    return this.#act(step);
  }

  /** The act of the current step. */
  #act(step: WorkflowStep): NextAct {
    const { record } = this.#getCurrent();
    const isOneByOne = record.outputs !== undefined;
    if ("tool" in step && (step.for_each === undefined || isOneByOne)) {
      const scope = this.#scope(isOneByOne ? step : undefined);
      const secrets = TELLING_TOOLS.includes(step.tool) ? {} : { secrets: this.#given.secrets };
      const input = toObject(fillTemplate(step.input, { ...scope, ...secrets }));
      const prompt = step.tool === "agent" ? step.input?.["prompt"] : undefined;
      if (typeof prompt === "string") input["prompt"] = promptParts(prompt, scope);
      return { do: step.tool === "post_question" ? "ask" : "call", step, input };
    }
    const { branches, atOnce } = this.#branchesOf(step);
    return { do: "branches", step, branches: branches.slice(0, atOnce) };
  }

  #branchesOf(step: WorkflowStep): { branches: StartedBranch[]; atOnce: number } {
    if ("parallel" in step) {
      return { branches: step.parallel.map(({ id }) => ({ name: id, data: {} })), atOnce: step.parallel.length };
    }
    const items = findItems(step, this.#scope());
    if (!items) return { branches: "tool" in step ? [] : [{ name: "steps", data: {} }], atOnce: 1 };
    const { as, atOnce } = items;
    return {
      branches: items.items.map((item, index) => ({ name: String(index), data: { [as]: item, index } })),
      atOnce,
    };
  }

  #complete(step: WorkflowStep, record: StepRecord, output: unknown) {
    if (record.outputs === undefined) return this.#finishStep(step, record, output);
    // The next item is the same step again, with one output more.
    this.#record(step, { ...record, outputs: [...record.outputs, output ?? null], questionId: undefined });
    this.#set({ current: undefined });
  }

  #finishStep(step: WorkflowStep, record: StepRecord, output: unknown) {
    this.#close(step, record, { status: "completed", output });
    const data = step.output === undefined ? this.#state.data : { ...this.#state.data, [step.output]: output };
    this.#set({ data, index: this.#state.index + 1 });
  }

  #inject() {
    const { onResume, lists } = this.#given.plan;
    if (!onResume || this.#state.list !== "steps") return;
    const values = toObject(fillTemplate(onResume.inject, this.#scope()));
    this.#set({ data: { ...this.#state.data, ...values } });
    const index = lists.steps.findIndex(({ id }) => id === onResume.goto);
    if (index >= 0) this.#set({ index });
  }

  /** The run ends as skipped; if nobody answered in time, after the steps of `on_timeout`. */
  #skip(reason = "input_timeout") {
    if (reason !== "input_timeout") return this.#stop("skipped", reason);
    this.#set({ list: "on_timeout", index: 0, ending: { status: "skipped", reason } });
  }

  /** The run ends without further steps. */
  #stop(status: "skipped" | "blocked" | "failed", reason: string, summary?: string) {
    const index = this.#given.plan.lists.on_timeout.length;
    this.#set({ list: "on_timeout", index, ending: { status, reason, summary } });
  }

  #fail(step: string, failure: StepFailure) {
    const { list, ending } = this.#state;
    const summary = `Step ${step}: ${failure.message}`;
    if (list === "on_failure" && ending) {
      const index = this.#given.plan.lists.on_failure.length;
      return this.#set({ index, ending: { ...ending, summary: `${ending.summary ?? ""}; then ${summary}` } });
    }
    const data = { ...this.#state.data, error: { step, ...failure } };
    this.#set({ data, list: "on_failure", index: 0, ending: { status: "failed", reason: failure.code, summary } });
  }

  #end(): NextAct {
    const { ending } = this.#state;
    return ending ? { do: "end", ...ending } : { do: "end", status: "completed" };
  }

  /** The values that expressions see; with a step that is done item by item, also its item. */
  #scope(each?: ToolStep): Record<string, unknown> {
    const scope = { ...this.#state.data, ...this.#given.around };
    const items = each && findItems(each, scope);
    if (!items) return scope;
    const index = this.#state.steps[each.id]?.outputs?.length ?? 0;
    return { ...scope, [items.as]: items.items[index], index };
  }

  #close(step: WorkflowStep, record: StepRecord, how: Pick<StepRecord, "status" | "output" | "failure">) {
    const closed = { ...record, outputs: undefined, ...how, endedAt: this.#given.now };
    this.#record(step, closed);
    this.#set({ current: undefined });
    this.ended.push({ step: step.id, record: closed });
  }

  #record(step: WorkflowStep, record: StepRecord) {
    this.#set({ steps: { ...this.#state.steps, [step.id]: record } });
  }

  #set(change: Partial<Checkpoint>) {
    this.#state = { ...this.#state, ...change };
  }
}

/** The result of a branch that has ended. */
export function branchOutput(
  { lists: { steps }, isGroup }: WorkflowPlan,
  { steps: records, data }: Checkpoint,
): unknown {
  if (!isGroup) return steps[0] && records[steps[0].id]?.output;
  const names = steps.flatMap(({ output }) => output ?? []);
  return Object.fromEntries(names.map((name) => [name, data[name]]));
}

function newRecord(step: WorkflowStep, now: Instant): StepRecord {
  const tool = "tool" in step ? step.tool : "parallel" in step ? "parallel" : "steps";
  return { status: "running", tool, startedAt: now, attempt: 1 };
}

/** An expression that cannot be evaluated is the failure of its step, and trying again does not help. */
function wrongExpression(error: unknown): StepFailure {
  const code = error instanceof MissingSecret ? "missing_secret" : "bad_expression";
  return { code, message: error instanceof Error ? error.message : String(error) };
}

/** The input of a tool is always an object. */
function toObject(value: unknown): Record<string, unknown> {
  if (value === undefined || value === null) return {};
  if (typeof value === "object" && !Array.isArray(value)) return { ...value };
  throw new Error("the input of a step is no object");
}
