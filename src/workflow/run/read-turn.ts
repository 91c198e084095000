import type { RunId } from "../../core/id.ts";
import { SYSTEM } from "../../core/people/actor.ts";
import { isPending } from "../../core/question/question.ts";
import { type Run, hasEnded } from "../../core/run/run.ts";
import { Refusal } from "../../core/refusal.ts";
import { type KeptCheckpoint, type StepFailure, parseCheckpoint } from "../../core/workflow/checkpoint.ts";
import { listUnknownTools } from "../../core/workflow/definition/check-definition.ts";
import { OWN_TOOLS } from "../../core/workflow/definition/scope-name.ts";
import type { WorkflowDefinition } from "../../core/workflow/definition/definition.ts";
import type { IssueTracker } from "../../core/workflow/issue-tracker.ts";
import { Machine, type StepResult, branchOutput } from "../../core/workflow/run/machine.ts";
import { planOf } from "../../core/workflow/run/plan.ts";
import type { JobContext } from "../../engine/jobs/worker.ts";
import type { Store } from "../../store/store.ts";
import { agentResult } from "../tool/agent.ts";
import { findDefinition } from "./kept-definition.ts";
import type { TurnSnapshot } from "./turn.ts";

/** A workflow run as read, with the machine that moves it. */
export interface RunReading {
  snapshot: TurnSnapshot;
  machine: Machine;
  definition: WorkflowDefinition;
  /** It had ended, and an answer after the deadline takes it up. */
  isReopened: boolean;
  /** Why the run cannot begin, if it cannot. */
  rejection: StepFailure | undefined;
  /** A step was started and its end was not recorded. */
  isInterrupted: boolean;
}

interface ReadDeps {
  outside: { openTracker(): Promise<IssueTracker | undefined>; mcpServers: readonly unknown[] };
  readSecrets(): Readonly<Record<string, string>>;
}

/** Reads everything that one turn of a run depends on; undefined if a part of that is lost. */
export async function readTurn(
  id: RunId,
  { store, decider }: Pick<JobContext, "store" | "decider">,
  { outside, readSecrets }: ReadDeps,
): Promise<RunReading | undefined> {
  const run = await store.findRun(id);
  const entry = await store.findEntry("checkpoint", id);
  if (!run?.workflow || !entry) return undefined;
  const definition = await findDefinition(store, run.workflow.definition);
  if (!definition) return undefined;
  const { kept, rejection = findMissingTool(run, definition, outside) } = await withIssue(
    run,
    parseCheckpoint(entry),
    outside,
  );
  const ids = run.owes;
  const open = (ids.length === 0 ? [] : await decider.rows.readMany(ids)).filter(
    ({ question }) => !isPending(question),
  );
  const children = await store.readRuns(childrenOf(run, kept));
  const { current, steps } = kept.checkpoint;
  const record = current === undefined ? undefined : steps[current];
  const results = await readResults(children, definition, { store, input: record?.input });
  const machine = new Machine({
    plan: planOf(definition, run.workflow.branch),
    checkpoint: kept.checkpoint,
    around: { run: { id: run.id, number: run.number, name: run.name } },
    secrets: readSecrets(),
    now: decider.at(SYSTEM).now,
  });
  const snapshot = { run, kept, open, children, results };
  const isReopened = kept.checkpoint.ending !== undefined;
  return { snapshot, machine, definition, rejection, isReopened, isInterrupted: record?.status === "running" };
}

/** The runs of the current step; of a run that has ended, all that it started. */
function childrenOf(run: Run, { checkpoint: { current, steps } }: KeptCheckpoint): RunId[] {
  if (hasEnded(run)) return Object.values(steps).flatMap(({ runs = {} }) => Object.values(runs));
  return Object.values((current === undefined ? undefined : steps[current]?.runs) ?? {});
}

/**
 * Before the first step, the texts of the issue: they come from strangers and are kept as they are then. A run whose issue
 * is not there cannot begin; a service that does not reply is asked again.
 */
async function withIssue(
  run: Run,
  kept: KeptCheckpoint,
  { openTracker }: ReadDeps["outside"],
): Promise<{ kept: KeptCheckpoint; rejection?: StepFailure }> {
  const { repo, number } = run.issue ?? {};
  const isFirst = kept.checkpoint.started === 0 && !hasEnded(run);
  if (!isFirst || run.workflow?.branch || repo === undefined || number === undefined) return { kept };
  const tracker = await openTracker();
  if (!tracker) return { kept };
  try {
    const issue = await tracker.readIssue({ repo, number });
    const { checkpoint } = kept;
    return { kept: { ...kept, checkpoint: { ...checkpoint, data: { ...checkpoint.data, issue: { ...issue } } } } };
  } catch (error) {
    if (error instanceof Refusal) return { kept, rejection: { code: "no_issue", message: error.message } };
    throw error;
  }
}

/** Without MCP servers a tool that askd does not have stops a run before its first step. */
function findMissingTool(
  { status }: Run,
  definition: WorkflowDefinition,
  { mcpServers }: ReadDeps["outside"],
): StepFailure | undefined {
  if (status !== "queued" || mcpServers.length > 0) return undefined;
  const [tool] = listUnknownTools(definition, OWN_TOOLS);
  if (tool === undefined) return undefined;
  return { code: "unknown_tool", message: `There is no tool ${tool}, and the settings have no MCP server` };
}

/** How the runs that have ended count for the step that waits for them. */
async function readResults(
  children: readonly Run[],
  definition: WorkflowDefinition,
  { store, input }: { store: Store; input: unknown },
): Promise<Map<RunId, StepResult>> {
  const results = new Map<RunId, StepResult>();
  for (const child of children.filter(hasEnded)) {
    const result = child.workflow ? await branchResult(child, definition, store) : agentResult(child, input);
    results.set(child.id, result);
  }
  return results;
}

async function branchResult(child: Run, definition: WorkflowDefinition, store: Store): Promise<StepResult> {
  if (child.status === "skipped") return { is: "skipped", reason: child.reason };
  const entry = child.status === "completed" ? await store.findEntry("checkpoint", child.id) : undefined;
  if (!entry) {
    const said = child.result?.summary ?? child.reason ?? child.status;
    return {
      is: "failed",
      failure: { code: "branch_failed", message: `Run #${child.number} ${child.status}: ${said}` },
    };
  }
  const { checkpoint } = parseCheckpoint(entry);
  return { is: "done", output: branchOutput(planOf(definition, child.workflow?.branch), checkpoint) };
}
