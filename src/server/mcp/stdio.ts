import type { Readable, Writable } from "node:stream";
import type { StdioServerTransport } from "@modelcontextprotocol/server/stdio";
import type { McpCaller, McpDeps } from "./caller.ts";
import { CallClaims } from "./exchange.ts";
import { refused } from "./result.ts";
import { OPTIONS, createMcpServer } from "./server.ts";
import type { Refusal } from "../../core/refusal.ts";
import type { ToolName } from "./tool.ts";
import { BackgroundWork } from "./background-work.ts";

export interface StdioOptions {
  input: Readable;
  output: Writable;
  caller: Omit<McpCaller, "transport" | "claim" | "release" | "afterReply" | "track">;
  tools: readonly ToolName[];
  /** Requests that were replied to before the program was loaded; the server's own reply to them is not sent. */
  answered?: Set<string | number> | undefined;
  /** Ends the connection from our side. */
  signal: AbortSignal;
}

/** Serves one client over a pair of streams until it leaves; what it held is parked when this returns. */
export async function serveStdio(deps: McpDeps, options: StdioOptions): Promise<void> {
  const [sdk, stdio] = await Promise.all([
    import("@modelcontextprotocol/server"),
    import("@modelcontextprotocol/server/stdio"),
  ]);
  const work = new BackgroundWork(deps.onBug);
  const replies = new Map<string | number, Array<() => Promise<void>>>();
  const transport = new stdio.StdioServerTransport(options.input, options.output);
  skipAnswered(transport, options.answered);
  const send = transport.send.bind(transport);
  // A message that was sent has gone into the pipe: that is as far as anybody on this side can see it go.
  transport.send = async (message) => {
    await send(message);
    if (!("id" in message) || message.id === undefined || "method" in message) return;
    const afterwards = replies.get(message.id) ?? [];
    replies.delete(message.id);
    for (const done of afterwards) work.afterwards(done);
  };
  const claims = new CallClaims();
  const caller: McpCaller = {
    ...options.caller,
    transport: "stdio",
    claim: (requestId, id) => claims.take(id, requestId),
    release: (requestId) => claims.release(requestId),
    afterReply: (requestId, done) => replies.set(requestId, [...(replies.get(requestId) ?? []), done]),
    track: (call) => work.track(call),
  };
  const handle = stdio.serveStdio(() => createMcpServer(sdk, deps, { caller, tools: options.tools }), {
    transport,
    onerror: deps.onBug,
  });
  await ended(options);
  await handle.close();
  await work.done();
}

/**
 * Serves a client that has its first replies already although the program cannot work: every call of a tool is refused
 * with the reason, which the agent would not see if the connection only broke.
 */
export async function serveRefusal(
  refusal: Refusal,
  options: Pick<StdioOptions, "input" | "output" | "answered" | "signal"> & { version: string },
): Promise<void> {
  const [sdk, stdio] = await Promise.all([
    import("@modelcontextprotocol/server"),
    import("@modelcontextprotocol/server/stdio"),
  ]);
  const transport = new stdio.StdioServerTransport(options.input, options.output);
  skipAnswered(transport, options.answered);
  const server = new sdk.Server({ name: "askd", title: "askd", version: options.version }, OPTIONS);
  server.setRequestHandler("tools/list", () => ({ tools: [] })); // the list was sent before
  server.setRequestHandler("tools/call", () => refused(refusal));
  await server.connect(transport);
  await ended(options);
  await server.close();
}

function skipAnswered(transport: StdioServerTransport, answered: StdioOptions["answered"]): void {
  const send = transport.send.bind(transport);
  transport.send = async (message) => {
    const replyTo = "method" in message ? undefined : message.id;
    if (replyTo !== undefined && answered?.delete(replyTo)) return;
    await send(message);
  };
}

function ended({ input, signal }: Pick<StdioOptions, "input" | "signal">): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => resolve();
    for (const name of ["end", "close", "error"]) input.once(name, end);
    signal.addEventListener("abort", end, { once: true });
  });
}
