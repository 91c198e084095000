import { type Context, Hono } from "hono";
import { z } from "zod";
import { RunId } from "../../core/id.ts";
import { Refusal } from "../../core/refusal.ts";
import type { Part } from "../app.ts";
import type { Signed } from "../credential.ts";
import { outgoingOf } from "../outgoing.ts";
import type { Caller, McpDeps } from "./caller.ts";
import { createMcpServer } from "./server.ts";
import { newSessionId, parseSessionId } from "./session-id.ts";
import { DEFAULT_TOOLS, parseTools } from "./tool.ts";
import { Work } from "./work.ts";

const SESSION = "Mcp-Session-Id";

export interface McpHttpDeps extends McpDeps {
  host: string;
}

/** The part of the server that agents speak to, and its end: what is held then is parked. */
export interface McpPart extends Part {
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
  const work = new Work();
  const open = new Set<AbortController>();
  let isClosing = false;
  /** Held calls of the older era by session and request, as such a client cancels by a request of its own. */
  const held = new Map<string, AbortController>();
  const routes = new Hono<Signed>();
  routes.all("/", async (context) => {
    const body: unknown = context.req.method === "POST" ? await readJson(context) : undefined;
    const session = context.req.header(SESSION);
    const cancelled = Cancelled.safeParse(body);
    if (cancelled.success) held.get(`${session}:${cancelled.data.params.requestId}`)?.abort();
    const gone = new AbortController();
    if (isClosing) gone.abort();
    open.add(gone);
    const request = Request.safeParse(body);
    const name = request.success && session !== undefined ? `${session}:${request.data.id}` : undefined;
    if (name !== undefined) held.set(name, gone);
    const reply = replyOf(context, () => {
      if (name !== undefined && held.get(name) === gone) held.delete(name);
      open.delete(gone);
      gone.abort();
    });
    const caller = callerOf(context, deps, {
      signal: gone.signal,
      afterReply: (_, done) => reply.afterwards(() => work.track(done().catch(deps.onBug))),
      track: (call) => work.track(call),
    });
    const response = await serve(deps, caller, context, body);
    const opened = Initialize.safeParse(body);
    if (opened.success) response.headers.set(SESSION, newSessionId(opened.data.params.clientInfo));
    return response;
  });
  return {
    path: "/mcp",
    signed: routes,
    close: async () => {
      isClosing = true;
      for (const gone of open) gone.abort();
      await work.done();
    },
  };
}

async function serve(deps: McpHttpDeps, caller: Caller, context: Context, body: unknown): Promise<Response> {
  const sdk = await import("@modelcontextprotocol/server");
  const tools = context.req.query("tools");
  const names = tools === undefined ? DEFAULT_TOOLS : parseTools(tools);
  // A held call is answered as a stream: a client gives up on a single body much sooner.
  const handler = sdk.createMcpHandler(() => createMcpServer(sdk, deps, caller, names), {
    responseMode: "sse",
    onerror: () => undefined, // what it reports was told to the client; bugs of ours are reported where they happen
  });
  const response = await handler.fetch(context.req.raw, body === undefined ? {} : { parsedBody: body });
  return new Response(response.body, response); // headers of a response from elsewhere may be immutable
}

function callerOf(
  context: Context<Signed>,
  { host }: McpHttpDeps,
  own: Pick<Caller, "signal" | "afterReply" | "track">,
): Caller {
  const token = context.get("token");
  const actor = context.get("actor");
  const session = context.req.header(SESSION);
  const client = parseSessionId(session);
  const runId = token.runId ?? readRun(context.req.header("askd-run"));
  const attended = context.req.header("askd-attended");
  return {
    ...own,
    transport: "http",
    host,
    env: {},
    secrets: [],
    principal: token.id,
    ...(runId && { runId }),
    ...(client && session && { client, session: `mcp:${session.split(".")[1]}` }),
    // An agent's token never answers, so a form at its client would answer for nobody.
    ...(actor.scope !== "agent" && { person: { ...actor, channel: "mcp" } }),
    ...(attended !== undefined && { isAttended: attended === "1" }),
  };
}

function readRun(text: string | undefined): RunId | undefined {
  if (text === undefined) return undefined;
  const parsed = RunId.safeParse(text);
  if (!parsed.success) throw new Refusal("bad_input", "Askd-Run does not hold the id of a run");
  return parsed.data;
}

/** Follows a reply on its way out, to its end or until the client leaves. */
function replyOf(context: Context, onEnd: () => void): { afterwards(done: () => void): void } {
  const outgoing = outgoingOf(context);
  const waiting: Array<() => void> = [];
  outgoing?.once("finish", () => {
    for (const done of waiting.splice(0)) done();
  });
  outgoing?.once("close", onEnd);
  return {
    afterwards: (done) => {
      if (outgoing) waiting.push(done);
      else setImmediate(done);
    },
  };
}

async function readJson(context: Context): Promise<unknown> {
  const text = await context.req.text();
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new Refusal("bad_input", "The request is not valid JSON", { cause });
  }
}
