import { formatDuration } from "../../../core/text/duration.ts";
import { msBetween } from "../../../core/instant.ts";
import { shortId } from "../../../core/id.ts";
import { jobKey } from "../../../core/run/job.ts";
import { type Run, hasEnded } from "../../../core/run/run.ts";
import type { Checkpoint, StepRecord } from "../../../core/workflow/checkpoint.ts";
import { STATE_FIELDS, workflowState } from "../../../core/workflow/workflow-state.ts";
import { requireOneArgument } from "../../arguments.ts";
import type { Context, OpenedEngine } from "../../context.ts";
import { printResult } from "../../output.ts";
import { cutCells, padCells, textWidth } from "../../terminal/terminal.ts";
import { oneLine } from "../../view/sanitise.ts";
import { findHolds, getWorkflowRun, insideOf, openWorkflows } from "./workflow-engine.ts";
import type { WorkflowFlags } from "./workflow.ts";

const MOST_TEXT = 2_000;
const MOST_FAILING = 1_000;

const MARKS: Readonly<Record<StepRecord["status"], string>> = {
  completed: "✓",
  skipped: "-",
  failed: "✗",
  running: "▸",
  suspended: "?",
  waiting: "…",
  retrying: "↻",
};

/** Shows where a run stands: its steps, and the question that it waits for. */
export async function show(words: readonly string[], _given: WorkflowFlags, context: Context): Promise<number> {
  const { engine } = await openWorkflows(context);
  const found = await getWorkflowRun(engine, requireOneArgument(words, "workflow show <run>"));
  const { checkpoint } = found;
  const holds = await findHolds(found.run, engine, context);
  const reason = found.run.reason ?? holds.hold ?? (await findDelay(found.run, engine));
  const run: Run = { ...found.run, reason };
  const events = (await engine.readChain(run.id)).map(({ event }) => event);
  const title = run.pendingId && (await engine.read(run.pendingId)).question.title;
  printResult(context, STATE_FIELDS, {
    page: () => renderRun(run, { checkpoint, title, ways: holds.ways }, context),
    json: () => ({ ...workflowState(run, checkpoint, events), steps: checkpoint.steps }),
    keepsCase: true,
  });
  return 0;
}

/** Why the next step of a run could not be begun, as the last try says. */
async function findDelay(run: Run, engine: OpenedEngine): Promise<string | undefined> {
  if (hasEnded(run)) return undefined;
  const failing = await insideOf(engine).store.listFailingJobs(MOST_FAILING);
  return failing.find(({ key }) => key === jobKey("step", run.id))?.failure?.why;
}

/** Shows what each step got and what came of it. */
export async function logs(words: readonly string[], _given: WorkflowFlags, context: Context): Promise<number> {
  const { engine } = await openWorkflows(context);
  const { run, checkpoint } = await getWorkflowRun(engine, requireOneArgument(words, "workflow logs <run>"));
  const numbers = await numbersOf(checkpoint, engine);
  printResult(context, STATE_FIELDS, {
    page: () =>
      Object.entries(checkpoint.steps)
        .map(([id, record]) => renderStep(id, record, numbers))
        .join("\n") || "No step has begun.\n",
    json: () => ({ runId: run.id, steps: checkpoint.steps }),
    keepsCase: true,
  });
  return 0;
}

interface RunView {
  checkpoint: Checkpoint;
  title: string | undefined;
  /** How a run goes on whose machine is away. */
  ways: readonly string[];
}

function renderRun(run: Run, { checkpoint: { steps, current }, title, ways }: RunView, context: Context) {
  const width = textWidth(context.stdout.columns);
  const issue = run.issue ? ` · ${run.issue.repo ?? ""}#${run.issue.number}` : "";
  const reason = run.reason === undefined ? "" : ` (${oneLine(run.reason)})`;
  const column = Math.max(0, ...Object.keys(steps).map((id) => id.length));
  const lines = Object.entries(steps).map(([id, record]) => {
    const { tool, startedAt, endedAt, failure } = record;
    const took = endedAt === undefined ? "" : `  ${formatDuration(msBetween(startedAt, endedAt))}`;
    const why = failure === undefined ? "" : `  ${oneLine(failure.message)}`;
    const text = `${MARKS[record.status]} ${padCells(id, column)}  ${oneLine(tool)}  ${record.status}${took}${why}`;
    return cutCells(id === current ? `${text}  ← here` : text, width);
  });
  const asked =
    title === undefined || run.pendingId === undefined
      ? []
      : ["", `❓ ${shortId(run.pendingId)} ${oneLine(title)}`, `   ${context.program} answer ${run.number} "…"`];
  const summary = run.result?.summary === undefined ? [] : ["", oneLine(run.result.summary)];
  const head = `#${run.number} ${oneLine(run.name)} is ${run.status}${reason}${issue}`;
  return `${[head, "", ...lines, ...asked, ...(ways.length > 0 ? ["", ...ways] : []), ...summary].join("\n")}\n`;
}

async function numbersOf({ steps }: Checkpoint, engine: OpenedEngine): Promise<Map<string, number>> {
  const ids = Object.values(steps).flatMap(({ runs = {} }) => Object.values(runs));
  const found = await Promise.all(ids.map((id) => engine.findRun(id)));
  return new Map(found.flatMap((run) => (run ? [[run.id, run.number] as const] : [])));
}

function renderStep(id: string, record: StepRecord, numbers: ReadonlyMap<string, number>) {
  const { tool, status, attempt, startedAt, input, output, failure, runs = {} } = record;
  const tries = attempt === 1 ? "" : `, attempt ${attempt}`;
  const started = Object.values(runs).map((runId) => `  run     #${numbers.get(runId) ?? "?"}`);
  return [
    `${startedAt} ${id} (${oneLine(tool)}): ${status}${tries}`,
    ...(input === undefined ? [] : [`  input   ${sayValue(input)}`]),
    ...started,
    ...(output === undefined ? [] : [`  output  ${sayValue(output)}`]),
    ...(failure === undefined ? [] : [`  failure ${oneLine(failure.code)}: ${oneLine(failure.message)}`]),
    ...(failure?.output?.split("\n").map((line) => `    │ ${oneLine(line)}`) ?? []),
    "",
  ].join("\n");
}

function sayValue(value: unknown) {
  return oneLine(JSON.stringify(value) ?? "").slice(0, MOST_TEXT);
}
