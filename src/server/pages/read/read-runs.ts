import type { RunId } from "../../../core/id.ts";
import { findAwayMachine } from "../../../core/run/machine.ts";
import { type Run, type RunStatus, hasEnded, isAnswerUntaken } from "../../../core/run/run.ts";
import { readMachines } from "../../../engine/machines.ts";
import type { RunGroup, RunRow } from "../../../web/pages/run-list.tsx";
import type { PagesDeps } from "../deps.ts";

const PAGE = 40;

const STATUSES: Readonly<Record<RunGroup, readonly RunStatus[] | undefined>> = {
  all: undefined,
  // A run with a held question is `running`, one with an untaken answer `resuming`; `isWaiting` drops the others.
  waiting: ["awaiting_input", "deferred", "blocked", "running", "resuming"],
  working: ["queued", "running", "resuming"],
  ended: ["completed", "failed", "skipped", "cancelled"],
  failed: ["failed"],
};

/** Reads one page of runs, newest first; child runs below their parent if both are on it. */
export async function readRuns(
  { engine, here }: Pick<PagesDeps, "engine" | "here">,
  group: RunGroup,
  after: RunId | undefined,
): Promise<{ rows: RunRow[]; next: string | undefined }> {
  const statuses = STATUSES[group];
  const page = await engine.listRuns({
    order: "newest",
    limit: PAGE,
    statuses,
    after,
  });
  const runs = page.filter((run) =>
    group === "waiting" ? isWaiting(run) : group !== "working" || !isAnswerUntaken(run),
  );
  const usage = await engine.usageOf(runs.map(({ id }) => id));
  const reads = await engine.readMany(runs.flatMap(({ pendingId }) => pendingId ?? []));
  const pending = new Map(reads.map((read) => [read.question.id, read]));
  const machines = await readMachines(engine, runs, here?.());
  const shown = new Map(runs.map((run) => [run.id, run]));
  const grow = async (run: Run): Promise<RunRow> => ({
    run,
    away: findAwayMachine(run, machines),
    pending: run.pendingId && pending.get(run.pendingId),
    usage: usage.find(({ runId }) => runId === run.id),
    parent: run.parentId && !shown.has(run.parentId) ? await engine.findRun(run.parentId) : undefined,
    children: await Promise.all(
      runs
        .filter(({ parentId }) => parentId === run.id)
        .toReversed()
        .map(grow),
    ),
  });
  const roots = runs.filter(({ parentId }) => parentId === undefined || !shown.has(parentId));
  return {
    rows: await Promise.all(roots.map(grow)),
    next: page.length === PAGE ? page.at(-1)?.id : undefined,
  };
}

function isWaiting(run: Run): boolean {
  if (run.status === "resuming") return isAnswerUntaken(run);
  return !hasEnded(run) && (run.status !== "running" || run.pendingId !== undefined);
}
