import { Hono, type MiddlewareHandler, type Context } from "hono";
import { API_PATH, type Route, scopesOf } from "../../core/api/route.ts";
import { ROUTES, type RequestOf, VERBS, type Verb } from "../../core/api/table.ts";
import { ACCESS, type Role, requireAccess } from "../../core/people/access.ts";
import { agentActor } from "../../core/people/actor.ts";
import { QuestionId } from "../../core/id.ts";
import { needsMachine } from "../../core/run/machine.ts";
import { requireVersion } from "../../core/question/question.ts";
import { Refusal } from "../../core/refusal.ts";
import type { Rules } from "../../core/rules.ts";
import type { Engine } from "../../engine/engine.ts";
import { readMachines } from "../../engine/machines.ts";
import type { RouteGroup } from "../app.ts";
import { STRANGERS_BODY_BYTES, readJson } from "../body.ts";
import type { SignedIn } from "../credential.ts";
import { eventFilter } from "../events/filter.ts";
import type { LiveEvents } from "../events/live.ts";
import type { BackgroundWork } from "../mcp/background-work.ts";
import { outgoingOf, afterReply } from "../node-response.ts";
import type { Reply } from "../problem.tsx";
import {
  type RestCall,
  type Handler,
  type Handlers,
  callOf,
  derivedHandlers,
  readOwn,
  recordTried,
  requireScope,
} from "./rest-call.ts";
import { HeldRequests, type ReplyFormat, readerOf, replyRows, runsIn, sayRows } from "./reply.ts";
import { MEMORY_VERBS, PEOPLE_VERBS, QUESTION_VERBS, RUN_VERBS } from "./verbs.ts";
import type { Slots } from "../slots.ts";
import type { RequestLimit } from "./request-limit.ts";
import type { z } from "zod";
import { describeIssue } from "../../core/question/ask-input.ts";
import type { ServerResponse } from "node:http";
import type { QuestionSnapshot } from "../../core/changes.ts";
import { isTakenByReading } from "../../core/run/complete-on-read.ts";
import { handOverOutcome } from "../../engine/hold-question.ts";

type SignedVerb = Exclude<Verb, "redeemLogin">;

const HANDLERS: Handlers<SignedVerb> = {
  ...derivedHandlers(),
  ...QUESTION_VERBS,
  ...RUN_VERBS,
  ...PEOPLE_VERBS,
  ...MEMORY_VERBS,
};

export interface RestDeps {
  engine: Engine;
  rules: Rules;
  /** Aborts when the server is about to stop, so that held requests end. */
  stopping: AbortSignal;
  live: LiveEvents;
  /** Commits made after a reply is sent; the server waits for them when it stops. */
  work: BackgroundWork;
  /** The machine whose agents this server starts, while it does. */
  here?: (() => string | undefined) | undefined;
  /** Reports unexpected errors. */
  onBug: (error: unknown) => void;
  limits: RestLimits;
}

/** Limits shared by several parts of the server. */
export interface RestLimits {
  /** Requests of one token. */
  requests: RequestLimit;
  /** Codes that are tried from one address. */
  signIns: RequestLimit;
  /** Callers that wait for a question. */
  holds: Slots;
}
/** Verbs whose reply shows one question with its outcome: the same ask again gets it as well. */
const OUTCOME_VERBS: ReadonlySet<Verb> = new Set(["ask", "read", "wait"] as const);

/** Takes the rows that are about to be replied, and returns those to reply. */
type OutcomeTaker = (rows: unknown) => Promise<unknown>;

/** The API: every row of the table as a route. */
export function restPart(deps: RestDeps): RouteGroup {
  const signed = new Hono<SignedIn>();
  signed.use(limitRequests(deps));
  const held = new HeldRequests(deps.stopping, deps.limits.holds, deps.onBug);
  for (const verb of VERBS) if (verb !== "redeemLogin") addVerb(signed, verb, { ...deps, held });
  return { path: API_PATH, signed, public: publicRoutes(deps) };
}

