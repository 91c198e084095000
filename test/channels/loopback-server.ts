import {
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
  createServer,
} from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import type { Outbound } from "../../src/channels/outbound.ts";
import { runProgram } from "../../src/agents/process/run-program.ts";
import { post } from "../../src/engine/outbound/post.ts";
import type { PlannedFailure, Traffic } from "./counterpart.ts";

export interface LoopbackRequest {
  method: string;
  url: URL;
  headers: IncomingHttpHeaders;
  text: string;
  /** Ends when the client hangs up. */
  gone: AbortSignal;
}

/** A service on 127.0.0.1 that keeps what came, and fails as planned. */
export class LoopbackServer implements Traffic {
  readonly problems: string[] = [];
  readonly #bodies: string[] = [];
  readonly #failures: PlannedFailure[] = [];
  readonly #server: Server;
  #requests = 0;

  handle: (request: LoopbackRequest, response: ServerResponse) => void | Promise<void> = () => undefined;

  constructor() {
    this.#server = createServer((incoming, response) => {
      let text = "";
      const gone = new AbortController();
      response.on("close", () => gone.abort());
      incoming.on("data", (chunk: Buffer) => (text += chunk.toString()));
      incoming.on("end", () => {
        const url = new URL(incoming.url ?? "/", "http://loopback");
        const request = { method: incoming.method ?? "", url, headers: incoming.headers, text, gone: gone.signal };
        void this.handle(request, response);
      });
    });
  }

  /** Keeps the text of a request. */
  keep(text: string): void {
    this.#bodies.push(text);
  }

  /** Counts a request that carries a message. */
  count(): void {
    this.#requests += 1;
  }

  /** The failure that is planned for this request, if any. */
  nextFailure(): PlannedFailure | undefined {
    return this.#failures.shift();
  }

  everythingSent(): string {
    return this.#bodies.join("\n");
  }

  requests(): number {
    return this.#requests;
  }

  fail(failure: PlannedFailure, times = 1): void {
    for (let count = 0; count < times; count += 1) this.#failures.push(failure);
  }

  recover(): void {
    this.#failures.length = 0;
  }

  /** Hears of clients that want a WebSocket. */
  onUpgrade(listener: (request: IncomingMessage, socket: Duplex, head: Buffer) => void): void {
    this.#server.on("upgrade", listener);
  }

  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

/** The ways out of a channel under test. */
export const OUTBOUND: Outbound = {
  post: (url, message) => post(url, message, { allowLoopback: true }),
  fetch,
  run: runProgram,
  nowMs: Date.now,
};

export function sendJson(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
) {
  response.writeHead(status, { "content-type": "application/json", ...headers });
  response.end(JSON.stringify(body));
}
