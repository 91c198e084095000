import type { Server } from "node:http";
import { serve } from "@hono/node-server";
import type { Hono } from "hono";
import { Refusal } from "../core/refusal.ts";

const LOOPBACK = ["127.0.0.1", "::1"] as const;

/** Servers that listen on one port, on this machine only. */
export interface Listening {
  port: number;
  close(): Promise<void>;
}

/** Listens on the loopback addresses of both families; a machine without one of them does with the other. */
export async function listen(app: Hono, port: number): Promise<Listening> {
  const first = await open(app, LOOPBACK[0], port);
  const actual = portOf(first);
  const second = await open(app, LOOPBACK[1], actual).catch(() => undefined);
  const servers = second ? [first, second] : [first];
  return {
    port: actual,
    close: async () => {
      await Promise.all(servers.map(closeServer));
    },
  };
}

function open(app: Hono, hostname: string, port: number): Promise<Server> {
  return new Promise((resolve, reject) => {
    const server = serve({ fetch: app.fetch, hostname, port }, () => resolve(server)) as Server; // plain HTTP was asked for
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
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
