import { z } from "zod";
import { type McpServerSettings, type StepContext, StepError, runVariables } from "./tool.ts";

const CONNECT_MS = 30_000;
/** The longest that one call may take; a step's own timeout is shorter. */
const LONGEST_CALL_MS = 24 * 60 * 60 * 1000;
const MOST_TEXT_CHARS = 64 * 1024;

/** Properties of a tool's input that the run fills in, unless the step does. */
const FROM_RUN = ["issueNumber", "issue_number", "repo", "repository"] as const;

const ToolView = z.object({
  name: z.string(),
  inputSchema: z.object({ properties: z.record(z.string(), z.unknown()).optional() }).optional(),
});
const CallResult = z.object({
  isError: z.boolean().optional(),
  structuredContent: z.unknown().optional(),
  content: z.array(z.looseObject({ type: z.string(), text: z.string().optional() })).default([]),
});

/** A connected server and the tools that it has. */
interface McpConnection {
  server: string;
  tools: ReadonlyArray<z.infer<typeof ToolView>>;
  call(name: string, input: Readonly<Record<string, unknown>>, signal: AbortSignal): Promise<unknown>;
  close(): Promise<void>;
}

/**
 * Calls a tool of an MCP server of the settings by its name, `tool` or `server.tool`. The server runs in the run's
 * working tree. A name that several servers have is refused.
 */
export async function callMcpTool(
  name: string,
  input: Readonly<Record<string, unknown>>,
  context: StepContext,
): Promise<unknown> {
  const { servers, tool } = chooseServers(name, context.outside.mcpServers);
  if (servers.length === 0) throw unknownTool(name);
  const { dir } = await context.openTree();
  const opened: McpConnection[] = [];
  try {
    const { outside, run, signal } = context;
    const env = { ...outside.env, ...runVariables(run) };
    for (const server of servers) opened.push(await connect(server, { dir, env, signal }));
    const [first, ...others] = opened.filter(({ tools }) => tools.some((each) => each.name === tool));
    if (!first) throw unknownTool(name);
    if (others.length > 0) {
      const names = [first, ...others].map(({ server }) => `${server}.${tool}`).join(", ");
      throw new StepError("ambiguous_tool", `Several MCP servers have the tool ${tool}; name one of: ${names}`);
    }
    const view = first.tools.find((each) => each.name === tool);
    return await first.call(tool, { ...fromRun(view, context), ...input }, context.signal);
  } finally {
    await Promise.allSettled(opened.map((each) => each.close()));
  }
}

/** The names of all tools that these servers have, `tool` and `server.tool`, and the servers that do not start. */
export async function listServerTools(
  servers: readonly McpServerSettings[],
  place: ServerPlace,
): Promise<{ names: string[]; away: string[] }> {
  const listed = await Promise.all(
    servers.map(async (server) => {
      const connection = await connect(server, place).catch(() => undefined); // its steps say why
      await connection?.close();
      return { server: server.name, tools: connection?.tools };
    }),
  );
  return {
    names: listed.flatMap(({ server, tools = [] }) => tools.flatMap(({ name }) => [name, `${server}.${name}`])),
    away: listed.flatMap(({ server, tools }) => (tools === undefined ? [server] : [])),
  };
}

/** The servers that may have the tool: the one that the name says, else all. */
function chooseServers(name: string, servers: readonly McpServerSettings[]) {
  const [head = "", ...rest] = name.split(".");
  const named = rest.length > 0 ? servers.filter((server) => server.name === head) : [];
  return named.length > 0 ? { servers: named, tool: rest.join(".") } : { servers, tool: name };
}

function unknownTool(name: string) {
  return new StepError("unknown_tool", `No MCP server of the settings has the tool ${name}; see: askd config list`);
}

/** Values of the run that the schema of the tool names. */
function fromRun(tool: z.infer<typeof ToolView> | undefined, { issue, run }: StepContext) {
  const repo = issue?.repo ?? run.repo;
  const known: Record<(typeof FROM_RUN)[number], unknown> = {
    issueNumber: issue?.number,
    issue_number: issue?.number,
    repo,
    repository: repo,
  };
  const wanted = FROM_RUN.filter(
    (name) => known[name] !== undefined && Object.hasOwn(tool?.inputSchema?.properties ?? {}, name),
  );
  return Object.fromEntries(wanted.map((name) => [name, known[name]]));
}

/** Where a server is started. */
interface ServerPlace {
  dir: string;
  env: Readonly<Record<string, string>>;
  signal: AbortSignal;
}

async function connect(server: McpServerSettings, { dir, env, signal }: ServerPlace): Promise<McpConnection> {
  const { Client, StreamableHTTPClientTransport } = await import("@modelcontextprotocol/client");
  const { StdioClientTransport } = await import("@modelcontextprotocol/client/stdio");
  const client = new Client({ name: "askd", version: "1" });
  const [command = "", ...args] = server.command ?? [];
  const transport =
    server.url === undefined
      ? new StdioClientTransport({ command, args, env: { ...env, ...server.env }, cwd: dir, stderr: "ignore" })
      : new StreamableHTTPClientTransport(new URL(server.url), { requestInit: { headers: { ...server.headers } } });
  try {
    await client.connect(transport, { timeout: CONNECT_MS, signal });
    const { tools } = await client.listTools(undefined, { timeout: CONNECT_MS, signal });
    return {
      server: server.name,
      tools: z.array(ToolView).parse(tools),
      call: async (name, input, signal) => {
        const options = { timeout: LONGEST_CALL_MS, signal };
        return readResult(name, await client.callTool({ name, arguments: { ...input } }, options));
      },
      close: () => client.close(),
    };
  } catch (cause) {
    await client.close().catch(() => undefined); // it may never have been there
    signal.throwIfAborted();
    throw new StepError("not_connected", `The MCP server ${server.name} does not start: ${sayCause(cause)}`, { cause });
  }
}

/** The output of a call: its structured content, else the JSON or the text that it returned. */
function readResult(name: string, raw: unknown): unknown {
  const { isError, structuredContent, content } = CallResult.parse(raw);
  const text = content
    .flatMap((part) => (part.type === "text" ? (part.text ?? []) : []))
    .join("\n")
    .slice(0, MOST_TEXT_CHARS);
  if (isError) throw new StepError("tool_failed", `${name} failed: ${text}`);
  if (structuredContent !== undefined) return structuredContent;
  try {
    return JSON.parse(text);
  } catch {
    return text; // as the tool said it
  }
}

function sayCause(cause: unknown) {
  return cause instanceof Error ? cause.message : String(cause);
}
