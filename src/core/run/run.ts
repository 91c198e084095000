import { z } from "zod";
import { DeliveryRef } from "../channel/delivery/delivery-ref.ts";
import { RunSources } from "../trail/fact-source.ts";
import { QuestionId, RunId, WorkerId } from "../id.ts";
import { Instant } from "../instant.ts";
import { RunPermission } from "../question/run-permission.ts";
import { WaitingWorkflow, WorkflowRef } from "../workflow/workflow-ref.ts";

export const RunStatus = z.enum([
  "queued",
  "running",
  "awaiting_input",
  "resuming",
  "completed",
  "failed",
  "skipped",
  "cancelled",
  "blocked",
  "deferred",
]);
export type RunStatus = z.infer<typeof RunStatus>;

const ENDED: ReadonlySet<string> = new Set(["completed", "failed", "skipped", "cancelled"]);

/** The states of runs that have not ended. */
export const LIVE_STATUSES: readonly RunStatus[] = RunStatus.options.filter((status) => !ENDED.has(status));

/** States of a parked run: the agent is stopped and its work kept. */
const PARKED: ReadonlySet<RunStatus> = new Set(["awaiting_input", "deferred", "resuming"]);

/** How an outcome gets back to the agent: a worker resumes it, askd calls an address, or the agent polls. */
export const GiveBack = z.enum(["worker", "callback", "poll"]);
export type GiveBack = z.infer<typeof GiveBack>;

/** The process of an agent that askd did not start: a process id means nothing without its start time. */
export const AgentPresence = z.object({
  pid: z.int().positive(),
  startedAt: z.string().max(100),
  /** Whether a person is at the agent; undefined if unknown. */
  isAttended: z.boolean().optional(),
});
export type AgentPresence = z.infer<typeof AgentPresence>;

/** One piece of agent work, over all its stops. */
export const Run = z.object({
  id: RunId,
  version: z.int(),
  /** The number people use, `#42`; the store assigns it. */
  number: z.int(),
  name: z.string(),
  externalId: z.string().optional(),
  status: RunStatus,
  reason: z.string().optional(),
  agent: z.string(),
  host: z.string(),
  session: z.string().optional(),
  dir: z.string().optional(),
  repo: z.string().optional(),
  branch: z.string().optional(),
  issue: z.object({ repo: z.string().optional(), number: z.int() }).optional(),
  labels: z.array(z.string()),
  /** The sources of agent, repo and labels; runs stored by earlier versions have none. */
  sources: RunSources.optional(),
  priority: z.int().min(0).max(4),
  size: z.string().optional(),
  parentId: RunId.optional(),
  /** Set if the run does the steps of a workflow, not the work of one agent. */
  workflow: WorkflowRef.optional(),
  /** The workflow that waits for this run: the commit that ends this run resumes it. */
  waitedForBy: WaitingWorkflow.optional(),
  giveBack: GiveBack,
  callback: z.object({ url: z.string(), secret: z.string() }).optional(),
  /** Created by an ask without a run; it ends when the outcome is given. */
  implicit: z.boolean(),
  epoch: z.int(),
  /** The last seen agent process of a session that askd did not start. */
  seen: AgentPresence.optional(),
  /** The worker that owns the run while processes may be alive. */
  worker: WorkerId.optional(),
  /** Starts since the agent last received an outcome or asked. */
  starts: z.int().default(0),
  /** Continued because nobody saw how its agent ended; once until it asks or receives something. */
  isContinued: z.boolean().default(false),
  pendingId: QuestionId.optional(),
  lastQuestionId: QuestionId.optional(),
  /** Questions with an open hand-over. */
  owes: z.array(QuestionId),
  asked: z.int(),
  /** The times of the latest asks, for the rate limit. */
  askedAt: z.array(Instant),
  /** The permissions that people gave for the rest of the run. */
  permissions: z.array(RunPermission).optional(),
  /** How many questions these permissions have answered; they do not count as asked. */
  permitted: z.int().optional(),
  /** The question a person asked back about; the next one continues its thread. */
  clarifying: QuestionId.optional(),
  /** The state to park in, if not `awaiting_input`. */
  whenParked: z.enum(["deferred"]).optional(),
  /** People who hear how it ends: they answered one of its questions, or asked for it. */
  followers: z.array(z.string()).optional(),
  /** The messages about the run itself. */
  deliveries: z.array(DeliveryRef).optional(),
  createdAt: Instant,
  startedAt: Instant.optional(),
  parkedAt: Instant.optional(),
  endedAt: Instant.optional(),
  /** The launch record is deleted: the run cannot be resumed. */
  isForgotten: z.literal(true).optional(),
  /** Starts in a row that failed because the model's API did not work. */
  apiTries: z.int().optional(),
  /** When it goes on by itself, after such a start or a usage limit. */
  resumesAt: Instant.optional(),
  /** Why its agent may have asked something that nobody was asked; until it was told so, or its next start has ended. */
  mayHaveAsked: z.string().optional(),
  result: z
    .object({
      summary: z.string().optional(),
      details: z.string().optional(),
      issues: z.array(z.string()).optional(),
      /** The agent's structured output. */
      output: z.unknown().optional(),
    })
    .optional(),
});
export type Run = z.infer<typeof Run>;

export function hasEnded(run: { status: string }): boolean {
  return ENDED.has(run.status);
}

export function isParked(run: Pick<Run, "status">): boolean {
  return PARKED.has(run.status);
}

/** Says whether the run was created for one ask and ends with it; the run of a session can ask again. */
export function isForOneAsk(run: Pick<Run, "implicit" | "session">): boolean {
  return run.implicit && (run.session === undefined || run.session.startsWith(ONE_ASK_PREFIX));
}

/** Says whether it is the run of a session that askd did not start: it outlives each of its questions. */
export function isForeignSession(run: Pick<Run, "implicit" | "session">): boolean {
  return run.implicit && !isForOneAsk(run);
}

/** The prefix of the session of a run created for one ask: the ask key follows. */
export const ONE_ASK_PREFIX = "ask:";

/** The prefix of the session of a client that named none: the connection follows. */
export const CONNECTION_PREFIX = "mcp:";

/** The agent's own handle for resuming; undefined if the session is only a name of ours. */
export function findAgentSession({ session }: Pick<Run, "session">): string | undefined {
  return session === undefined || session.startsWith(ONE_ASK_PREFIX) || session.startsWith(CONNECTION_PREFIX)
    ? undefined
    : session;
}

/** Says whether an answer exists that askd cannot hand over: a person has to continue the agent's session. */
export function isAnswerUntaken(run: Pick<Run, "status" | "giveBack">): boolean {
  return run.status === "resuming" && run.giveBack === "poll";
}

/** Says whether the run waits although its answer is there: that was stored without resuming the run. */
export function isAnswerHeldBack(run: Pick<Run, "status" | "pendingId" | "owes">): boolean {
  const isWaiting = run.status === "awaiting_input" || run.status === "deferred";
  return isWaiting && run.pendingId === undefined && run.owes.length > 0;
}

/** The reason of a run blocked because its agent is not logged in. */
export const NOT_LOGGED_IN = "not_logged_in";

/** Says whether the run waits for a person to log its agent in. */
export function isLoggedOut(run: Pick<Run, "status" | "reason">): boolean {
  return run.status === "blocked" && run.reason === NOT_LOGGED_IN;
}

/** Says whether the agent's process is alive, as far as known. */
export function isAgentAlive(run: Run): boolean {
  return run.status === "running";
}
