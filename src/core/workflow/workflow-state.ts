import type { Instant } from "../instant.ts";
import type { Run } from "../run/run.ts";
import type { Event } from "../trail/event.ts";
import type { Checkpoint } from "./checkpoint.ts";

type StateStatus = "running" | "suspended" | "completed" | "failed" | "skipped" | "cancelled";

/** One line of a workflow run's history. */
interface HistoryEvent {
  timestamp: Instant;
  type: "started" | "step_completed" | "suspended" | "resumed" | "completed" | "failed";
  step?: string;
  details?: Record<string, unknown>;
}

/** A workflow run as programs see it. */
export interface WorkflowState {
  runId: string;
  workflow: string;
  issueNumber: number | null;
  status: StateStatus;
  reason: string | null;
  currentStep: string | null;
  checkpoint: { step: string | null; data: Record<string, unknown>; pendingQuestionId: string | null };
  history: HistoryEvent[];
  createdAt: Instant;
  updatedAt: Instant;
  suspendedAt: Instant | null;
  resumedAt: Instant | null;
}

/** The fields of a state, in the order in which they are shown. */
export const STATE_FIELDS: readonly string[] = [
  "runId",
  "workflow",
  "issueNumber",
  "status",
  "reason",
  "currentStep",
  "checkpoint",
  "history",
  "createdAt",
  "updatedAt",
  "suspendedAt",
  "resumedAt",
  "steps",
];

const STATUS: Readonly<Record<Run["status"], StateStatus>> = {
  queued: "running",
  running: "running",
  resuming: "running",
  awaiting_input: "suspended",
  deferred: "suspended",
  blocked: "suspended",
  completed: "completed",
  failed: "failed",
  skipped: "skipped",
  cancelled: "cancelled",
};

const HISTORY: Readonly<Partial<Record<Event["type"], HistoryEvent["type"]>>> = {
  "run.started": "started",
  "workflow.step_completed": "step_completed",
  "run.parked": "suspended",
  "run.resumed": "resumed",
  "run.completed": "completed",
  "run.skipped": "completed",
  "run.failed": "failed",
  "run.cancelled": "failed",
};

/** The state of a workflow run, with its history from the trail. */
export function workflowState(run: Run, checkpoint: Checkpoint, events: readonly Event[]): WorkflowState {
  const { current, steps, data, pendingQuestionId, updatedAt, suspendedAt, resumedAt } = checkpoint;
  const step = current ?? Object.keys(steps).at(-1) ?? null;
  return {
    runId: run.id,
    workflow: run.workflow?.name ?? run.name,
    issueNumber: run.issue?.number ?? null,
    status: STATUS[run.status],
    reason: run.reason ?? null,
    currentStep: step,
    checkpoint: { step, data, pendingQuestionId: pendingQuestionId ?? null },
    history: events.flatMap(toHistory),
    createdAt: run.createdAt,
    updatedAt,
    suspendedAt: suspendedAt ?? null,
    resumedAt: resumedAt ?? null,
  };
}

function toHistory({ type, at, detail }: Event): HistoryEvent[] {
  const name = HISTORY[type];
  if (!name) return [];
  const { step, ...rest } = detail ?? {};
  const details = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined && value !== null));
  return [
    {
      timestamp: at,
      type: name,
      ...(typeof step === "string" && { step }),
      ...(Object.keys(details).length > 0 && { details }),
    },
  ];
}