/** Counts the requests of a token, over all parts that share the limit. */
export function limitRequests({ limits }: Pick<RestDeps, "limits">): MiddlewareHandler<SignedIn> {
  return async (context, next) => {
    limits.requests.count(context.get("token").id);
    await next();
  };
}

function addVerb(app: Hono<SignedIn>, verb: SignedVerb, deps: RestDeps & { held: HeldRequests }) {
  const row: Route = ROUTES[verb];
  // The table says that this verb's handler takes this verb's request.
  const handle = HANDLERS[verb] as Handler<Verb>;
  app.on(row.method, honoPath(row.path), async (context) => {
    const call = callOf(context, deps);
    await requireScopeFor(call, verb, context.req.param("id"));
    const request = (await readRequest(context, row)) as RequestOf<Verb>; // parsed by this row's schemas
    await requireMeant(call, row, request);
    if (verb === "readFeed" && context.req.header("accept")?.includes("text/event-stream")) {
      const { query } = request as RequestOf<"readFeed">; // this verb's own request
      const sees = await eventFilter(call, query);
      return deps.live.reply(context, ({ event }) => sees(event));
    }
    const reader = readerOf(context, row, call.bearer);
    const isHead = context.req.method === "HEAD";
    const outgoing = outgoingOf(context);
    const take = isHead || !OUTCOME_VERBS.has(verb) ? undefined : outcomeTaker(call, { outgoing, reader, ...deps });
    // Without a connection below it, as for HEAD, a reply cannot come later than its request is done.
    if (verb === "wait" && outgoing && !isHead) {
      const bearer = { tokenId: call.token.id, whenEnded: context.get("whenEnded") };
      return deps.held.reply(outgoing, bearer, waitFor(handle, { call, request, reader, take }));
    }
    const signal = verb === "wait" ? AbortSignal.any([context.req.raw.signal, deps.stopping]) : undefined;
    const found = await handle({ ...call, signal }, request);
    const rows = take ? await take(found) : found;
    const machines = await machinesFor(rows, { call, reader });
    return replyRows(context, reader, rows, machines);
  });
}

/** The waiting itself, apart from the route, so that it holds on to nothing else of the request. */
function waitFor(
  handle: Handler<Verb>,
  {
    call,
    request,
    reader,
    take,
  }: { call: RestCall; request: RequestOf<Verb>; reader: ReplyFormat; take: OutcomeTaker | undefined },
): (signal: AbortSignal) => Promise<Reply> {
  return async (signal) => {
    const found = await handle({ ...call, signal }, request);
    // A caller whose token ended while it waited does not get the outcome, so it is not given.
    if (signal.reason instanceof Refusal) throw signal.reason;
    const rows = take ? await take(found) : found;
    const machines = await machinesFor(rows, { call, reader });
    return sayRows(reader, rows, machines);
  };
}

/** The machines that the view of these rows needs; a remote engine reads them itself. */
async function machinesFor(rows: unknown, { call, reader }: { call: RestCall; reader: ReplyFormat }) {
  const runs = reader.isRows ? [] : runsIn(rows).filter(needsMachine);
  return runs.length === 0 ? undefined : readMachines(call.engine, runs, call.here?.());
}

/** Refuses callers without the scope; an agent's attempt on a question stays in that question's trail. */
async function requireScopeFor(call: RestCall, verb: Verb, id: string | undefined) {
  const row: Route = ROUTES[verb];
  const { path } = row;
  try {
    requireScope(call.bearer, scopesOf(row));
    requireNoAgent(call, row);
  } catch (error) {
    const question = path.startsWith("/questions/{id}") ? QuestionId.safeParse(id) : undefined;
    if (question?.success) await recordTried(call, verb, question.data);
    throw error;
  }
}

