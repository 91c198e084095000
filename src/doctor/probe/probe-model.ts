import { once } from "node:events";
import { type IncomingMessage, type ServerResponse, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { z } from "zod";

/** The requests that the agent's model received about our tool and its one call. */
export interface ModelSaw {
  /** The tool's name among those that were offered first; nothing when it was not among them. */
  offeredAs: string | undefined;
  hasBeenAsked: boolean;
  /** From the call until its result was shown. */
  ms: number | undefined;
  result: string | undefined;
}

/** A stand-in for a model on this machine: calls our tool once, and is content with whatever comes back. */
export interface ProbeModel {
  url: string;
  saw: ModelSaw;
  /** Resolves when the model has been shown a result, or was not offered the tool. */
  over: Promise<void>;
  close(): Promise<void>;
}

const TOOL = /(?:^|_)ask_human$/;
const MOST_BYTES = 32 * 1024 * 1024;
const INPUT = { question: "Is this a test of how long a call may take?", options: ["Yes", "No"] };

/** A request in whichever protocol, as far as it matters. */
interface ModelRequest {
  tools: Array<{ name: string; namespace?: string | undefined }>;
  results: string[];
}
type Call = { name: string; namespace?: string | undefined } | undefined;
interface Dialect {
  path: RegExp;
  read(body: unknown): ModelRequest;
  /** The events of a reply that calls the tool, or says that all is done. */
  reply(call: Call): Array<[event: string | undefined, data: unknown]>;
}

/** Starts the stand-in. `callHidden` has it call a tool by that name though it was not offered. */
export async function startModel(callHidden?: string): Promise<ProbeModel> {
  const saw: ModelSaw = { offeredAs: undefined, hasBeenAsked: false, ms: undefined, result: undefined };
  let calledAt: number | undefined;
  let end: () => void = () => undefined;
  const over = new Promise<void>((resolve) => (end = resolve));
  const decide = ({ tools, results }: ModelRequest): Call => {
    if (tools.length === 0) return undefined; // a title, a summary: nothing that could call
    const offered = tools.find(({ name }) => TOOL.test(name));
    if (!saw.hasBeenAsked) saw.offeredAs = offered?.name;
    saw.hasBeenAsked = true;
    const result = results.at(-1);
    if (calledAt !== undefined && result !== undefined) {
      saw.ms ??= performance.now() - calledAt;
      saw.result ??= result;
      end();
      return undefined;
    }
    const call = offered ?? (callHidden === undefined ? undefined : { name: callHidden });
    if (call === undefined) end();
    else calledAt ??= performance.now();
    return call;
  };
  const server = createServer(
    (request, response) => void serve(request, response, decide).catch(() => response.destroy()),
  );
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo; // it listens on TCP
  return {
    url: `http://127.0.0.1:${port}`,
    saw,
    over,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function serve(
  request: IncomingMessage,
  response: ServerResponse,
  decide: (asked: ModelRequest) => Call,
): Promise<void> {
  const { pathname } = new URL(request.url ?? "", "http://127.0.0.1");
  const body = await readJson(request);
  const dialect = DIALECTS.find(({ path }) => path.test(pathname));
  if (!dialect || request.method !== "POST") {
    const isCount = /count_?tokens$/i.test(pathname);
    response.writeHead(isCount ? 200 : 404, { "content-type": "application/json" });
    response.end(JSON.stringify(isCount ? { input_tokens: 1, totalTokens: 1 } : { error: { message: "not here" } }));
    return;
  }
  const events = dialect.reply(decide(dialect.read(body)));
  response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache" });
  for (const [event, data] of events) {
    if (event !== undefined) response.write(`event: ${event}\n`);
    response.write(`data: ${typeof data === "string" ? data : JSON.stringify(data)}\n\n`);
  }
  response.end();
}

async function readJson(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request) {
    if (!Buffer.isBuffer(chunk)) continue;
    bytes += chunk.length;
    if (bytes > MOST_BYTES) throw new Error("the request is too large");
    chunks.push(chunk);
  }
  try {
    const raw: unknown = JSON.parse(Buffer.concat(chunks).toString("utf8"));
    return raw;
  } catch {
    return undefined; // a request without a body
  }
}

const Name = z.object({ name: z.string() });
const Block = z.looseObject({ type: z.string().optional(), content: z.unknown().optional() });
const text = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value ?? ""));
const id = (prefix: string): string => `${prefix}${Math.random().toString(36).slice(2)}`;

const anthropic: Dialect = {
  path: /\/messages$/,
  read: (raw) => {
    const Body = z.object({
      tools: z.array(Name.loose()).default([]),
      messages: z.array(z.object({ content: z.union([z.string(), z.array(Block)]) })).default([]),
    });
    const { tools, messages } = Body.parse(raw);
    const blocks = messages.flatMap(({ content }) => (typeof content === "string" ? [] : content));
    return { tools, results: blocks.filter(({ type }) => type === "tool_result").map(({ content }) => text(content)) };
  },
  reply: (call) => {
    const block = call
      ? { type: "tool_use", id: id("toolu_"), name: call.name, input: {} }
      : { type: "text", text: "" };
    const delta = call
      ? { type: "input_json_delta", partial_json: JSON.stringify(INPUT) }
      : { type: "text_delta", text: "Done." };
    const usage = { input_tokens: 1, output_tokens: 1, cache_creation_input_tokens: 0, cache_read_input_tokens: 0 };
    const message = { id: id("msg_"), type: "message", role: "assistant", model: "probe", content: [], usage };
    const events: Array<{ type: string; [name: string]: unknown }> = [
      { type: "message_start", message: { ...message, stop_reason: null, stop_sequence: null } },
      { type: "content_block_start", index: 0, content_block: block },
      { type: "content_block_delta", index: 0, delta },
      { type: "content_block_stop", index: 0 },
      { type: "message_delta", delta: { stop_reason: call ? "tool_use" : "end_turn", stop_sequence: null }, usage },
      { type: "message_stop" },
    ];
    return events.map((event) => [event.type, event]);
  },
};

