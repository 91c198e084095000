import type { RunId } from "../../../core/id.ts";
import { Refusal } from "../../../core/refusal.ts";
import { jobKey } from "../../../core/run/job.ts";
import { LIVE_STATUSES, type Run, hasEnded } from "../../../core/run/run.ts";
import type { Rules } from "../../../core/rules.ts";
import { redact } from "../../../core/secret/redact.ts";
import { type ApprovedWorkflow, parseApproved } from "../../../core/workflow/approval.ts";
import { type Checkpoint, type StepRecord, parseCheckpoint } from "../../../core/workflow/checkpoint.ts";
import { WorkflowDefinition } from "../../../core/workflow/definition/definition.ts";
import { type WorkflowGraph, graphOf } from "../../../core/workflow/definition/graph.ts";
import type { Store } from "../../../store/store.ts";
import type { ShownStep, WorkflowPictureView } from "../../../web/parts/workflow-picture.tsx";
import type { WorkflowRow } from "../../../web/pages/workflow-list.tsx";
import type { PagesDeps } from "../deps.ts";

const MOST_FAILING = 1_000;
const MOST_LIVE = 500;
/** The branches of one run that its picture shows. */
const MOST_BRANCHES = 60;

/** Reads what the store keeps about workflows. */
export type WorkflowStore = Pick<Store, "findEntry" | "listEntries" | "listFailingJobs">;

/** The approved workflows, with their pictures and the number of their live runs. */
export async function readWorkflowRows({ workflows, engine }: PagesDeps): Promise<WorkflowRow[]> {
  if (!workflows) return [];
  const approved = (await workflows.listEntries("workflow")).map(parseApproved);
  if (approved.length === 0) return [];
  const live = await listLive(engine);
  const failing = new Map((await workflows.listFailingJobs(MOST_FAILING)).map(({ key, failure }) => [key, failure]));
  const rows = await Promise.all(
    approved.map(async (workflow) => ({
      workflow,
      graph: await readGraph(workflows, workflow.definition),
      live: live.filter((run) => isOf(run, workflow)).length,
      problem: failing.get(jobKey("trigger", workflow.id)),
    })),
  );
  return rows.toSorted((one, other) => one.workflow.name.localeCompare(other.workflow.name));
}

/** The live runs of a workflow, newest first, and where they stand. */
export async function readLiveRuns({ workflows, engine }: PagesDeps, workflow: ApprovedWorkflow) {
  const runs = (await listLive(engine)).filter((run) => isOf(run, workflow));
  const standing: Record<string, Run[]> = {};
  for (const run of runs) {
    const step = workflows && (await findCheckpoint(workflows, run.id))?.current;
    if (step !== undefined) (standing[step] ??= []).push(run);
  }
  return { runs, standing };
}

/** The picture of a run of a workflow; undefined for every other run. */
export async function readRunPicture(
  deps: PagesDeps,
  run: Run,
): Promise<Omit<WorkflowPictureView, "reader"> | undefined> {
  const { workflows, rules, engine } = deps;
  if (!workflows || !run.workflow) return undefined;
  const records = await readRecords(deps, workflows, run);
  const graph = await readGraph(workflows, run.workflow.definition);
  const asked = await engine.readMany(records.flatMap(({ record }) => record.questionId ?? []));
  const show = ({ id, record, runs }: FoundRecord): [string, ShownStep] => {
    const question = asked.find((read) => read.question.id === record.questionId)?.question;
    const output = say(record.output, rules) ?? record.failure?.output;
    return [id, { ...record, question, runs, input: say(record.input, rules), output }];
  };
  return { graph: partOf(graph, run), steps: Object.fromEntries(records.map(show)), isOver: hasEnded(run) };
}

interface FoundRecord {
  id: string;
  record: StepRecord;
  /** The runs that the step started. */
  runs: readonly Run[];
}

