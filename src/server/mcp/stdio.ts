import type { Readable, Writable } from "node:stream";
import type { McpCaller, McpDeps } from "./caller.ts";
import { CallClaims } from "./exchange.ts";
import { createMcpServer } from "./server.ts";
import type { ToolName } from "./tool.ts";
import { BackgroundWork } from "./work.ts";

export interface StdioOptions {
  input: Readable;
  output: Writable;
  caller: Omit<McpCaller, "transport" | "claim" | "release" | "afterReply" | "track">;
  tools: readonly ToolName[];
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

function ended({ input, signal }: StdioOptions): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => resolve();
    for (const name of ["end", "close", "error"]) input.once(name, end);
    signal.addEventListener("abort", end, { once: true });
  });
}
