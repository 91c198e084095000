import type { Context, MiddlewareHandler } from "hono";
import { Refusal } from "../core/refusal.ts";
import { FORM_TYPE, mediaType } from "./body.ts";

export interface AllowedHosts {
  /** Names under which we may be called, with the port: anything else is somebody else's page. */
  hosts: ReadonlySet<string>;
  /** Pages that may call us from a browser. */
  origins: ReadonlySet<string>;
}

/** The names of this machine's own loopback, which is all that is allowed unless configured. */
export function loopbackDoors(port: number, more: readonly string[] = []): AllowedHosts {
  const hosts = [`127.0.0.1:${port}`, `localhost:${port}`, `[::1]:${port}`, ...more];
  const origins = hosts.flatMap((host) => [`http://${host}`, `https://${host}`]);
  return { hosts: new Set(hosts), origins: new Set(origins) };
}

/** Headers of every reply. */
export const SAFE_HEADERS: Readonly<Record<string, string>> = {
  "Cache-Control": "no-store",
  "X-Content-Type-Options": "nosniff",
  "Referrer-Policy": "no-referrer",
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Resource-Policy": "same-origin",
  "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'; base-uri 'none'",
};

/** The pages that people open with a browser. */
export interface Pages {
  isPage(path: string): boolean;
  /** Redirects a visitor from a link on another site to the same address, now from our own origin. */
  bounce(context: Context): Response | Promise<Response>;
}

/**
 * Stands before every route: a web page that reaches us through the user's browser, by another name of ours
 * or from another origin, gets nothing. Writes must be JSON, which a foreign form cannot send; the forms of pages
 * prove that they are ours.
 */
export function guard(doors: () => AllowedHosts, pages: Pages): MiddlewareHandler {
  return async (context, next) => {
    for (const [name, value] of Object.entries(SAFE_HEADERS)) context.header(name, value);
    requireHost(context, doors());
    if (isLinkFromElsewhere(context) && pages.isPage(context.req.path)) return pages.bounce(context);
    requireOrigin(context, doors());
    requireJson(context, pages);
    return next();
  };
}

/** A visitor followed a link on another site: the browser sends no cookie, only the address. */
function isLinkFromElsewhere({ req }: Context) {
  const site = req.header("sec-fetch-site");
  const isTop = req.header("sec-fetch-mode") === "navigate" && req.header("sec-fetch-dest") === "document";
  return req.method === "GET" && isTop && (site === "cross-site" || site === "same-site");
}

function requireHost(context: Context, { hosts }: AllowedHosts) {
  const host = context.req.header("host")?.toLowerCase() ?? "";
  if (hosts.has(host)) return;
  throw new Refusal("not_permitted", "This server does not answer under that name", { fact: { is: "other_name" } });
}

function requireOrigin(context: Context, { origins }: AllowedHosts) {
  const origin = context.req.header("origin");
  if (origin !== undefined && !origins.has(origin.toLowerCase())) {
    throw new Refusal("not_permitted", "This server does not answer pages of that origin", {
      fact: { is: "other_site" },
    });
  }
  const site = context.req.header("sec-fetch-site");
  if (site !== undefined && site !== "same-origin" && site !== "none") {
    throw new Refusal("not_permitted", "This server does not answer other sites", { fact: { is: "other_site" } });
  }
}

function isEmpty(context: Context) {
  return (context.req.header("content-length") ?? "0") === "0" && context.req.header("transfer-encoding") === undefined;
}

/** Forms that carry a proof of their own: a token, or the signature of a service. */
const FORM_PATHS: ReadonlySet<string> = new Set(["/login", "/logout", "/csp-report", "/hooks/slack"]);

function requireJson(context: Context, { isPage }: Pages) {
  if (context.req.method === "GET" || context.req.method === "HEAD") return;
  const type = mediaType(context);
  if (type === "application/json" || FORM_PATHS.has(context.req.path)) return;
  if (isPage(context.req.path) && type === FORM_TYPE) return;
  if (type === undefined && isEmpty(context)) return;
  throw new Refusal("bad_input", "Send JSON: Content-Type must be application/json", { fact: { is: "not_json" } });
}
