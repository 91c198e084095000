import { z } from "zod";
import { RunSources } from "../trail/fact-source.ts";
import { QuestionId, RunId, WorkerId } from "../id.ts";
import { Instant } from "../instant.ts";

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

const ENDED: ReadonlySet<RunStatus> = new Set(["completed", "failed", "skipped", "cancelled"]);

/** The states of runs that can still go on. */
export const LIVE: readonly RunStatus[] = RunStatus.options.filter((status) => !ENDED.has(status));

/** The agent is gone and its work is kept, until the run goes on or ends. */
const SUSPENDED: ReadonlySet<RunStatus> = new Set(["awaiting_input", "deferred", "resuming"]);

/** How an outcome gets back to the agent: we start it again, we call an address, or it asks us. */
export const GiveBack = z.enum(["worker", "callback", "poll"]);
export type GiveBack = z.infer<typeof GiveBack>;

/** The process of an agent that somebody else started: its id means nothing without the time when it was started. */
export const Seen = z.object({
  pid: z.int().positive(),
  startedAt: z.string().max(100),
  /** Whether a person sits there; unknown where the agent does not say. */
  isAttended: z.boolean().optional(),
});
export type Seen = z.infer<typeof Seen>;

/** One piece of agent work, over all its stops. */
export const Run = z.object({
  id: RunId,
  version: z.int(),
  /** What people call it, `#42`; the store gives it. */
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
  /** Who vouches for agent, repo and labels; runs kept by an earlier program do not say. */
  sources: RunSources.optional(),
  priority: z.int().min(0).max(4),
  size: z.string().optional(),
  parentId: RunId.optional(),
  giveBack: GiveBack,
  callback: z.object({ url: z.string(), secret: z.string() }).optional(),
  /** Made by an ask that had no run; it ends when the outcome is given. */
  implicit: z.boolean(),
  epoch: z.int(),
  /** The agent as it was last seen in a session that askd did not start. */
  seen: Seen.optional(),
  /** Who starts the agent and follows it, while its processes may be alive. */
  worker: WorkerId.optional(),
  /** How often the agent was started since it last took what it was owed, or asked. */
  starts: z.int().default(0),
  /** It was started again because nobody saw how its agent ended; once until it asks or takes something again. */
  isContinued: z.boolean().default(false),
  pendingId: QuestionId.optional(),
  lastQuestionId: QuestionId.optional(),
  /** Questions whose outcome or amendment the agent has not been shown yet. */
  owes: z.array(QuestionId),
  asked: z.int(),
  /** When the latest asks came, for the limit per minute. */
  askedAt: z.array(Instant),
  /** A person asked back; the next question continues this one. */
  clarifying: QuestionId.optional(),
  /** The state to take when the agent is gone, if not `awaiting_input`. */
  whenParked: z.enum(["deferred"]).optional(),
  createdAt: Instant,
  startedAt: Instant.optional(),
  parkedAt: Instant.optional(),
  endedAt: Instant.optional(),
  /** What it was started with is deleted: nothing can take it up again. */
  isForgotten: z.literal(true).optional(),
  result: z
    .object({ summary: z.string().optional(), details: z.string().optional(), issues: z.array(z.string()).optional() })
    .optional(),
});
export type Run = z.infer<typeof Run>;

export function hasEnded(run: Run): boolean {
  return ENDED.has(run.status);
}

export function isSuspended(run: Pick<Run, "status">): boolean {
  return SUSPENDED.has(run.status);
}

/** Says whether the run was made for one ask and ends with it; the run of a session can ask again. */
export function isForOneAsk(run: Pick<Run, "implicit" | "session">): boolean {
  return run.implicit && (run.session === undefined || run.session.startsWith(ONE_ASK));
}

/** Says whether it is the run of a session that askd did not start: it outlives each of its questions. */
export function isForeignSession(run: Pick<Run, "implicit" | "session">): boolean {
  return run.implicit && !isForOneAsk(run);
}

/** How the session of a run begins that was made for one ask: what follows names the ask. */
export const ONE_ASK = "ask:";

/** How the session of a run begins whose client named none: what follows names the connection. */
export const CONNECTION = "mcp:";

/** The agent's own handle for resuming; undefined where the session is only a name of ours. */
export function findAgentSession({ session }: Pick<Run, "session">): string | undefined {
  return session === undefined || session.startsWith(ONE_ASK) || session.startsWith(CONNECTION) ? undefined : session;
}

/** Says whether the answer is there and askd cannot bring it: a person has to go on in the agent's session. */
export function isAnswerUntaken(run: Pick<Run, "status" | "giveBack">): boolean {
  return run.status === "resuming" && run.giveBack === "poll";
}

/** Why a run is blocked whose agent says that it is not logged in. */
export const NOT_LOGGED_IN = "not_logged_in";

/** Says whether the run waits for a person to log its agent in; all that it owes is kept. */
export function isLoggedOut(run: Pick<Run, "status" | "reason">): boolean {
  return run.status === "blocked" && run.reason === NOT_LOGGED_IN;
}

/** Says whether the agent's process is there, as far as anybody has seen. */
export function isAlive(run: Run): boolean {
  return run.status === "running";
}
