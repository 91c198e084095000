import { type IncomingMessage, type ServerResponse, request as httpRequest } from "node:http";
import { type Server, createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { ownCertificate } from "./certificate.ts";
import { until } from "./run-dir.ts";

const STATUS_TEXT: Readonly<Record<number, string>> = {
  502: "Bad Gateway",
  503: "Service Temporarily Unavailable",
  504: "Gateway Time-out",
};

/**
 * A TLS proxy before a server, as people put one there. While nobody is behind it, it replies 502 with a page of its
 * own, which says nothing about whether the request arrived.
 */
export class TestProxy {
  /** The certificate that whoever calls it has to trust. */
  readonly certificate: string;
  /** Requests that it replied to itself, as `METHOD /path`. */
  readonly turnedAway: string[] = [];
  /** Where the server is. */
  target = 0;
  /** What it replies with while nobody is there. */
  status: 502 | 503 | 504 = 502;
  /** Seconds, told with every reply of its own. */
  retryAfter: number | undefined;
  readonly #server: Server;
  #losing: ((request: string) => boolean) | undefined;

  private constructor() {
    const { key, cert } = ownCertificate();
    this.certificate = cert;
    this.#server = createServer({ key, cert }, (request, reply) => this.#forward(request, reply));
  }

  static async start(target = 0): Promise<TestProxy> {
    const proxy = new TestProxy();
    proxy.target = target;
    await new Promise<void>((resolve) => proxy.#server.listen(0, "127.0.0.1", resolve));
    return proxy;
  }

  get url(): string {
    return `https://${this.name}`;
  }

  /** The name under which the server is called. */
  get name(): string {
    const { port } = this.#server.address() as AddressInfo; // it listens on a port
    return `127.0.0.1:${port}`;
  }

  /** Passes the next such request on, and loses what the server replied. */
  loseReply(isIt: (request: string) => boolean): void {
    this.#losing = isIt;
  }

  /** Comes back when it has replied itself to that many more requests. */
  async turnsAway(count: number): Promise<void> {
    const wanted = this.turnedAway.length + count;
    await until(`the proxy turned ${count} more requests away`, () => this.turnedAway.length >= wanted);
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #forward(request: IncomingMessage, reply: ServerResponse): void {
    const { method, url: path, headers } = request;
    const named = `${method} ${path}`;
    const isLost = this.#losing?.(named) ?? false;
    if (isLost) this.#losing = undefined;
    const onward = httpRequest({ host: "127.0.0.1", port: this.target, method, path, headers, agent: false });
    onward.on("response", (response) => {
      if (isLost) {
        response.resume().on("end", () => this.#turnAway(named, reply));
        return;
      }
      reply.writeHead(response.statusCode ?? 502, response.headers);
      response.on("error", () => reply.destroy()).pipe(reply);
    });
    onward.on("error", () => {
      if (reply.headersSent) reply.destroy();
      else this.#turnAway(named, reply);
    });
    reply.on("close", () => onward.destroy());
    request.pipe(onward);
  }

  #turnAway(request: string, reply: ServerResponse): void {
    const title = `${this.status} ${STATUS_TEXT[this.status]}`;
    const wait = this.retryAfter === undefined ? {} : { "retry-after": String(this.retryAfter) };
    reply.writeHead(this.status, { "content-type": "text/html", ...wait });
    reply.end(`<html>\n<head><title>${title}</title></head>\n<body><h1>${title}</h1></body>\n</html>\n`);
    this.turnedAway.push(request);
  }
}
