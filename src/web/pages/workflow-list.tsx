import { actorName } from "../../core/people/actor.ts";
import type { JobFailure } from "../../core/run/job.ts";
import { makeVisible } from "../../core/text/visible.ts";
import type { ApprovedWorkflow } from "../../core/workflow/approval.ts";
import type { WorkflowGraph } from "../../core/workflow/definition/graph.ts";
import { Command } from "../parts/command.tsx";
import { type PageReader, tell } from "../parts/page-reader.ts";
import { Moment } from "../parts/time.tsx";

/** An approved workflow with what its definition says and how many runs of it are live. */
export interface WorkflowRow {
  workflow: ApprovedWorkflow;
  graph: WorkflowGraph;
  live: number;
  /** Why its triggers start nothing, or could not start a run. */
  problem: JobFailure | undefined;
}

/** The approved workflows of all projects. */
export function WorkflowsPage({ reader, rows }: { reader: PageReader; rows: readonly WorkflowRow[] }) {
  return (
    <main id="main" class="page">
      <h1>{tell(reader, "w.title")}</h1>
      <p class="quiet">{tell(reader, "w.about")}</p>
      <div id="workflows" data-live>
        {rows.length === 0 ? (
          <>
            <p>{tell(reader, "w.none")}</p>
            <Command reader={reader} id="init" text="askd workflow init" />
          </>
        ) : (
          <ul class="rows">
            {rows.map((row) => (
              <li>
                <div>
                  <p>
                    <a href={`/workflows/${encodeURIComponent(row.workflow.id)}`}>
                      <b>{makeVisible(row.workflow.name)}</b>
                    </a>
                  </p>
                  {row.graph.description === undefined ? null : <p>{makeVisible(row.graph.description)}</p>}
                  <p>
                    {tell(reader, "w.starts")}:{" "}
                    {makeVisible(row.graph.triggers.join(", ") || tell(reader, "w.by.hand"))}
                  </p>
                  <WorkflowFacts reader={reader} row={row} />
                </div>
                <span class={`chip ${row.live > 0 ? "wait" : ""}`}>{liveWords(reader, row.live)}</span>
              </li>
            ))}
          </ul>
        )}
      </div>
    </main>
  );
}

/** The file of a workflow, and who approved it. */
export function WorkflowFacts({ reader, row: { workflow, problem } }: { reader: PageReader; row: WorkflowRow }) {
  return (
    <>
      {problem === undefined ? null : <p class="flow-failure">{problemWords(reader, workflow, problem)}</p>}
      <p class="quiet">
        {tell(reader, "w.file")}: {makeVisible(workflow.file)}
        {workflow.repo === undefined ? null : ` (${makeVisible(workflow.repo)})`} ·{" "}
        {tell(reader, "w.approved", { name: makeVisible(actorName(workflow.approvedBy)) })}{" "}
        <Moment reader={reader} at={workflow.approvedAt} />
      </p>
    </>
  );
}

function problemWords(reader: PageReader, { name }: ApprovedWorkflow, { why, trigger }: JobFailure): string {
  if (trigger === "file_changed") return tell(reader, "w.problem.file", { name: makeVisible(name) });
  return tell(reader, trigger === undefined ? "w.problem.other" : "w.problem.start", { why: makeVisible(why) });
}

export function liveWords(reader: PageReader, live: number): string {
  if (live === 0) return tell(reader, "w.live.none");
  return live === 1 ? tell(reader, "w.live.one") : tell(reader, "w.live", { n: live });
}
