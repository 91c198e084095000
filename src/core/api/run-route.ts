import { z } from "zod";
import { RunId } from "../id.ts";
import { RunStatus } from "../run/run.ts";
import { RunBody } from "./ask-body.ts";
import { cursorReply, eventsReply, foundReply, machinesReply, runReply, runsReply, usageReply } from "./reply.ts";
import { Limit, Moment, OfRun, Order, route } from "./route.ts";

const ALIASES: Readonly<Record<string, RunStatus>> = {
  open: "queued",
  in_progress: "running",
  closed: "completed",
  waiting_input: "awaiting_input",
  waiting_for_input: "awaiting_input",
  suspended: "awaiting_input",
};

/** Several states of runs between commas, also by the names that other systems have for them. */
export const StatusesQuery = z
  .string()
  .transform((text) => text.split(",").map((name) => ALIASES[name.trim()] ?? name.trim()))
  .pipe(z.array(RunStatus));
const MOST_EVENTS = 1000;
/** How many runs one request can name. */
export const MOST_RUNS = 100;
const RunIdsQuery = z
  .string()
  .transform((text) => text.split(","))
  .pipe(z.array(RunId).max(MOST_RUNS));
/** A place in the feed, as an earlier reply named it. */
export const Cursor = z.string().regex(/^\d{1,20}(-\d{1,20})?$/);

/** Runs, and what happened in them. */
export const RUN_ROUTES = {
  createRun: route("POST", "/runs", {
    may: "start_run",
    summary: "Create a run",
    body: RunBody,
    reply: runReply,
  }),
  listRuns: route("GET", "/runs", {
    may: "look",
    summary: "List runs, newest first",
    query: z.object({
      status: StatusesQuery.optional(),
      parent: RunId.optional(),
      ended_since: Moment.optional(),
      order: Order.default("newest"),
      after: RunId.optional(),
      limit: Limit,
    }),
    reply: runsReply,
  }),
  findRun: route("GET", "/runs/{id}", {
    may: "look",
    summary: "Get a run",
    params: OfRun,
    reply: runReply,
  }),
  usageOf: route("GET", "/usage", {
    may: "look",
    summary: "Turns, cost and tokens of runs",
    query: z.object({ runs: RunIdsQuery.describe("Ids of runs between commas") }),
    reply: usageReply,
  }),
  readChain: route("GET", "/runs/{id}/events", {
    may: "look",
    summary: "List the events of a run",
    params: OfRun,
    reply: eventsReply,
  }),
  startRun: route("POST", "/runs/{id}/start", {
    may: "report_run",
    summary: "Report that the agent's process is alive",
    params: OfRun,
    takes: ["id", "by"],
    reply: runReply,
  }),
  endRun: route("POST", "/runs/{id}/end", {
    may: "report_run",
    summary: "Report that the agent's processes have ended",
    params: OfRun,
    body: z.object({
      status: z.enum(["completed", "failed", "blocked"]),
      reason: z.string().max(1000).optional(),
      summary: z.string().max(64_000).optional(),
      details: z.string().max(256_000).optional(),
      issues: z.array(z.string().max(4_000)).max(100).optional(),
    }),
    takes: ["id", "body", "by"],
    mayRepeat: true,
    reply: runReply,
  }),
  cancelRun: route("POST", "/runs/{id}/cancel", {
    may: "cancel_run",
    summary: "Cancel a run and its question",
    params: OfRun,
    body: z.object({ reason: z.string().max(1000).optional() }),
    takes: ["id", "by", "body.reason"],
    reply: runReply,
  }),
  followRun: route("POST", "/runs/{id}/follow", {
    may: "see_all",
    summary: "Follow a run to get a message when it ends, or stop following it",
    params: OfRun,
    body: z.object({ isFollowing: z.boolean() }),
    takes: ["id", "by", "body"],
    mayRepeat: true,
    reply: runReply,
  }),
  resumeRun: route("POST", "/runs/{id}/resume", {
    may: "resume_run",
    summary: "Resume a run",
    params: OfRun,
    body: z.object({
      host: z
        .string()
        .min(1)
        .max(300)
        .optional()
        .describe("The machine that it belongs to from now on, if its own is away"),
    }),
    takes: ["id", "by", "body"],
    reply: runReply,
  }),
  listMachines: route("GET", "/machines", {
    may: "see_all",
    summary: "List the machines that start agents, with their last heartbeat",
    takes: [],
    reply: machinesReply,
  }),
  lookUp: route("GET", "/lookup", {
    may: "look",
    summary: "Find runs and questions by a name",
    query: z.object({
      by: z.enum(["number", "name", "external", "session", "short"]),
      text: z.string().min(1).max(2000),
      limit: Limit,
    }),
    reply: foundReply,
  }),
  readFeed: route("GET", "/events", {
    may: "look",
    summary: "List events, or stream them with Accept: text/event-stream",
    query: z.object({
      after: Cursor.default("0"),
      limit: z.coerce.number().int().min(1).max(MOST_EVENTS).default(100),
      run: RunId.optional(),
      types: z.string().max(1000).optional().describe("Names between commas; question.* takes all of a kind"),
    }),
    reply: eventsReply,
  }),
  readNewest: route("GET", "/events/newest", {
    may: "see_all",
    summary: "List the last events, newest first",
    query: z.object({
      before: Cursor.optional().describe("Only events before this place in the feed"),
      limit: z.coerce.number().int().min(1).max(MOST_EVENTS).default(100),
    }),
    reply: eventsReply,
  }),
  findFeedEnd: route("GET", "/events/end", {
    may: "see_all",
    summary: "The current end of the event feed",
    reply: cursorReply,
  }),
};
