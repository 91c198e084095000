import type { Server, ServerContext } from "@modelcontextprotocol/server";
import { quoteLine } from "../../core/text/foreign-text.ts";
import { howToAskByTool } from "../../core/run/how-to-ask.ts";
import { Refusal } from "../../core/refusal.ts";
import {
  type McpCaller,
  type McpDeps,
  type Sdk,
  TASKS_EXTENSION,
  type ToolCall,
  clientOf,
  declaredBy,
  profileFor,
} from "./caller.ts";
import { refused } from "./result.ts";
import { registerTasks } from "./task.ts";
import { TOOLS, type Tool, type ToolName } from "./tool.ts";

/** Asking changes nothing of the agent's world; some clients refuse a headless agent every tool that might. */
const ANNOTATIONS = { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false };

/** The names of all tools. */
export const LISTED = Object.keys(TOOLS) as ToolName[]; // the keys of a record of tools

/** The same for every server. */
export const OPTIONS = {
  capabilities: { tools: {}, extensions: { [TASKS_EXTENSION]: {} } },
  instructions: howToAskByTool(),
};

/** The caller that a server serves, and its tools. */
export interface McpServing {
  caller: McpCaller;
  tools: readonly ToolName[];
  /** Runs for every tool call, in place of the named tool. */
  runs?: Tool["run"] | undefined;
  /** The one method that will be called, where that is known: a server of a held call is kept as small as can be. */
  method?: string | undefined;
}

/** A server for one connection, or for one request, of one caller. It serves both eras of the protocol. */
export function createMcpServer(sdk: Sdk, deps: McpDeps, { caller, tools, runs, method }: McpServing): Server {
  const server = new sdk.Server({ name: "askd", title: "askd", version: deps.version }, OPTIONS);
  const callOf = (context: ServerContext, input: unknown = {}): ToolCall => {
    const client = clientOf(server, caller, context);
    return {
      sdk,
      deps,
      caller,
      context,
      input,
      client,
      profile: profileFor(client, { caller, deps }),
      declared: declaredBy(server, context),
      signal: caller.signal ?? context.mcpReq.signal,
    };
  };
  server.setRequestHandler("tools/call", ({ params }, context) => {
    const name = tools.find((known) => known === params.name);
    if (!name)
      throw new sdk.ProtocolError(sdk.ProtocolErrorCode.InvalidParams, `There is no tool ${quoteLine(params.name)}`);
    const result = run(runs ?? TOOLS[name].run, callOf(context, params.arguments));
    caller.track(result);
    const release = (): void => caller.release?.(context.mcpReq.id);
    if (caller.release) result.then(release, release); // who called hears of its failure
    return result;
  });
  if (method === "tools/call") return server;
  server.setRequestHandler("tools/list", () => {
    caller.onListed?.();
    return { tools: tools.map(listed) };
  });
  registerTasks(server, callOf);
  return server;
}

/** A tool as `tools/list` shows it. */
export function listed(name: ToolName): Pick<Tool, "title" | "description" | "inputSchema"> & {
  name: ToolName;
  annotations: typeof ANNOTATIONS;
} {
  const { title, description, inputSchema } = TOOLS[name];
  return { name, title, description, inputSchema, annotations: ANNOTATIONS };
}

function run(tool: Tool["run"], call: ToolCall) {
  return tool(call).catch((error: unknown) => {
    if (error instanceof Refusal) return refused(error);
    call.deps.onBug(error);
    throw new call.sdk.ProtocolError(
      call.sdk.ProtocolErrorCode.InternalError,
      "Something went wrong; nothing was lost",
    );
  });
}
