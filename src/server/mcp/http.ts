import { type Context, Hono } from "hono";
import { z } from "zod";
import { RunId } from "../../core/id.ts";
import { Refusal } from "../../core/refusal.ts";
import { CONNECTION_PREFIX } from "../../core/run/run.ts";
import type { RouteGroup } from "../app.ts";
import { readText, parseJson } from "../body.ts";
import type { SignedIn } from "../credential.ts";
import { SAFE_HEADERS } from "../guard.ts";
import { outgoingOf } from "../node-response.ts";
import { Slots } from "../slots.ts";
import type { McpCaller, McpDeps, Sdk } from "./caller.ts";
import { type Exchange, Exchanges, Streams } from "./exchange.ts";
import { LAST_EVENT, RETRY_MS, firstEvent, type HeldStream, isAtEnd, readStreamId } from "./stream-id.ts";
import { DEFAULT_TOOLS, parseTools, type Tool } from "./tool.ts";
import type { McpHttpHandler } from "@modelcontextprotocol/server";
import { type McpServing, createMcpServer } from "./server.ts";
import { randomBytes } from "node:crypto";
import type { ClientName } from "../../core/door/client-profile.ts";
import { msBetween } from "../../core/instant.ts";
import { askerOf, readAsker } from "./asker.ts";
import { holdFor } from "./hand-over.ts";

const SESSION = "Mcp-Session-Id";

export interface McpHttpDeps extends McpDeps {
  host: string;
  /** After how long a client that lost a stream is to come back. */
  retryMs?: number;
}

/** The part of the server that agents speak to, and its end: what is held then is parked. */
export interface McpPart extends RouteGroup {
  close(): Promise<void>;
}

const Initialize = z.object({
  method: z.literal("initialize"),
  params: z.object({ clientInfo: z.object({ name: z.string(), version: z.string() }) }),
});
const Cancelled = z.object({
  method: z.literal("notifications/cancelled"),
  params: z.object({ requestId: z.union([z.string(), z.number()]) }),
});
const RpcRequest = z.object({ id: z.union([z.string(), z.number()]), method: z.string() });
const MOST_SUBSCRIPTIONS = 100_000;
const NAME_CHARS = 60;
const Named = z.object({ n: z.string().max(NAME_CHARS), v: z.string().max(NAME_CHARS) });
/** Where the newer era of the protocol begins, which says with every request what the client is. */
const MODERN_PROTOCOL = "2026-07-28";
const TOOL = "check_answer";

/** A request that goes on with a call, as if its client had sent it anew. */
interface ResumedRequest {
  stream: HeldStream;
  request: Request;
  body: object;
}

/** Serves agents over streamable HTTP, both eras from one factory; no request needs what an earlier one left behind. */
export function mcpPart(deps: McpHttpDeps): McpPart {
  const exchanges = new Exchanges(deps.onBug);
  const handler = new Handler(deps);
  const streams = new Streams();
  const { holds: total, holdsPerToken: perOwner } = deps.rules.limits;
  const slots = new Slots({ total, perOwner, called: "requests" });
  const routes = new Hono<SignedIn>();
  routes.all("/", async (context) => {
    const resumed = findResumed(context);
    const body: unknown =
      resumed?.body ?? (context.req.method === "POST" ? parseJson(await readText(context)) : undefined);
    const session = context.req.header(SESSION);
    const cancelled = Cancelled.safeParse(body);
    if (cancelled.success) exchanges.cancel(`${session}:${cancelled.data.params.requestId}`);
    const request = RpcRequest.safeParse(body);
    const outgoing = outgoingOf(context);
    outgoing?.once("close", slots.take(context.get("token").id));
    const exchange = exchanges.begin(outgoing, context.req.raw.signal, nameOf(request.data, session));
    // A caller whose token ended gets no reply; its hold ends as if it had disconnected.
    if (outgoing && request.data?.method === "tools/call") {
      outgoing.once(
        "close",
        context.get("whenEnded")(() => outgoing.destroy()),
      );
    }
    if (resumed) await exchanges.replace(resumed.stream.questionId);
    const caller = callerOf(context, deps, exchange, resumed?.stream.protocol);
    const serving = {
      caller,
      method: request.data?.method,
      ...(resumed ? { tools: DEFAULT_TOOLS, runs: resumeCall(resumed.stream) } : { tools: toolsOf(context) }),
    };
    const response = await handler.serve(resumed?.request ?? context.req.raw, serving, body);
    const opened = Initialize.safeParse(body);
    const headers: Record<string, string> = {
      ...SAFE_HEADERS,
      ...Object.fromEntries(response.headers),
      ...(opened.success && { [SESSION]: newSessionId(opened.data.params.clientInfo) }),
    };
    const { status, body: events } = response;
    const isStream = outgoing && events && headers["content-type"] === "text/event-stream";
    if (!isStream) return new Response(events, { status, headers });
    const findLast = () => (exchange.isResumable ? LAST_EVENT : undefined);
    return streams.reply(outgoing, { status, headers, first: exchange.takeFirst(), events, findLast });
  });
  return { path: "/mcp", signed: routes, close: () => exchanges.close() };
}

