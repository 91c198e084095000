// An MCP server with one tool, which writes its text into a journal. Before its reply it may kill the process that
// started it, once.
import { appendFileSync, mkdirSync, writeFileSync } from "node:fs";
import { Server } from "@modelcontextprotocol/server";
import { serveStdio, StdioServerTransport } from "@modelcontextprotocol/server/stdio";

const [journal = "", killAt] = process.argv.slice(2);

function isFirst() {
  try {
    mkdirSync(`${journal}.killed`);
    return true;
  } catch {
    return false;
  }
}

const create = () => {
  const server = new Server({ name: "journal", version: "1" }, { capabilities: { tools: {} } });
  const inputSchema = /** @type {const} */ ({ type: "object", properties: { text: { type: "string" } } });
  server.setRequestHandler("tools/list", () => ({ tools: [{ name: "note", description: "note", inputSchema }] }));
  server.setRequestHandler("tools/call", ({ params }) => {
    const text = String(params.arguments?.["text"]);
    appendFileSync(journal, `${text}\n`);
    if (text === killAt && isFirst()) {
      writeFileSync(`${journal}.pid`, String(process.pid));
      process.kill(process.ppid, "SIGKILL");
    }
    return { content: [{ type: "text", text: "noted" }] };
  });
  return server;
};
const handle = serveStdio(create, {
  transport: new StdioServerTransport(process.stdin, process.stdout),
  onerror: () => undefined,
});
process.stdin.once("end", () => void handle.close());
