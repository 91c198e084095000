import type { Context, MiddlewareHandler } from "hono";
import { Refusal } from "../core/refusal.ts";

export interface Doors {
  /** Names under which we may be called, with the port: anything else is somebody else's page. */
  hosts: ReadonlySet<string>;
  /** Pages that may call us from a browser. */
  origins: ReadonlySet<string>;
}

/** The names of this machine's own loopback, which is all that is allowed unless configured. */
export function loopbackDoors(port: number, more: readonly string[] = []): Doors {
  const hosts = [`127.0.0.1:${port}`, `localhost:${port}`, `[::1]:${port}`, ...more];
  const origins = hosts.flatMap((host) => [`http://${host}`, `https://${host}`]);
  return { hosts: new Set(hosts), origins: new Set(origins) };
}

const HEADERS: Readonly<Record<string, string>> = {
  "Cache-Control": "no-store",
  "X-Content-Type-Options": "nosniff",
  "Referrer-Policy": "no-referrer",
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Resource-Policy": "same-origin",
  "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'; base-uri 'none'",
};

/**
 * Stands before every route: a web page that reaches us through the user's browser, by another name of ours
 * or from another origin, gets nothing. Writes must be JSON, which a foreign form cannot send.
 */
export function guard(doors: () => Doors): MiddlewareHandler {
  return async (context, next) => {
    for (const [name, value] of Object.entries(HEADERS)) context.header(name, value);
    requireHost(context, doors());
    requireOrigin(context, doors());
    requireJson(context);
    await next();
  };
}

function requireHost(context: Context, { hosts }: Doors): void {
  const host = context.req.header("host")?.toLowerCase() ?? "";
  if (!hosts.has(host)) throw new Refusal("not_permitted", "This server does not answer under that name");
}

function requireOrigin(context: Context, { origins }: Doors): void {
  const origin = context.req.header("origin");
  if (origin !== undefined && !origins.has(origin.toLowerCase())) {
    throw new Refusal("not_permitted", "This server does not answer pages of that origin");
  }
  const site = context.req.header("sec-fetch-site");
  if (site !== undefined && site !== "same-origin" && site !== "none") {
    throw new Refusal("not_permitted", "This server does not answer other sites");
  }
}

function isEmpty(context: Context): boolean {
  return (context.req.header("content-length") ?? "0") === "0" && context.req.header("transfer-encoding") === undefined;
}

const FORM_PATHS: ReadonlySet<string> = new Set(["/login", "/logout"]);

function requireJson(context: Context): void {
  if (context.req.method === "GET" || context.req.method === "HEAD") return;
  const type = context.req.header("content-type")?.split(";")[0]?.trim().toLowerCase();
  if (type === "application/json" || FORM_PATHS.has(context.req.path)) return;
  if (type === undefined && isEmpty(context)) return;
  throw new Refusal("bad_input", "Send JSON: Content-Type must be application/json");
}
