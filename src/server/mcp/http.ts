import { type Context, Hono } from "hono";
import { z } from "zod";
import { RunId } from "../../core/id.ts";
import { Refusal } from "../../core/refusal.ts";
import { CONNECTION_PREFIX } from "../../core/run/run.ts";
import type { RouteGroup } from "../app.ts";
import { readText } from "../body.ts";
import type { SignedIn } from "../credential.ts";
import { SAFE_HEADERS } from "../guard.ts";
import { parseJson } from "../json-text.ts";
import { outgoingOf } from "../outgoing.ts";
import { Slots } from "../slots.ts";
import type { McpCaller, McpDeps } from "./caller.ts";
import { type Exchange, Exchanges } from "./exchange.ts";
import { Handler } from "./handler.ts";
import { findResumed, resumeCall } from "./resume.ts";
import { newSessionId, parseSessionId } from "./session-id.ts";
import { LAST_EVENT, RETRY_MS, firstEvent } from "./stream-id.ts";
import { Streams } from "./stream.ts";
import { DEFAULT_TOOLS, type ToolName, parseTools } from "./tool.ts";

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
const Request = z.object({ id: z.union([z.string(), z.number()]), method: z.string() });

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
    const request = Request.safeParse(body);
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
function nameOf(request: z.infer<typeof Request> | undefined, session: string | undefined): string | undefined {
  return request && session !== undefined ? `${session}:${request.id}` : undefined;
}

function toolsOf(context: Context): readonly ToolName[] {
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

function readRun(text: string | undefined): RunId | undefined {
  if (text === undefined) return undefined;
  const parsed = RunId.safeParse(text);
  if (!parsed.success) throw new Refusal("bad_input", "Askd-Run does not hold the id of a run");
  return parsed.data;
}
