import type { Hono } from "hono";
import { Refusal } from "../../core/refusal.ts";
import { tell } from "../../web/parts/page-reader.ts";
import { WorkflowPage } from "../../web/pages/workflow.tsx";
import { WorkflowsPage } from "../../web/pages/workflow-list.tsx";
import type { SignedIn } from "../credential.ts";
import type { PageCall, PagesDeps } from "./deps.ts";
import { readLiveRuns, readWorkflowRows } from "./read/read-workflow.ts";
import { readReader } from "./read/read-reader.ts";
import { sendFramedPage } from "./send-page.tsx";

const MOST_SHOWN = 50;

/** Routes of the list of workflows and of each workflow. */
export function addWorkflowPages(pages: Hono<SignedIn>, deps: PagesDeps): void {
  pages.get("/workflows", (context) => showWorkflows(context, deps));
  pages.get("/workflows/:id", (context) => showWorkflow(context, deps));
}

async function showWorkflows(context: PageCall, deps: PagesDeps) {
  const cursor = await deps.feed.findEnd();
  const reader = await readReader(context, deps.engine);
  return sendFramedPage(context, deps, {
    reader,
    page: "runs",
    title: tell(reader, "w.title"),
    cursor,
    main: <WorkflowsPage reader={reader} rows={await readWorkflowRows(deps)} />,
  });
}

async function showWorkflow(context: PageCall, deps: PagesDeps) {
  const cursor = await deps.feed.findEnd();
  const reader = await readReader(context, deps.engine);
  const rows = await readWorkflowRows(deps);
  const row = rows.find(({ workflow }) => workflow.id === context.req.param("id"));
  if (!row) throw new Refusal("not_found", "There is no such workflow", { hint: "See all: askd workflow list" });
  const { runs, standing } = await readLiveRuns(deps, row.workflow);
  return sendFramedPage(context, deps, {
    reader,
    page: "runs",
    title: row.workflow.name,
    cursor,
    main: <WorkflowPage view={{ reader, row, runs: runs.slice(0, MOST_SHOWN), standing }} />,
  });
}