/** How a client of the older era names one of its requests when it cancels it. */
function nameOf(request: z.infer<typeof RpcRequest> | undefined, session: string | undefined) {
  return request && session !== undefined ? `${session}:${request.id}` : undefined;
}

function toolsOf(context: Context) {
  const tools = context.req.query("tools");
  return tools === undefined ? DEFAULT_TOOLS : parseTools(tools);
}

function callerOf(
  context: Context<SignedIn>,
  { host, retryMs = RETRY_MS }: McpHttpDeps,
  exchange: Exchange,
  protocol: string = context.req.header("mcp-protocol-version") ?? "",
): McpCaller {
  const { signal, claim, afterReply, track } = exchange;
  const token = context.get("token");
  const { id: tokenId } = token;
  const actor = context.get("actor");
  const agentRun = context.get("agentRun");
  const session = context.req.header(SESSION);
  const client = parseSessionId(session);
  const runId = token.runId ?? readRun(context.req.header("askd-run"));
  const attended = context.req.header("askd-attended");
  return {
    signal,
    claim,
    afterReply,
    track,
    announce: (stream) => {
      // A program that sends neither a version nor a session may take the first event for its reply, and never reconnects.
      if (protocol === "" && !client) return;
      const event = firstEvent({ ...stream, protocol }, { tokenId, retryMs });
      if (event !== undefined) exchange.writeFirst(event);
    },
    transport: "http",
    host,
    env: {},
    secrets: [],
    principal: tokenId,
    bearer: actor,
    ...(runId && { runId }),
    ...(client && session && { client, session: `${CONNECTION_PREFIX}${session.split(".")[1]}` }),
    // A caller with an agent's token or a run is the agent itself, so no person would answer a form at its client.
    ...(actor.scope !== "agent" && runId === undefined && { person: actor }),
    findRunAbove: async () => agentRun,
    ...(attended !== undefined && { isAttended: attended === "1" }),
  };
}

function readRun(text: string | undefined) {
  if (text === undefined) return undefined;
  const parsed = RunId.safeParse(text);
  if (!parsed.success) throw new Refusal("bad_input", "Askd-Run does not hold the id of a run");
  return parsed.data;
}

/** The protocol library behind requests of both eras, which makes a server for each of them. */
class Handler {
  readonly #deps: McpDeps;
  #library: McpHttpHandler | undefined;
  /** Requests whose server is still to be made. */
  readonly #waiting = new Map<Request, McpServing>();

  constructor(deps: McpDeps) {
    this.#deps = deps;
  }

