import type { Server } from "node:http";
import { serve } from "@hono/node-server";
import type { Hono } from "hono";
import { Refusal } from "../core/refusal.ts";

const LOOPBACK = ["127.0.0.1", "::1"] as const;
const GRACE_MS = 5_000;
const SWEEP_MS = 20;
const REQUEST_MS = 30_000;
const HEADERS_MS = 15_000;
const CHECK_MS = 2_000;

export interface ListenOptions {
  /** Listens there besides loopback. */
  host?: string | undefined;
  /** How long a request may take to arrive. */
  requestMs?: number | undefined;
}

/** Servers that listen on one port. */
export interface ListeningSocket {
  port: number;
  /** Takes no more requests and lets those under way finish for a while. */
  close(): Promise<void>;
}

/**
 * Listens on the loopback addresses of both families; a machine without one of them does with the other.
 * A host besides is for whoever has put something before it that speaks TLS.
 */
export async function listen(
  app: Hono,
  port: number,
  { host, requestMs }: ListenOptions = {},
): Promise<ListeningSocket> {
  const isEverywhere = host === "0.0.0.0" || host === "::";
  const first = await open(app, { hostname: isEverywhere ? host : LOOPBACK[0], port, requestMs });
  const actual = portOf(first);
  const servers = [first];
  try {
    if (host !== undefined && !isEverywhere) servers.push(await open(app, { hostname: host, port: actual, requestMs }));
  } catch (error) {
    await closeServer(first);
    throw error;
  }
  const second = isEverywhere
    ? undefined
    : await open(app, { hostname: LOOPBACK[1], port: actual, requestMs }).catch(() => undefined);
  if (second) servers.push(second);
  return {
    port: actual,
    close: async () => {
      await Promise.all(servers.map(closeServer));
    },
  };
}

interface OpenOptions {
  hostname: string;
  port: number;
  requestMs: number | undefined;
}

function open(app: Hono, { hostname, port, requestMs = REQUEST_MS }: OpenOptions): Promise<Server> {
  // Node ends a connection whose request is not complete by then; how long a reply takes does not count.
  const serverOptions = {
    requestTimeout: requestMs,
    headersTimeout: Math.min(requestMs, HEADERS_MS),
    connectionsCheckingInterval: Math.min(requestMs, CHECK_MS),
  };
  return new Promise((resolve, reject) => {
    const given = { fetch: app.fetch, hostname, port, serverOptions };
    const server = serve(given, () => resolve(server)) as Server; // plain HTTP was asked for
    server.once("error", (cause: NodeJS.ErrnoException) => {
      const isTaken = cause.code === "EADDRINUSE";
      const message = isTaken ? `Port ${port} is taken` : `Cannot listen on ${hostname}:${port} (${cause.code})`;
      reject(
        new Refusal("store_unreachable", message, { cause, hint: "Choose another one: --port 0 picks a free port" }),
      );
    });
  });
}

function portOf(server: Server): number {
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("a TCP server has a port");
  return address.port;
}

function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    const cut = setTimeout(() => server.closeAllConnections(), GRACE_MS);
    // A connection is kept open for the next request; none will come.
    const sweep = setInterval(() => server.closeIdleConnections(), SWEEP_MS);
    server.close(() => {
      clearTimeout(cut);
      clearInterval(sweep);
      resolve();
    });
    server.closeIdleConnections();
  });
}
