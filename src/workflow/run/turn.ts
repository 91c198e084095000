import type { Changes, DecisionContext, QuestionSnapshot } from "../../core/changes.ts";
import type { RunId } from "../../core/id.ts";
import type { Instant } from "../../core/instant.ts";
import type { Actor } from "../../core/people/actor.ts";
import { ask } from "../../core/question/ask.ts";
import { parseAsk } from "../../core/question/ask-input.ts";
import { isPending } from "../../core/question/question.ts";
import { Refusal } from "../../core/refusal.ts";
import { give, startJob } from "../../core/run/handover.ts";
import { type Run, hasEnded } from "../../core/run/run.ts";
import type { Redactor } from "../../core/secret/redact.ts";
import { runEvent, workflowEvent } from "../../core/trail/event.ts";
import { joinChanges } from "../../core/trail/store-event.ts";
import { type KeptCheckpoint, type StepFailure, checkpointEntry } from "../../core/workflow/checkpoint.ts";
import type { EndedStep, Machine, NextAct, StartedBranch, StepResult } from "../../core/workflow/run/machine.ts";
import { questionResult } from "../../core/workflow/run/question-result.ts";
import type { RunInput } from "../../engine/engine.ts";
import { newRun } from "../../engine/new-run.ts";
import { unreachable } from "../../core/unreachable.ts";
import { newCheckpoint } from "./new-checkpoint.ts";
import { redactDeep } from "./redact-deep.ts";

/** The rows of a run and of what it waits for. */
export interface TurnSnapshot {
  run: Run;
  kept: KeptCheckpoint;
  /** Its questions with outcomes that it has not taken. */
  open: readonly QuestionSnapshot[];
  /** The runs that its current step started. */
  children: readonly Run[];
  /** How those of them that have ended count for the step. */
  results: ReadonlyMap<RunId, StepResult>;
}

/** The event since the last checkpoint. */
export type TurnCause =
  /** The job was claimed: something is due, or a process died. */
  | { is: "claimed"; isRepeatable: (tool: string) => boolean }
  | { is: "result"; result: StepResult }
  /** The run cannot begin. */
  | { is: "rejected"; failure: StepFailure }
  /** The current step starts the run of an agent. */
  | { is: "agent"; child: RunInput };

/** From one checkpoint to the next: the changes to commit, without the job, and what has to be done after that. */
export interface Turn {
  changes: Changes;
  run: Run;
  /** A call that this process makes now; everything else waits. */
  call: (StepCall & { attempt: number }) | undefined;
  /** When the run goes on by itself; undefined if somebody else resumes it. */
  dueAt: Instant | undefined;
}

type StepCall = Extract<NextAct, { do: "call" | "ask" }>;

interface TurnContext {
  at: DecisionContext;
  machine: Machine;
  clean: Redactor;
}

/** Decides one turn of a workflow run. */
export function takeTurn(read: TurnSnapshot, cause: TurnCause, context: TurnContext): Turn {
  const taken = takeOutcomes(read, context);
  const now = { ...read, run: taken.run };
  if (cause.is === "agent") {
    const name = context.machine.current?.step.id ?? "";
    return startChildren(now, taken.changes, [{ name, input: cause.child, data: undefined }], context);
  }
  const act = actAfter(cause, now, context);
  return perform(act, now, taken.changes, context);
}

function actAfter(cause: Exclude<TurnCause, { is: "agent" }>, read: TurnSnapshot, context: TurnContext): NextAct {
  if (cause.is === "rejected") return context.machine.reject(cause.failure);
  return cause.is === "claimed" ? afterClaim(read, cause, context) : nextAfter(cause.result, context);
}

