import type { Run } from "../../core/run/run.ts";
import { makeVisible } from "../../core/text/visible.ts";
import { runName } from "./inbox.tsx";
import { type PageReader, tell } from "../parts/page-reader.ts";
import { RunBadge } from "../parts/run-badge.tsx";
import { WorkflowPicture } from "../parts/workflow-picture.tsx";
import { WorkflowFacts, type WorkflowRow, liveWords } from "./workflow-list.tsx";

export interface WorkflowView {
  reader: PageReader;
  row: WorkflowRow;
  /** The newest live runs. */
  runs: readonly Run[];
  /** Those that stand at a step, by its id. */
  standing: Readonly<Record<string, readonly Run[]>>;
}

/** One workflow as a picture, with where each live run stands. */
export function WorkflowPage({ view }: { view: WorkflowView }) {
  const { reader, row, runs, standing } = view;
  return (
    <main id="main" class="page">
      <p class="to-runs">
        <a href="/workflows">{tell(reader, "w.to.list")}</a>
      </p>
      <h1>{makeVisible(row.workflow.name)}</h1>
      {row.graph.description === undefined ? null : <p>{makeVisible(row.graph.description)}</p>}
      <WorkflowFacts reader={reader} row={row} />
      <div id="workflow" data-live>
        <h2>{tell(reader, "w.steps")}</h2>
        <WorkflowPicture view={{ reader, graph: row.graph, standing }} />
        <h2>{tell(reader, "w.live.title")}</h2>
        {runs.length < row.live ? <p class="quiet">{tell(reader, "w.live.most", { n: runs.length })}</p> : null}
        {runs.length === 0 ? <p class="quiet">{liveWords(reader, 0)}</p> : null}
        <ul class="rows">
          {runs.map((run) => (
            <li>
              <p>
                <a href={`/r/${run.id}`}>{runName(run)}</a>
                {run.issue === undefined ? null : ` · #${run.issue.number}`}
              </p>
              <RunBadge reader={reader} run={run} pending={undefined} />
            </li>
          ))}
        </ul>
      </div>
    </main>
  );
}
