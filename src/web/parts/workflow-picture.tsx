import { msBetween } from "../../core/instant.ts";
import type { Question } from "../../core/question/question.ts";
import type { Run } from "../../core/run/run.ts";
import { makeVisible } from "../../core/text/visible.ts";
import type { StepRecord } from "../../core/workflow/checkpoint.ts";
import type { GraphNode, WorkflowGraph } from "../../core/workflow/definition/graph.ts";
import { type PageReader, tell, tellSpan } from "./page-reader.ts";

const SHOWN_CHARS = 8_000;
const MOST_RUNS_HERE = 12;

/** A step of a run, with its texts free of secrets. */
export interface ShownStep extends Pick<StepRecord, "status" | "startedAt" | "endedAt" | "attempt" | "failure"> {
  input: string | undefined;
  output: string | undefined;
  question: Question | undefined;
  /** The runs that it started. */
  runs: readonly Run[];
}

export interface WorkflowPictureView {
  reader: PageReader;
  graph: WorkflowGraph;
  /** How far the steps of one run have come, by their ids; undefined for the picture of a workflow itself. */
  steps?: Readonly<Record<string, ShownStep>> | undefined;
  /** The run has ended: steps that are not done will not be. */
  isOver?: boolean;
  /** The live runs that stand at a step, by its id. */
  standing?: Readonly<Record<string, readonly Run[]>> | undefined;
}

/** A workflow as boxes from top to bottom, with branches beside each other. */
export function WorkflowPicture({ view }: { view: WorkflowPictureView }) {
  const { reader, graph } = view;
  return (
    <div class="flow">
      <p class="flow-start">
        {tell(reader, "w.starts")}: {makeVisible(graph.triggers.join(", ") || tell(reader, "w.by.hand"))}
      </p>
      <Boxes view={view} nodes={graph.nodes} />
      <p class="flow-end">{tell(reader, "w.end")}</p>
      <Handler view={view} name="on_timeout" nodes={graph.onTimeout} />
      <Handler view={view} name="on_failure" nodes={graph.onFailure} />
    </div>
  );
}

/** The steps for a timeout or failure; in the picture of a run only if they were needed. */
function Handler({
  view,
  name,
  nodes,
}: {
  view: WorkflowPictureView;
  name: "on_timeout" | "on_failure";
  nodes: readonly GraphNode[];
}) {
  const { reader, steps } = view;
  const isNeeded = steps === undefined || nodes.some(({ id }) => steps[id] !== undefined);
  if (nodes.length === 0 || !isNeeded) return null;
  return (
    <section>
      <h3>{tell(reader, `w.${name}`)}</h3>
      <Boxes view={view} nodes={nodes} />
    </section>
  );
}

function Boxes({ view, nodes, isBeside }: { view: WorkflowPictureView; nodes: readonly GraphNode[]; isBeside?: true }) {
  return (
    <ol class={isBeside ? "lanes" : "boxes"}>
      {nodes.map((node) => (
        <li>
          <Box view={view} node={node} />
        </li>
      ))}
    </ol>
  );
}

function Box({ view, node }: { view: WorkflowPictureView; node: GraphNode }) {
  const { reader, graph, steps, standing } = view;
  const step = steps?.[node.id];
  const goto = graph.edges.find(({ from, when }) => from === node.id && when === "answered")?.to;
  const runs = standing?.[node.id] ?? [];
  // The items of a list are runs of their own, each at another step.
  const inside = node.isRepeated ? { ...view, steps: undefined } : view;
  return (
    <div class="flow-box" data-status={steps ? (step?.status ?? "open") : undefined} data-kind={node.kind}>
      <p class="flow-name">
        <b>{makeVisible(node.id)}</b> {steps ? <StepState view={view} step={step} /> : null}
      </p>
      <p class="quiet">{makeVisible(describe(reader, node))}</p>
      {node.kind === "question" && goto !== undefined && !goto.startsWith("(") ? (
        <p class="quiet">{tell(reader, "w.answered", { step: makeVisible(goto) })}</p>
      ) : null}
      {step ? <StepFacts reader={reader} node={node} step={step} /> : null}
      {runs.length === 0 ? null : (
        <p>
          {tell(reader, "w.here")} <RunLinks runs={runs} />
        </p>
      )}
      {node.inner.length === 0 ? null : (
        <Boxes view={inside} nodes={node.inner} {...(node.kind === "parallel" && { isBeside: true as const })} />
      )}
    </div>
  );
}