/** Gives the run the outcomes that are owed to it, and lets it go on from the question that it waited for. */
function takeOutcomes({ run, open }: TurnSnapshot, { at, machine }: TurnContext): { run: Run; changes: Changes } {
  let next = run;
  const all: Changes[] = [];
  for (const read of open.filter(({ question }) => !isPending(question))) {
    const given = give({ ...read, run: next, others: [] }, { witness: "workflow" }, at);
    next = given.runs?.[0] ?? next;
    all.push({ ...given, runs: [] });
    const { id } = read.question;
    const isAwaited = machine.checkpoint.pendingQuestionId === id || (run.status === "resuming" && machine.reopen(id));
    const result = isAwaited ? questionResult(read) : undefined;
    if (result) machine.resume(result);
  }
  return { run: next, changes: joinChanges(all) };
}

/** A claimed job means that something is due, or that the process that did the step died. */
function afterClaim(
  read: TurnSnapshot,
  { isRepeatable }: Extract<TurnCause, { is: "claimed" }>,
  context: TurnContext,
): NextAct {
  const { machine } = context;
  const { current } = machine;
  if (!current) return machine.next();
  const { step, record } = current;
  switch (record.status) {
    case "retrying":
      return machine.repeat();
    case "suspended":
      return { do: "wait", until: undefined };
    case "waiting":
      return afterChildren(read, context);
    default: {
      const isSafe = "tool" in step && (step.idempotent === true || isRepeatable(step.tool));
      if (isSafe) return machine.repeat();
      const message = "The process that did it died, and nobody knows how it ended";
      return nextAfter({ is: "failed", failure: { code: "step_unknown", message }, isFinal: true }, context);
    }
  }
}

function nextAfter(result: StepResult, { machine }: Pick<TurnContext, "machine">): NextAct {
  return machine.finish(result) ?? machine.next();
}

/** The runs of the current step: it goes on when all of them have ended. */
function afterChildren({ children, results }: TurnSnapshot, context: TurnContext): NextAct {
  const { machine, at } = context;
  const { step, record } = machine.current ?? {};
  const wait = machine.waitFor({});
  const live = children.filter((child) => !hasEnded(child));
  const bad = [...results.values()].find(({ is }) => is !== "done");
  const isOver = wait.do === "wait" && wait.until !== undefined && wait.until <= at.now;
  if (live.length > 0 && isOver) {
    return nextAfter({ is: "failed", failure: { code: "step_timeout", message: "Its time is over" } }, context);
  }
  const branches = bad ? [] : machine.nextBranches(live.length);
  if (branches.length > 0 && step) return { do: "branches", step, branches };
  if (live.length > 0) return wait;
  if (bad) return nextAfter(bad, context);
  const outputs = Object.entries(record?.runs ?? {}).map(([name, id]) => {
    const result = results.get(id);
    return [name, result?.is === "done" ? result.output : undefined] as const;
  });
  return nextAfter({ is: "done", output: step && joinOutputs(step, outputs) }, context);
}

/** The output of a step from those of its runs: by branch, in the order of a list, or of the only one. */
function joinOutputs(
  step: NonNullable<Machine["current"]>["step"],
  outputs: ReadonlyArray<readonly [string, unknown]>,
) {
  if ("parallel" in step) return Object.fromEntries(outputs);
  if (step.for_each === undefined) return outputs[0]?.[1];
  return outputs.toSorted(([one], [other]) => Number(one) - Number(other)).map(([, output]) => output ?? null);
}

/** Turns an act into the changes that make it so. */
function perform(act: NextAct, read: TurnSnapshot, before: Changes, context: TurnContext): Turn {
  switch (act.do) {
    case "call":
      context.machine.show(redactDeep(act.input, context.clean));
      return { ...keep(goesOn(read.run, context), read, { before }, context), ...callOf(act, context) };
    case "ask":
      return askStep(act, read, before, context);
    case "retry":
      return { ...keep(goesOn(read.run, context), read, { before }, context), call: undefined, dueAt: act.at };
    case "wait":
      return stay(act, read, before, context);
    case "end":
      return { ...keep(ends(read.run, act, context), read, { before }, context), call: undefined, dueAt: undefined };
    case "branches":
      return startBranches(act, read, before, context);
    default:
      return unreachable(act);
  }
}