const responses: Dialect = {
  path: /\/responses$/,
  read: (raw) => {
    const Tool = z.looseObject({
      type: z.string(),
      name: z.string().optional(),
      tools: z.array(Name.loose()).optional(),
    });
    const Item = z.looseObject({ type: z.string().optional(), output: z.unknown().optional() });
    const Body = z.object({
      tools: z.array(Tool).default([]),
      input: z.union([z.string().transform(() => []), z.array(Item)]).default([]),
    });
    const { tools, input } = Body.parse(raw);
    return {
      // A namespace groups the tools of one server.
      tools: tools.flatMap((tool) =>
        tool.type === "namespace"
          ? (tool.tools ?? []).map(({ name }) => ({ name, namespace: tool.name }))
          : [{ name: tool.name ?? tool.type }],
      ),
      results: input.filter(({ type }) => type === "function_call_output").map(({ output }) => text(output)),
    };
  },
  reply: (call) => {
    const args = JSON.stringify(INPUT);
    const item = call
      ? { id: id("fc_"), type: "function_call", status: "completed", call_id: id("call_"), arguments: args, ...call }
      : {
          id: id("msg_"),
          type: "message",
          role: "assistant",
          status: "completed",
          content: [{ type: "output_text", text: "Done.", annotations: [] }],
        };
    const usage = {
      input_tokens: 1,
      output_tokens: 1,
      total_tokens: 2,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens_details: { reasoning_tokens: 0 },
    };
    const response = { id: id("resp_"), object: "response", created_at: 1, model: "probe", usage };
    const events: Array<{ type: string; [name: string]: unknown }> = [
      { type: "response.created", response: { ...response, status: "in_progress", output: [], usage: null } },
      { type: "response.output_item.added", output_index: 0, item: { ...item, status: "in_progress" } },
      { type: "response.output_item.done", output_index: 0, item },
      { type: "response.completed", response: { ...response, status: "completed", output: [item] } },
    ];
    return events.map((event, index) => [event.type, { sequence_number: index, ...event }]);
  },
};

const chat: Dialect = {
  path: /\/chat\/completions$/,
  read: (raw) => {
    const Body = z.object({
      tools: z.array(z.object({ function: Name.loose() })).default([]),
      messages: z.array(z.looseObject({ role: z.string(), content: z.unknown().optional() })).default([]),
    });
    const { tools, messages } = Body.parse(raw);
    return {
      tools: tools.map((tool) => tool.function),
      results: messages.filter(({ role }) => role === "tool").map(({ content }) => text(content)),
    };
  },
  reply: (call) => {
    const base = { id: id("chatcmpl_"), object: "chat.completion.chunk", created: 1, model: "probe" };
    const chunk = (delta: object, finish: string | null = null): [undefined, object] => [
      undefined,
      { ...base, choices: [{ index: 0, delta, finish_reason: finish }] },
    ];
    const made = call && { name: call.name, arguments: JSON.stringify(INPUT) };
    return [
      chunk({ role: "assistant", content: "" }),
      chunk(
        made ? { tool_calls: [{ index: 0, id: id("call_"), type: "function", function: made }] } : { content: "Done." },
      ),
      chunk({}, made ? "tool_calls" : "stop"),
      [undefined, { ...base, choices: [], usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 } }],
      [undefined, "[DONE]"],
    ];
  },
};

const gemini: Dialect = {
  path: /:(?:streamG|g)enerateContent$/,
  read: (raw) => {
    const Part = z.looseObject({ functionResponse: z.looseObject({ response: z.unknown().optional() }).optional() });
    const Body = z.object({
      tools: z.array(z.looseObject({ functionDeclarations: z.array(Name.loose()).default([]) })).default([]),
      contents: z.array(z.looseObject({ parts: z.array(Part).default([]) })).default([]),
    });
    const { tools, contents } = Body.parse(raw);
    const parts = contents.flatMap((content) => content.parts);
    return {
      tools: tools.flatMap(({ functionDeclarations }) => functionDeclarations),
      results: parts.flatMap(({ functionResponse }) => (functionResponse ? [text(functionResponse.response)] : [])),
    };
  },
  reply: (call) => {
    const part = call ? { functionCall: { name: call.name, args: INPUT } } : { text: "Done." };
    const candidate = { index: 0, content: { role: "model", parts: [part] }, finishReason: "STOP" };
    const usageMetadata = { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 };
    return [[undefined, { candidates: [candidate], usageMetadata, modelVersion: "probe", responseId: id("resp") }]];
  },
};

const DIALECTS: readonly Dialect[] = [anthropic, responses, chat, gemini];
