// An MCP server with one tool, which shows a form and returns what was filled in.
import process from "node:process";
import { createInterface } from "node:readline";

const write = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
const schema = {
  type: "object",
  properties: { color: { type: "string", enum: ["red", "blue"] } },
  required: ["color"],
};
let call;

createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params, result } = JSON.parse(line);
  if (method === "initialize") {
    const { protocolVersion } = params;
    write({
      id,
      result: { protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "forms", version: "1" } },
    });
  } else if (method === "tools/list") {
    const pick = { name: "pick_color", inputSchema: { type: "object" }, annotations: { readOnlyHint: true } };
    write({ id, result: { tools: [pick] } });
  } else if (method === "tools/call") {
    call = id;
    write({ id: "form", method: "elicitation/create", params: { message: "Pick one", requestedSchema: schema } });
  } else if (id === "form") {
    write({ id: call, result: { content: [{ type: "text", text: JSON.stringify(result) }] } });
  } else if (method !== undefined && id !== undefined) {
    write({ id, error: { code: -32601, message: "unknown" } });
  }
});
