import type { Entry } from "../changes.ts";
import { RunId } from "../id.ts";
import { Refusal } from "../refusal.ts";
import type { Run } from "../run/run.ts";
import { hasEnded } from "../run/run.ts";

/** The cause of a run, as expressions see it. */
export interface WorkflowCause {
  type: "manual" | "label_added" | "schedule" | "webhook";
  label?: string;
  schedule?: string;
  /** The name of a webhook, and what came. */
  name?: string;
  body?: unknown;
  by?: string;
}

/** The row that keeps a workflow from having two live runs for one issue. */
export function liveRunEntry(
  before: Entry | undefined,
  at: { name: string; repo: string; number: number; runId: RunId },
): Entry {
  const id = liveRunId(at);
  return { kind: "trigger", id, parent: at.runId, version: before?.version ?? 0, body: { runId: at.runId } };
}

export function liveRunId({ name, repo, number }: { name: string; repo: string; number: number }): string {
  return `live ${name} ${repo.toLowerCase()}#${number}`;
}

/** The row by which what comes several times starts one run. */
export function onceEntry(once: string, runId: RunId): Entry {
  return { kind: "trigger", id: onceId(once), parent: runId, version: 0, body: { runId } };
}

export function onceId(once: string): string {
  return `once ${once}`;
}

/** The run that the row names. */
export function findNamedRun(entry: Entry | undefined): RunId | undefined {
  return RunId.safeParse(entry?.body["runId"]).data;
}

/** Refuses a second live run of a workflow for an issue. */
export function requireNoLiveRun(run: Run | undefined): void {
  if (!run || hasEnded(run)) return;
  throw new Refusal("already_pending", `Run #${run.number} of ${run.name} is live for this issue (${run.status})`, {
    hint: `See it with: askd workflow show ${run.number}`,
  });
}
