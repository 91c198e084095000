import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { Server, createMcpHandler } from "@modelcontextprotocol/server";
import { onTestFinished } from "vitest";

const TOKEN = "token-of-the-tools";

/** An MCP server over HTTP with one tool, which says how long a text is; it wants a token with every request. */
export async function aToolServer() {
  const handler = createMcpHandler(() => {
    const server = new Server({ name: "measure", version: "1" }, { capabilities: { tools: {} } });
    server.setRequestHandler("tools/list", () => ({ tools: [TOOL] }));
    server.setRequestHandler("tools/call", ({ params }) => {
      const output = { length: String(params.arguments?.["text"]).length };
      return { content: [{ type: "text", text: JSON.stringify(output) }], structuredContent: output };
    });
    return server;
  });
  const server = createServer((request, response) => {
    void (async () => {
      const headers = Object.entries(request.headers).map(([name, value]) => [name, String(value)] as [string, string]);
      if (request.headers.authorization !== `Bearer ${TOKEN}`) return response.writeHead(401).end();
      const body = request.method === "POST" ? { body: await text(request) } : {};
      const asked = new Request(`http://${request.headers.host}${request.url}`, {
        ...body,
        headers,
        method: request.method ?? "GET",
      });
      const reply = await handler.fetch(asked);
      response.writeHead(reply.status, Object.fromEntries(reply.headers));
      return response.end(await reply.text());
    })();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
  return { url, headers: { authorization: `Bearer ${TOKEN}` } };
}

const TOOL = {
  name: "measure_text",
  description: "Says how long a text is",
  inputSchema: { type: "object" as const, properties: { text: { type: "string" } } },
};
