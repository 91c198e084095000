import { PassThrough, type Readable, type Writable } from "node:stream";
import { Client, StreamableHTTPClientTransport, type Transport } from "@modelcontextprotocol/client";
import { Client as OldClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as OldHttpTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { AGENTS } from "../../src/agents/agents.ts";
import { knownClients } from "../../src/agents/registry.ts";
import { engineOn } from "../../src/app.ts";
import { SYSTEM } from "../../src/core/people/actor.ts";
import { AnswerInput } from "../../src/core/answer/answer-input.ts";
import type { QuestionSnapshot } from "../../src/core/changes.ts";
import { QuestionId } from "../../src/core/id.ts";
import { instant } from "../../src/core/instant.ts";
import type { Question } from "../../src/core/question/question.ts";
import type { TokenInput } from "../../src/core/people/token.ts";
import type { LocalEngine } from "../../src/engine/local-engine.ts";
import { createApp } from "../../src/server/app.ts";
import { CallerRuns } from "../../src/server/caller-run.ts";
import { loopbackDoors } from "../../src/server/guard.ts";
import { type ListeningSocket, listen } from "../../src/server/server.ts";
import type { McpCaller, Holders, McpDeps } from "../../src/server/mcp/caller.ts";
import { type McpPart, mcpPart } from "../../src/server/mcp/http.ts";
import { serveStdio } from "../../src/server/mcp/stdio.ts";
import { DEFAULT_TOOLS, type ToolName } from "../../src/server/mcp/tool.ts";
import { MemoryStore } from "../memory-store/memory.ts";
import type { Store } from "../../src/store/store.ts";
import { ADA } from "../builders.ts";
import type { Rules } from "../../src/core/rules.ts";
import { ROOMY } from "../scene.ts";

export type Era = "legacy" | "modern";
export type Way = "stdio" | "http";

/** The part of both official clients that tests use. */
export interface AnyClient {
  listTools(): Promise<{
    tools: Array<{ name: string; description?: string; annotations?: { readOnlyHint?: boolean } }>;
  }>;
  call(name: string, input?: Record<string, unknown>, options?: CallOptions): Promise<Called>;
  instructions(): string | undefined;
  close(): Promise<void>;
}

export interface CallOptions {
  signal?: AbortSignal;
  onprogress?: (progress: { message?: string; progress: number }) => void;
  meta?: Record<string, unknown>;
}

export interface Called {
  text: string;
  fields: Record<string, unknown>;
  isError: boolean;
}

export interface ConnectOptions {
  way: Way;
  era: Era;
  name?: string;
  tools?: readonly ToolName[];
  caller?: Partial<McpCaller>;
  deps?: Partial<McpDeps>;
  /** Replies to forms; a client that has it declares that it can show them. */
  form?: (
    message: string,
  ) => Promise<{ action: "accept" | "decline" | "cancel"; content?: Record<string, string | number | string[]> }>;
  headers?: Record<string, string>;
  scope?: TokenInput["scope"];
}

/** An engine in real time, and clients of both official libraries that speak to it over both transports. */
export class McpScene {
  readonly store: Store;
  readonly engine: LocalEngine;
  readonly bugs: unknown[] = [];
  /** Processes that have ended, by name; this one is "here". */
  readonly ended = new Set<string>();
  readonly holders: Holders = { own: "here", isGone: async (holder) => this.ended.has(holder) };
  /** The runs above every client that comes over HTTP. */
  above: readonly string[] = [];
  readonly #closers: Array<() => Promise<unknown>> = [];
  #stdioCount = 0;
  #http: { part: McpPart; listening: ListeningSocket } | undefined;

  readonly rules: Rules;

  constructor(store: Store = new MemoryStore(() => instant(Date.now())), rules: Rules = ROOMY) {
    this.store = store;
    this.rules = rules;
    this.engine = engineOn(store, { rules });
  }

  get deps(): McpDeps {
    const onBug = (error: unknown): void => void this.bugs.push(error);
    const clients = knownClients(AGENTS);
    return { engine: this.engine, holders: this.holders, rules: this.rules, version: "1.2.3", clients, onBug };
  }

  async connect(options: ConnectOptions): Promise<AnyClient> {
    const client = options.era === "modern" ? await this.#connectNew(options) : await this.#connectOld(options);
    this.#closers.unshift(() => client.close());
    return client;
  }

  async #connectNew(options: ConnectOptions): Promise<AnyClient> {
    const client = new Client(
      { name: options.name ?? "test-client", version: "1.0.0" },
      {
        capabilities: options.form ? { elicitation: { form: {} } } : {},
        versionNegotiation: { mode: { pin: "2026-07-28" } },
      },
    );
    const { form } = options;
    if (form) client.setRequestHandler("elicitation/create", ({ params }) => form(params.message));
    const http = async () =>
      new StreamableHTTPClientTransport(await this.url(options.tools), {
        requestInit: { headers: await this.#headers(options) },
      });
    await client.connect(options.way === "http" ? await http() : this.#stdio(options));
    return {
      listTools: () => client.listTools(),
      call: async (name, input = {}, { meta, ...more } = {}) =>
        called(await client.callTool({ name, arguments: input, ...(meta && { _meta: meta }) }, more)),
      instructions: () => client.getInstructions(),
      close: () => client.close(),
    };
  }

  async #connectOld(options: ConnectOptions): Promise<AnyClient> {
    const client = new OldClient(
      { name: options.name ?? "test-client", version: "1.0.0" },
      { capabilities: options.form ? { elicitation: {} } : {} },
    );
    const { form } = options;
    if (form) {
      const { ElicitRequestSchema } = await import("@modelcontextprotocol/sdk/types.js");
      client.setRequestHandler(ElicitRequestSchema, ({ params }) => form(params.message));
    }
    const http = async () =>
      new OldHttpTransport(await this.url(options.tools), { requestInit: { headers: await this.#headers(options) } });
    const transport = options.way === "http" ? await http() : this.#stdio(options);
    await client.connect(transport);
    return {
      listTools: () => client.listTools(),
      call: async (name, input = {}, { meta, ...more } = {}) =>
        called(await client.callTool({ name, arguments: input, ...(meta && { _meta: meta }) }, undefined, more)),
      instructions: () => client.getInstructions(),
      close: () => client.close(),
    };
  }

  /** Where the server listens; it is started when first asked for. */
  async url(tools: readonly ToolName[] = DEFAULT_TOOLS): Promise<URL> {
    this.#http ??= await this.#serveHttp();
    return new URL(`http://127.0.0.1:${this.#http.listening.port}/mcp?tools=${tools.join(",")}`);
  }

  async token(scope: TokenInput["scope"] = "agent"): Promise<string> {
    return (await this.engine.issueToken({ scope, subject: scope === "agent" ? "claude" : "ada" }, SYSTEM)).text;
  }

  /** The only question that waits, as soon as there is one. */
  async waiting(): Promise<Question> {
    return until(async () => (await this.engine.listQuestions({ status: "pending", order: "oldest", limit: 2 }))[0]);
  }

  /** The question once its agent has been given the outcome. */
  given(id: QuestionId): Promise<QuestionSnapshot> {
    return until(async () => {
      const read = await this.engine.read(id);
      return read.question.status !== "pending" && read.question.handover.state === "given" ? read : undefined;
    });
  }

  answer(id: string, answer: string) {
    return this.engine.answer(QuestionId.parse(id), AnswerInput.parse({ answer }), ADA);
  }

  /** Ends what is reached over HTTP. */
  async closeHttp(): Promise<void> {
    await this.#http?.part.close();
    await this.#http?.listening.close();
    this.#http = undefined;
  }

  /** Ends everything; what should not have happened meanwhile fails the test. */
  async close(): Promise<void> {
    for (const close of this.#closers) await close();
    await this.closeHttp();
    await this.engine.stop();
    if (this.bugs.length > 0) throw new AggregateError(this.bugs, "something went wrong that no client was told");
  }

  async #headers({ headers, scope }: ConnectOptions): Promise<Record<string, string>> {
    return { Authorization: `Bearer ${await this.token(scope)}`, ...headers };
  }

  async #serveHttp(): Promise<{ part: McpPart; listening: ListeningSocket }> {
    const part = mcpPart({ ...this.deps, host: "here" });
    let port = 0;
    const onBug = (error: unknown): void => void this.bugs.push(error);
    const callers = new CallerRuns(this.engine, async () => this.above);
    const app = createApp({ engine: this.engine, doors: () => loopbackDoors(port), callers, onBug }, [part]);
    const listening = await listen(app, 0);
    port = listening.port;
    return { part, listening };
  }

  #stdio({ tools = DEFAULT_TOOLS, caller, deps }: ConnectOptions): Transport {
    const input = new PassThrough();
    const output = new PassThrough();
    const stop = new AbortController();
    // Each of them is a process of its own.
    const holders = { ...this.holders, own: `stdio ${(this.#stdioCount += 1)}` };
    const served = serveStdio(
      { ...this.deps, holders, ...deps },
      {
        input,
        output,
        tools,
        signal: stop.signal,
        caller: { host: "here", env: {}, secrets: [], principal: "ada", session: `mcp:${Math.random()}`, ...caller },
      },
    );
    this.#closers.push(async () => {
      input.end();
      await served;
    });
    return linesOver(output, input);
  }
}

/** Tries again until there is something; a test that waits for nothing ends by its own timeout. */
export async function until<Found>(look: () => Promise<Found | undefined>): Promise<Found> {
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

function called(result: unknown): Called {
  const { content, structuredContent, isError } = result as {
    content: Array<{ text?: string }>;
    structuredContent?: Record<string, unknown>;
    isError?: boolean;
  }; // both libraries check what they return
  return { text: content[0]?.text ?? "", fields: structuredContent ?? {}, isError: isError ?? false };
}

/** One JSON message on a line, as a client's end of stdio. */
function linesOver(from: Readable, to: Writable): Transport {
  let rest = "";
  const transport: Transport = {
    start: () => {
      from.setEncoding("utf8").on("data", (text: string) => {
        const lines = (rest + text).split("\n");
        rest = lines.pop() ?? "";
        for (const line of lines) transport.onmessage?.(JSON.parse(line));
      });
      return Promise.resolve();
    },
    send: async (message) => void to.write(`${JSON.stringify(message)}\n`),
    close: () => {
      to.end();
      transport.onclose?.();
      return Promise.resolve();
    },
  };
  return transport;
}