function describe(reader: PageReader, { kind, tool, condition, isRepeated, output }: GraphNode): string {
  const parts = [
    ...(tool === undefined ? [] : [tool]),
    ...(kind === "question" ? [tell(reader, "w.asks")] : []),
    ...(kind === "parallel" || kind === "group" ? [tell(reader, `w.${kind}`)] : []),
    ...(isRepeated ? [tell(reader, "w.each")] : []),
    ...(condition === undefined ? [] : [tell(reader, "w.if", { condition })]),
    ...(output === undefined ? [] : [tell(reader, "w.as", { name: output })]),
  ];
  return parts.join(" · ");
}

const COLOURS: Readonly<Partial<Record<StepRecord["status"], string>>> = {
  completed: "ok",
  failed: "bad",
  suspended: "wait",
  retrying: "wait",
};

/** The state of a step in words, with how long it took or takes. */
function StepState({ view: { reader, isOver }, step }: { view: WorkflowPictureView; step: ShownStep | undefined }) {
  if (!step) return <span class="quiet">{tell(reader, isOver ? "w.state.never" : "w.state.open")}</span>;
  const { status, startedAt, endedAt, attempt } = step;
  const span = tellSpan(reader, Math.max(0, msBetween(startedAt, endedAt ?? reader.now)), 2);
  return (
    <>
      <span class={`chip ${COLOURS[status] ?? ""}`}>{tell(reader, `w.state.${status}`)}</span>{" "}
      <span class="quiet">
        {status === "skipped" ? null : tell(reader, endedAt === undefined ? "w.since" : "w.took", { span })}
        {attempt > 1 ? ` · ${tell(reader, "w.attempt", { n: attempt })}` : null}
      </span>
    </>
  );
}

function StepFacts({ reader, node, step }: { reader: PageReader; node: GraphNode; step: ShownStep }) {
  const { question, failure, input, output, runs } = step;
  return (
    <>
      {failure === undefined ? null : <p class="flow-failure">{makeVisible(failure.message)}</p>}
      {question === undefined ? null : (
        <p>
          {tell(reader, "w.question")} <a href={`/q/${question.id}`}>{makeVisible(question.title)}</a>
        </p>
      )}
      {runs.length === 0 ? null : (
        <p>
          {tell(reader, "w.runs")} <RunLinks runs={runs} />
        </p>
      )}
      {input === undefined && output === undefined ? null : (
        <details class="fold">
          <summary>{tell(reader, "w.details", { step: makeVisible(node.id) })}</summary>
          <Value title={tell(reader, "w.input")} text={input} />
          <Value title={tell(reader, "w.output")} text={output} />
        </details>
      )}
    </>
  );
}

function Value({ title, text }: { title: string; text: string | undefined }) {
  if (text === undefined) return null;
  const shown = text.length > SHOWN_CHARS ? `${text.slice(0, SHOWN_CHARS)} …` : text;
  return (
    <>
      <p class="quiet">{title}</p>
      <pre class="scroll" tabindex={0}>
        {makeVisible(shown)}
      </pre>
    </>
  );
}

function RunLinks({ runs }: { runs: readonly Run[] }) {
  const more = runs.length - MOST_RUNS_HERE;
  return (
    <>
      {runs.slice(0, MOST_RUNS_HERE).map((run, index) => (
        <>
          {index === 0 ? "" : ", "}
          <a href={`/r/${run.id}`}>#{run.number}</a>
        </>
      ))}
      {more > 0 ? ` +${more}` : ""}
    </>
  );
}