function callOf(act: StepCall, { machine }: TurnContext): Pick<Turn, "call" | "dueAt"> {
  return { call: { ...act, attempt: machine.current?.record.attempt ?? 1 }, dueAt: undefined };
}

function goesOn(run: Run, { at }: TurnContext): Run {
  const workflow = run.workflow && { ...run.workflow, isWaiting: undefined, isRepeated: undefined };
  return {
    ...run,
    workflow,
    status: "running",
    startedAt: run.startedAt ?? at.now,
    parkedAt: undefined,
    result: undefined,
  };
}

/** A run that goes on waiting as before changes nothing. */
function stay(
  { until }: Extract<NextAct, { do: "wait" }>,
  read: TurnSnapshot,
  before: Changes,
  context: TurnContext,
): Turn {
  const { run } = read;
  const isParked = run.pendingId !== undefined;
  const isSame = (isParked || run.workflow?.isWaiting === true) && (before.events ?? []).length === 0;
  if (isSame) return { changes: {}, run, call: undefined, dueAt: until };
  return { ...keep(isParked ? run : waits(run, context), read, { before }, context), call: undefined, dueAt: until };
}

/** A run that waits for other runs is running, without a job of its own. */
function waits(run: Run, context: TurnContext): Run {
  const next = goesOn(run, context);
  return { ...next, workflow: next.workflow && { ...next.workflow, isWaiting: true } };
}

function ends(run: Run, { status, reason, summary }: Extract<NextAct, { do: "end" }>, context: TurnContext): Run {
  const result = summary === undefined ? undefined : { summary };
  const endedAt = status === "blocked" ? undefined : context.at.now;
  return { ...goesOn(run, context), status, reason, endedAt, result };
}

/**
 * The changes that keep a checkpoint: the run, the events of steps that ended, and the checkpoint itself. `between` is
 * what happens before the run changes its status, such as a question.
 */
function keep(
  after: Run,
  { run, kept }: TurnSnapshot,
  { before, between = {} }: { before: Changes; between?: Changes },
  { at, machine }: TurnContext,
): Pick<Turn, "changes" | "run"> {
  const begun: Run = { ...run, status: "running" };
  const isBegun = run.status === "queued" || run.status === "resuming";
  const first = [
    ...(isBegun ? [runEvent(run, begun, at)] : []),
    ...machine.ended.map((ended) => stepEvent(ended, after, at)),
  ];
  const last = after.status === "running" ? [] : [runEvent(begun, after, at)];
  const { current } = machine;
  if (first.length + last.length === 0 && current) {
    last.push(stepEvent({ step: current.step.id, record: current.record }, after, at));
  }
  const entries = [checkpointEntry(run.id, { version: kept.version, checkpoint: machine.checkpoint })];
  const changes = joinChanges([before, { events: first }, between, { runs: [after], entries, events: last }]);
  return { changes: { ...changes, contents: between.contents }, run: after };
}

function stepEvent({ step, record }: EndedStep, run: Run, at: DecisionContext) {
  const { tool, status, attempt, failure, startedAt } = record;
  const detail = { step, tool, status, attempt, failure: failure?.code, started_at: startedAt };
  const name = record.endedAt === undefined ? "step_repeated" : "step_completed";
  return workflowEvent(name, { ...run, version: run.version + 1 }, at, detail);
}

