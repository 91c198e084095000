import { Agent, request } from "node:http";
import type { ServerProcess } from "./server-process.ts";

/** What a server replied. */
export interface Replied {
  status: number;
  body: Record<string, unknown>;
  /** When its last byte came. */
  atMs: number;
}

/** Sends requests to one server over that many connections, which are kept. */
export class Client {
  readonly #server: ServerProcess;
  readonly #agent: Agent;

  constructor(server: ServerProcess, connections: number) {
    this.#server = server;
    this.#agent = new Agent({ keepAlive: true, maxSockets: connections });
  }

  send(method: string, path: string, body?: object, more: Record<string, string> = {}): Promise<Replied> {
    const text = body && JSON.stringify(body);
    return new Promise((resolve, reject) => {
      const headers = {
        authorization: `Bearer ${this.#server.token}`,
        ...more,
        ...(text !== undefined && { "content-type": "application/json", "content-length": Buffer.byteLength(text) }),
      };
      const sent = request(`${this.#server.url}${path}`, { method, agent: this.#agent, headers }, (response) => {
        const chunks: Buffer[] = [];
        response.on("data", (chunk: Buffer) => chunks.push(chunk));
        response.on("error", reject);
        response.on("end", () => {
          const atMs = clockMs();
          resolve({ status: response.statusCode ?? 0, body: readBody(Buffer.concat(chunks).toString()), atMs });
        });
      });
      sent.on("error", reject);
      sent.end(text);
    });
  }

  close(): void {
    this.#agent.destroy();
  }
}

/** A clock that all processes of this machine share and nobody sets. */
export function clockMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

/** A reply is JSON, or a stream whose last event is. */
function readBody(text: string): Replied["body"] {
  const last = text.split("\n").findLast((line) => line.startsWith("data: ") && line.length > 6);
  return JSON.parse(last?.slice(6) ?? text);
}

/** Does the work that many times, that many at once. */
export async function times(count: number, atOnce: number, work: (n: number) => Promise<void>): Promise<void> {
  const rest = Array.from({ length: count }, (_, n) => n).values();
  const loops = Array.from({ length: atOnce }, async () => {
    for (const n of rest) await work(n);
  });
  await Promise.all(loops);
}