/**
 * Refuses an agent that uses a person's credential what no agent may. The engine cannot: workers report in the name of
 * their agents, and some verbs have no actor. A run that it makes is a child of its own.
 */
function requireNoAgent({ by, agentRun }: RestCall, { method, may }: Route): void {
  if (agentRun === undefined || method === "GET" || may === "any_token" || may === "no_token") return;
  const roles: readonly Role[] = ACCESS[may].may;
  if (may !== "start_run" && !roles.includes("own_agent")) requireAccess(may, by);
}

/** A question that is to be changed must be the caller's own, where that matters, and as the caller last saw it. */
async function requireMeant(call: RestCall, row: Route, request: RequestOf<Verb>) {
  if (row.method === "GET" || !row.path.startsWith("/questions/{id}")) return;
  const bearer = agentActor(call.bearer, call.agentRun);
  if (bearer.scope !== "agent" && call.ifVersion === undefined) return;
  const { id } = request.params as { id: QuestionId }; // every path below a question names it
  const verb = row.may === "any_token" || row.may === "no_token" ? "look" : row.may;
  const { question } = await readOwn({ engine: call.engine, bearer }, id, verb);
  if (row !== ROUTES.answer) requireVersion(question, call.ifVersion);
}

/** Signing in is the one thing that needs no credential: the code is one. */
function publicRoutes({ engine, limits }: RestDeps) {
  const app = new Hono();
  const row = ROUTES.redeemLogin;
  app.post(honoPath(row.path), async (context) => {
    limits.signIns.count(context.get("address"));
    const request = await readRequest(context, row, STRANGERS_BODY_BYTES);
    const { body } = request as RequestOf<"redeemLogin">; // parsed by this row's schemas
    const by = { scope: "system", id: "login", channel: "api", strength: "none" } as const;
    return replyRows(context, readerOf(context, row, by), await engine.redeemLogin(body.code, by));
  });
  return app;
}

function honoPath(path: string) {
  return path.replace(/\{(\w+)\}/g, ":$1");
}

/** Reads a request by the schemas of its row, or says what is wrong with it. */
async function readRequest(
  context: Context,
  row: Route,
  mostBytes?: number,
): Promise<{ params: unknown; query: unknown; body: unknown }> {
  const params = row.params.safeParse(context.req.param());
  if (!params.success) throw new Refusal("not_found", "There is nothing by that id", { hint: "See /openapi.json" });
  const query = parse(row.query, context.req.query(), "The query");
  const body = row.method === "GET" ? {} : parse(row.body, await readJson(context, mostBytes), "The request");
  return { params: params.data, query, body };
}

function parse<Value>(schema: z.ZodType<Value>, raw: unknown, what: string) {
  const parsed = schema.safeParse(raw);
  if (parsed.success) return parsed.data;
  throw new Refusal("bad_input", `${what} cannot be read: ${describeIssue(parsed.error)}`, {
    hint: "See /openapi.json",
  });
}

/**
 * Hands the outcome over to the program that asked, by the reply to its own request: committed as on its way before the
 * reply, so that the reply shows exactly what is handed over, and as given once it is out. A remote engine hands over by
 * itself.
 */
function outcomeTaker(
  { engine, by }: RestCall,
  { outgoing, reader, work }: { outgoing: ServerResponse | undefined; reader: ReplyFormat; work: BackgroundWork },
): OutcomeTaker | undefined {
  if (reader.isRows) return undefined;
  return async (rows) => {
    const read = rows as QuestionSnapshot; // these verbs return one, as the route table says
    if (!isTakenByReading(read, by)) return rows;
    // No start of an agent takes it: if the run is cancelled meanwhile, the reply shows that.
    const handed = await handOverOutcome(engine, read, { witness: "read" });
    afterReply(outgoing, () =>
      work.afterwards(async () => {
        await handed.confirm?.();
      }),
    );
    return { ...read, ...handed.read };
  };
}
