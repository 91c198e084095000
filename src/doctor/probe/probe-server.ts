import type { Readable, Writable } from "node:stream";
import { z } from "zod";
import type { ClientName } from "../../core/door/client-profile.ts";

const Envelope = z.object({
  "io.modelcontextprotocol/clientInfo": z.object({ name: z.string(), version: z.string() }),
});

/** The reply to a held call, followed by the name of the client. */
export const HELD = "askd-probe: held to the end by";

export interface ProbeServerOptions {
  input: Readable;
  output: Writable;
  /** How long the call is held. */
  holdMs: number;
  /** How often progress is sent meanwhile; never when nothing is said. */
  progressMs: number | undefined;
  /** Marks the tool as one that changes nothing; without that some clients ask for leave. */
  isReadOnly: boolean;
}

/** An MCP server with one tool that keeps its caller waiting; it serves one client until that leaves. */
export async function serveProbe({ input, output, holdMs, progressMs, isReadOnly }: ProbeServerOptions): Promise<void> {
  const [sdk, stdio] = await Promise.all([
    import("@modelcontextprotocol/server"),
    import("@modelcontextprotocol/server/stdio"),
  ]);
  const transport = new stdio.StdioServerTransport(input, output);
  const create = () => {
    const server = new sdk.Server({ name: "askd", version: "probe" }, { capabilities: { tools: {} } });
    server.setRequestHandler("tools/list", () => ({ tools: [describeTool(isReadOnly)] }));
    server.setRequestHandler("tools/call", async (_request, { mcpReq }) => {
      const { _meta: meta } = mcpReq;
      const token = meta?.progressToken;
      const client = clientOf(mcpReq.envelope) ?? server.getClientVersion();
      const send = (count: number): void => {
        if (token === undefined) return;
        const params = { progressToken: token, progress: count, message: "waiting" };
        void mcpReq.notify({ method: "notifications/progress", params }).catch(() => undefined); // the client has left
      };
      await hold(holdMs, progressMs, send);
      return { content: [{ type: "text" as const, text: `${HELD} ${client?.name} ${client?.version} ` }] };
    });
    return server;
  };
  const handle = stdio.serveStdio(create, { transport, onerror: () => undefined });
  await new Promise<void>((resolve) => {
    for (const name of ["end", "close", "error"]) input.once(name, () => resolve());
  });
  await handle.close();
}

/** Clients of the newer protocol name themselves with every request. */
function clientOf(envelope: unknown): ClientName | undefined {
  return Envelope.safeParse(envelope).data?.["io.modelcontextprotocol/clientInfo"];
}

async function hold(holdMs: number, progressMs: number | undefined, send: (count: number) => void): Promise<void> {
  let count = 0;
  const timer = progressMs === undefined ? undefined : setInterval(() => send((count += 1)), progressMs);
  await new Promise((resolve) => setTimeout(resolve, holdMs));
  clearInterval(timer);
}

function describeTool(isReadOnly: boolean) {
  return {
    name: "ask_human",
    description: "Asks a person.",
    inputSchema: { type: "object" as const, properties: { question: { type: "string" } }, required: ["question"] },
    annotations: { readOnlyHint: isReadOnly },
  };
}