  async serve(request: Request, serving: McpServing, body: unknown): Promise<Response> {
    const sdk = await import("@modelcontextprotocol/server");
    this.#library ??= this.#create(sdk);
    this.#waiting.set(request, serving);
    try {
      return await this.#library.fetch(request, body === undefined ? {} : { parsedBody: body });
    } finally {
      this.#waiting.delete(request);
    }
  }

  #create(sdk: Sdk) {
    return sdk.createMcpHandler(({ requestInfo }) => createMcpServer(sdk, this.#deps, this.#take(requestInfo)), {
      // A held call is answered as a stream: a client gives up on a single body much sooner.
      responseMode: "sse",
      keepAliveMs: 0, // one clock beats for all streams
      maxSubscriptions: MOST_SUBSCRIPTIONS,
      onerror: () => undefined, // what it reports was told to the client; bugs of ours are reported where they happen
    });
  }

  #take(request: Request | undefined) {
    const serving = request && this.#waiting.get(request);
    if (!serving) throw new Error("the library makes a server for a request that it was given");
    return serving;
  }
}

/**
 * A session id that carries the client's name, so that a request of the older era, which no longer says who sent it,
 * can be served by any process. It proves nothing: it is what the client itself said.
 */
export function newSessionId({ name, version }: ClientName): string {
  const named = JSON.stringify({ n: name.slice(0, NAME_CHARS), v: version.slice(0, NAME_CHARS) });
  return `${Buffer.from(named).toString("base64url")}.${randomBytes(12).toString("hex")}`;
}

/** The client that a session id was made for, if it is one of ours. */
function parseSessionId(id: string | undefined): ClientName | undefined {
  const [named, random] = id?.split(".") ?? [];
  if (named === undefined || !/^[0-9a-f]{24}$/.test(random ?? "")) return undefined;
  const parsed = Named.safeParse(readJson(Buffer.from(named, "base64url").toString("utf8")));
  return parsed.success ? { name: parsed.data.n, version: parsed.data.v } : undefined;
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // not one of ours
  }
}

/** Reads whether a request comes back for the reply of a call whose stream broke. */
function findResumed(context: Context<SignedIn>): ResumedRequest | undefined {
  const { req } = context;
  const id = req.header("last-event-id");
  if (req.method !== "GET" || id === undefined || isAtEnd(id)) return undefined;
  if (!req.header("accept")?.includes("text/event-stream")) return undefined;
  const stream = readStreamId(id, context.get("token").id);
  if (!stream) throw new Refusal("bad_input", "Last-Event-ID names no stream of this token");
  const { requestId, protocol, progressToken } = stream;
  const isModern = protocol >= MODERN_PROTOCOL;
  const headers = {
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
    ...(protocol !== "" && { "mcp-protocol-version": protocol }),
    ...(isModern && { "mcp-method": "tools/call", "mcp-name": TOOL }),
  };
  const meta = {
    progressToken,
    ...(isModern && envelope(protocol)),
  };
  return {
    stream,
    request: new Request(req.url, { method: "POST", headers }),
    body: { jsonrpc: "2.0", id: requestId, method: "tools/call", params: { name: TOOL, arguments: {}, _meta: meta } },
  };
}

/** Holds the question for what is left of the call's time; its reply is that of the first request. */
function resumeCall({ questionId, since, until, after }: HeldStream): Tool["run"] {
  return async (call) => {
    const { engine } = call.deps;
    const read = await readAsker(call, await askerOf(call), questionId);
    const leftMs = Math.max(1, msBetween(await engine.now(), until));
    return holdFor(call, { read, isHeld: false }, leftMs, { since, after });
  };
}

/** It is not known any more what the client could do; it is asked for nothing but to take the reply. */
function envelope(protocol: string): object {
  const prefix = "io.modelcontextprotocol";
  return {
    [`${prefix}/protocolVersion`]: protocol,
    [`${prefix}/clientInfo`]: { name: "resumed", version: "0" },
    [`${prefix}/clientCapabilities`]: {},
  };
}
