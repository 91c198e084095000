import type { McpHttpHandler } from "@modelcontextprotocol/server";
import type { McpDeps, Sdk } from "./caller.ts";
import { type McpServing, createMcpServer } from "./server.ts";

const MOST_SUBSCRIPTIONS = 100_000;

/** The protocol library behind requests of both eras, which makes a server for each of them. */
export class Handler {
  readonly #deps: McpDeps;
  #library: McpHttpHandler | undefined;
  /** Requests whose server is still to be made. */
  readonly #waiting = new Map<Request, McpServing>();

  constructor(deps: McpDeps) {
    this.#deps = deps;
  }

  async serve(request: Request, serving: McpServing, body: unknown): Promise<Response> {
    const sdk = await import("@modelcontextprotocol/server");
    this.#library ??= this.#create(sdk);
    this.#waiting.set(request, serving);
    try {
      return await this.#library.fetch(request, body === undefined ? {} : { parsedBody: body });
    } finally {
      this.#waiting.delete(request);
    }
  }

  #create(sdk: Sdk): McpHttpHandler {
    return sdk.createMcpHandler(({ requestInfo }) => createMcpServer(sdk, this.#deps, this.#take(requestInfo)), {
      // A held call is answered as a stream: a client gives up on a single body much sooner.
      responseMode: "sse",
      keepAliveMs: 0, // one clock beats for all streams
      maxSubscriptions: MOST_SUBSCRIPTIONS,
      onerror: () => undefined, // what it reports was told to the client; bugs of ours are reported where they happen
    });
  }

  #take(request: Request | undefined): McpServing {
    const serving = request && this.#waiting.get(request);
    if (!serving) throw new Error("the library makes a server for a request that it was given");
    return serving;
  }
}