/** The steps of a run and of its branches. The items of a list are too many to show; they have pages of their own. */
async function readRecords(
  deps: PagesDeps,
  workflows: WorkflowStore,
  run: Run,
  left: { runs: number } = { runs: MOST_BRANCHES },
): Promise<FoundRecord[]> {
  const checkpoint = await findCheckpoint(workflows, run.id);
  if (!checkpoint) return [];
  const children = await deps.engine.listRuns({ parentId: run.id, order: "oldest", limit: MOST_BRANCHES });
  const found: FoundRecord[] = [];
  for (const [id, record] of Object.entries(checkpoint.steps)) {
    const started = Object.entries(record.runs ?? {});
    const runs = children.filter((child) => started.some(([, runId]) => runId === child.id));
    found.push({ id, record, runs });
    for (const child of runs.filter(isNamedBranch)) {
      left.runs -= 1;
      if (left.runs < 0) return found;
      found.push({ id: child.workflow?.branch?.name ?? "", record: recordOf(child), runs: [child] });
      found.push(...(await readRecords(deps, workflows, child, left)));
    }
  }
  return found;
}

/** The branch of a parallel step, or the only part of a step; the items of a list have numbers. */
function isNamedBranch({ workflow }: Run) {
  return workflow?.branch !== undefined && !/^\d+$/.test(workflow.branch.name);
}

const BRANCH_STATUS: Readonly<Partial<Record<Run["status"], StepRecord["status"]>>> = {
  completed: "completed",
  failed: "failed",
  cancelled: "failed",
  skipped: "skipped",
  awaiting_input: "suspended",
};

/** How far a branch has come, as a step. */
function recordOf({ status, startedAt, createdAt, endedAt }: Run): StepRecord {
  return {
    status: BRANCH_STATUS[status] ?? "running",
    tool: "",
    startedAt: startedAt ?? createdAt,
    ...(endedAt !== undefined && { endedAt }),
    attempt: 1,
  };
}

/** The picture of the branch that a run does, of the whole if it does all. */
function partOf(graph: WorkflowGraph, { workflow }: Run): WorkflowGraph {
  const branch = workflow?.branch;
  if (!branch) return graph;
  const all = [...graph.nodes, ...graph.onTimeout, ...graph.onFailure];
  const outer = findNode(all, branch.step);
  const inner = outer?.inner.find(({ id }) => id === branch.name);
  const nodes = inner
    ? inner.kind === "group"
      ? inner.inner
      : [inner]
    : outer?.kind === "group"
      ? outer.inner
      : [outer];
  return { ...graph, nodes: nodes.filter((node) => node !== undefined), onTimeout: [], onFailure: [] };
}

function findNode(nodes: WorkflowGraph["nodes"], id: string): WorkflowGraph["nodes"][number] | undefined {
  for (const node of nodes) {
    const found = node.id === id ? node : findNode(node.inner, id);
    if (found) return found;
  }
  return undefined;
}

async function listLive(engine: PagesDeps["engine"]): Promise<Run[]> {
  return engine.listRuns({ statuses: LIVE_STATUSES, order: "newest", limit: MOST_LIVE });
}

/** Branches are parts of a run, not runs of the workflow. */
function isOf({ workflow, host, dir }: Run, approved: ApprovedWorkflow) {
  return (
    workflow?.name === approved.name &&
    workflow.branch === undefined &&
    host === approved.host &&
    (dir === undefined || dir === approved.dir)
  );
}

async function readGraph(workflows: WorkflowStore, hash: string): Promise<WorkflowGraph> {
  const entry = await workflows.findEntry("definition", hash);
  if (!entry) throw new Refusal("not_found", `The definition ${hash} of a workflow is missing`);
  return graphOf(WorkflowDefinition.parse(entry.body["definition"]));
}

async function findCheckpoint(workflows: WorkflowStore, id: RunId): Promise<Checkpoint | undefined> {
  const entry = await workflows.findEntry("checkpoint", id);
  return entry && parseCheckpoint(entry).checkpoint;
}

/** A value as JSON without secrets. */
function say(value: unknown, rules: Rules): string | undefined {
  return value === undefined ? undefined : redact(JSON.stringify(value, undefined, 2), [], rules.redact);
}