/** Asks the people: the question, the parked run and its checkpoint are one commit. */
function askStep({ step, input }: StepCall, read: TurnSnapshot, before: Changes, context: TurnContext): Turn {
  const { at, machine } = context;
  const run = goesOn(read.run, context);
  const number = typeof input["issueNumber"] === "number" ? input["issueNumber"] : run.issue?.number;
  const issue = number === undefined ? undefined : { repo: run.issue?.repo ?? run.repo, number };
  const key = `step:${step.id}:${machine.checkpoint.started}`;
  machine.show(redactDeep(input, context.clean));
  try {
    const raw = { ...input, ...(issue && { issueNumber: number, issue }), key };
    const asked = parseAsk(raw, { via: "workflow", accepts: ["answer", "decide"] }, at.rules, at.now);
    const snapshot = { run, open: [], secrets: [] };
    const { read: made, ...between } = ask(
      snapshot,
      { ...asked, holdMs: undefined },
      { ...at, by: workflowActor(run) },
    );
    const isWaiting = isPending(made.question);
    machine.suspend(made.question.id);
    const parked: Run = { ...made.run, status: isWaiting ? "awaiting_input" : "resuming", parkedAt: at.now };
    const kept = keep(parked, read, { before, between: { ...between, runs: [] } }, context);
    return { ...kept, call: undefined, dueAt: isWaiting ? undefined : at.now };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    const failure = { code: error.code, message: error.message };
    const isFinal = error.code !== "rate_limited" && error.code !== "too_many";
    return perform(nextAfter({ is: "failed", failure, isFinal }, context), read, before, context);
  }
}

/** The workflow itself, which asks like an agent: it can answer nothing. */
function workflowActor(run: Run): Actor {
  const id = `workflow:${run.workflow?.name ?? ""}`;
  return { scope: "agent", id, channel: "workflow", strength: "none", runId: run.id };
}

/** A run that the current step starts; a branch has a checkpoint of its own, an agent does not. */
interface NewChild {
  name: string;
  input: RunInput;
  data: Readonly<Record<string, unknown>> | undefined;
}

/** Starts a run for each of these branches. */
function startBranches(
  { step, branches }: { step: { id: string }; branches: readonly StartedBranch[] },
  read: TurnSnapshot,
  before: Changes,
  context: TurnContext,
): Turn {
  const { run } = read;
  if (branches.length === 0) {
    // A list without items is done at once.
    return perform(nextAfter({ is: "done", output: [] }, context), read, before, context);
  }
  const children = branches.map(({ name, data }): NewChild => ({
    name,
    data: { ...context.machine.checkpoint.data, ...data },
    input: {
      name: `${run.name}/${step.id}${name === "steps" ? "" : `/${name}`}`,
      agent: run.agent,
      ...(run.workflow && {
        workflow: { ...run.workflow, branch: { step: step.id, name }, isWaiting: undefined, isRepeated: undefined },
      }),
    },
  }));
  return startChildren(read, before, children, context);
}

/** Creates the runs that the current step waits for, together with the checkpoint that names them. */
function startChildren(read: TurnSnapshot, before: Changes, inputs: readonly NewChild[], context: TurnContext): Turn {
  const { at, machine } = context;
  const { run } = read;
  const { host, dir, repo, issue, labels, priority } = run;
  const shared = {
    host,
    issue,
    labels,
    priority,
    ...(dir !== undefined && { dir }),
    ...(repo !== undefined && { repo }),
  };
  const tie = { parentId: run.id, waitedForBy: { runId: run.id }, giveBack: "worker" } as const;
  const children = inputs.map(({ name, input, data }) => {
    const child: Run = { ...newRun({ ...shared, ...input, ...tie }, at, { implicit: false }), sources: run.sources };
    return { name, child, data };
  });
  const act = machine.waitFor(Object.fromEntries(children.map(({ name, child }) => [name, child.id])));
  const started = children.map(({ child, data }): Changes => {
    const checkpoint = data && checkpointEntry(child.id, { version: 0, checkpoint: newCheckpoint(data, at.now) });
    const events = [runEvent(undefined, child, at)];
    return { runs: [child], events, scheduled: [startJob(child, at.now)], entries: checkpoint ? [checkpoint] : [] };
  });
  const until = act.do === "wait" ? act.until : undefined;
  const kept = keep(waits(run, context), read, { before, between: joinChanges(started) }, context);
  return { ...kept, call: undefined, dueAt: until };
}
