import type { Hono } from "hono";
import { RunId } from "../../core/id.ts";
import { hasEnded } from "../../core/run/run.ts";
import { LogLines } from "../../web/parts/log.tsx";
import { runName } from "../../web/pages/inbox.tsx";
import { tell } from "../../web/parts/reader.ts";
import { RUN_GROUPS, RunsPage } from "../../web/pages/run-list.tsx";
import { RunPage } from "../../web/pages/run.tsx";
import { WorkSoFar } from "../../web/card/work.tsx";
import type { SignedIn } from "../credential.ts";
import type { PageCall, PagesDeps } from "./deps.ts";
import { getRun } from "./read/get-run.ts";
import { sayRefusal, sendFramedPage } from "./send-framed-page.tsx";
import { redirectTo } from "./redirect.ts";
import { sendPage } from "./send-page.ts";
import { readLog, readRun } from "./read/read-run.ts";
import { readRuns } from "./read/read-runs.ts";
import { languageOf, readReader } from "./read/read-reader.ts";

/** Routes of the list of runs and of each run. */
export function addRunPages(pages: Hono<SignedIn>, deps: PagesDeps): void {
  pages.get("/runs", (context) => showRuns(context, deps));
  pages.get("/r/:id", (context) => showRun(context, deps));
  pages.get("/r/:id/work", (context) => showWork(context, deps));
  pages.get("/r/:id/log", (context) => showLog(context, deps));
  pages.post("/r/:id/resume", (context) => change(context, deps, "resume"));
  pages.post("/r/:id/cancel", (context) => change(context, deps, "cancel"));
}

async function showRuns(context: PageCall, deps: PagesDeps): Promise<Response> {
  const cursor = await deps.feed.findEnd();
  const reader = await readReader(context, deps.engine);
  const group = RUN_GROUPS.find((name) => name === context.req.query("state")) ?? "all";
  const after = RunId.safeParse(context.req.query("after"));
  const { rows, next } = await readRuns(deps, group, after.data);
  const view = { reader, group, rows, next, isFirst: !after.success, isNew: group === "all" && !after.success };
  return sendFramedPage(context, deps, {
    reader,
    page: "runs",
    title: tell(reader, "runs.title"),
    cursor,
    main: <RunsPage view={view} />,
  });
}

async function showRun(context: PageCall, deps: PagesDeps): Promise<Response> {
  const name = context.req.param("id") ?? "";
  const run = await getRun(deps.engine, name);
  if (run.id !== name) return context.redirect(`/r/${run.id}`, 303);
  return sendRun(context, deps, run.id);
}

async function sendRun(
  context: PageCall,
  deps: PagesDeps,
  id: RunId,
  more: { problem?: string; status?: number } = {},
): Promise<Response> {
  const { problem, status = 200 } = more;
  const cursor = await deps.feed.findEnd();
  const reader = await readReader(context, deps.engine);
  const view = await readRun(deps, reader, await getRun(deps.engine, id));
  return sendFramedPage(context, deps, {
    reader,
    page: "runs",
    title: runName(view.run),
    cursor,
    status,
    shows: view.card?.read.question.id,
    main: <RunPage view={{ ...view, problem }} />,
  });
}

/** The agent's changes as a page; the script puts them into the run page. */
async function showWork(context: PageCall, deps: PagesDeps): Promise<Response> {
  const reader = await readReader(context, deps.engine);
  const run = await getRun(deps.engine, context.req.param("id") ?? "");
  const work = await deps.atHand?.work(run);
  return sendFramedPage(context, deps, {
    reader,
    page: "runs",
    title: tell(reader, "work"),
    main: (
      <main id="main" class="page">
        <p>
          <a href={`/r/${run.id}`}>{tell(reader, "r.back")}</a>
        </p>
        <h1>{runName(run)}</h1>
        <WorkSoFar reader={reader} run={run} work={work} />
      </main>
    ),
  });
}

/** New log lines since the script's last request. */
async function showLog(context: PageCall, deps: PagesDeps): Promise<Response> {
  const run = await getRun(deps.engine, context.req.param("id") ?? "");
  const from = context.req.query("from");
  if (from === undefined) return context.redirect(`/r/${run.id}`, 303);
  const log = await readLog(deps, run, from);
  if (!log) return context.body(null, 204);
  const reader = await readReader(context, deps.engine);
  context.header("X-Askd-Going", hasEnded(run) || run.status === "awaiting_input" ? "no" : "yes");
  return sendPage(context, <LogLines reader={reader} run={run} log={log} />);
}

async function change(context: PageCall, deps: PagesDeps, verb: "resume" | "cancel"): Promise<Response> {
  const { engine } = deps;
  const run = await getRun(engine, context.req.param("id") ?? "");
  const by = context.get("actor");
  try {
    const reader = await readReader(context, engine);
    if (verb === "resume") await engine.resumeRun(run.id, by);
    else await engine.cancelRun(run.id, by, tell(reader, "r.cancel.reason"));
  } catch (error) {
    return sendRun(context, deps, run.id, sayRefusal({ language: languageOf(context) }, error));
  }
  return redirectTo(context, `/r/${run.id}`);
}
