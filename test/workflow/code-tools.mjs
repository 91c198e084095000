// An MCP server with the tools of a workflow that fixes issues. They work in the folder that the server was started in.
import { readFileSync, writeFileSync, appendFileSync } from "node:fs";
import { Server } from "@modelcontextprotocol/server";
import { serveStdio, StdioServerTransport } from "@modelcontextprotocol/server/stdio";

const [journal] = process.argv.slice(2);
const note = (line) => journal && appendFileSync(journal, `${JSON.stringify(line)}\n`);
const number = { type: "number" };
const text = { type: "string" };

const TOOLS = {
  analyze_issue: {
    properties: { issueNumber: number },
    run: ({ issueNumber }) => ({
      confidence: 62,
      uncertainQuestion: `Which way should #${issueNumber} be fixed?`,
      suggestedOptions: [
        { value: "guard", label: "Add null check", description: "Simple guard clause" },
        { value: "early", label: "Initialize early" },
      ],
      defaultApproach: "guard",
    }),
  },
  apply_code_fix: {
    properties: { approach: text },
    run: ({ approach }) => {
      writeFileSync("fix.txt", `fixed with ${approach}\n`);
      return { applied: approach };
    },
  },
  run_checks: {
    properties: {},
    run: () => ({ passed: readFileSync("fix.txt", "utf8").startsWith("fixed with ") }),
  },
};

const create = () => {
  const server = new Server({ name: "code-tools", version: "1" }, { capabilities: { tools: {} } });
  server.setRequestHandler("tools/list", () => ({
    tools: Object.entries(TOOLS).map(([name, { properties }]) => ({
      name,
      description: name,
      inputSchema: { type: "object", properties },
    })),
  }));
  server.setRequestHandler("tools/call", ({ params }) => {
    note({ tool: params.name, input: params.arguments });
    const { run } = TOOLS[/** @type {keyof typeof TOOLS} */ (params.name)];
    const output = run(params.arguments ?? {});
    return { content: [{ type: "text", text: JSON.stringify(output) }], structuredContent: output };
  });
  return server;
};
const handle = serveStdio(create, {
  transport: new StdioServerTransport(process.stdin, process.stdout),
  onerror: () => undefined,
});
process.stdin.once("end", () => void handle.close());
