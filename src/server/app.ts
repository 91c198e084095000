import type { ServerResponse } from "node:http";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import { Hono, type MiddlewareHandler } from "hono";
import type { Actor } from "../core/people/actor.ts";
import { Refusal } from "../core/refusal.ts";
import { DEFAULT_LIMITS } from "../core/rules.ts";
import type { Engine } from "../engine/engine.ts";
import { limitBody } from "./body.ts";
import { CallerRuns } from "./caller-run.ts";
import { type SignedIn, credential } from "./credential.ts";
import { EndedTokens } from "./events/ended-token.ts";
import { type AllowedHosts, guard } from "./guard.ts";
import { type Log, LogLimit } from "./log.ts";
import { outgoingOf } from "./node-response.ts";
import { replyBounce, replyProblemPage, wantsPage, replyProblem } from "./problem.tsx";
import { pageSession } from "./pages/session.ts";
import { RequestLimit } from "./rest/request-limit.ts";

/** Refused requests that are logged within a minute. */
const MOST_REFUSED_LINES = 60;
const LONGEST_PATH = 200;

export interface ServerDeps {
  engine: Engine;
  doors: () => AllowedHosts;
  /** Distinguishes agents that use a person's credential from people. */
  callers?: CallerRuns;
  /** Watches for tokens that end; without it, requests open under them last until they finish. */
  ended?: EndedTokens;
  /** Reports unexpected errors; their text never reaches the client. */
  onBug: (error: unknown) => void;
  log?: Log;
  /** A proxy before this server adds the address of its caller to X-Forwarded-For. */
  isBehindProxy?: boolean;
  /** Requests from one address within a minute that come without a credential, or with one that is not known. */
  anonymousPerMinute?: number;
  /** A clock that only goes forward, for limits. */
  nowMs?: () => number;
}

/** The routes of one part of the server, below a path of its own. Only `public` ones are reached without a credential. */
export interface RouteGroup {
  path: string;
  public?: Hono;
  signed?: Hono<SignedIn>;
  /** For people with a browser whose address is their credential; written to by forms. */
  links?: Hono;
  /** For people with a browser: reached by the cookie of a session, and written to by forms. */
  pages?: Hono<SignedIn>;
}

/** Puts the parts of the server behind one guard. */
export function createApp(deps: ServerDeps, parts: readonly RouteGroup[]): Hono {
  const app = new Hono();
  const { engine, callers = new CallerRuns(engine), ended = new EndedTokens() } = deps;
  app.onError((error, context) => {
    if (!wantsPage(context)) return replyProblem(context, error, deps.onBug);
    if (!(error instanceof Refusal)) deps.onBug(error);
    return replyProblemPage(context, error);
  });
  app.notFound(() => {
    throw new Refusal("not_found", "There is nothing at this address", { hint: "See /openapi.json" });
  });
  const { log, isBehindProxy = false, nowMs = () => performance.now() } = deps;
  if (log) app.use(writeDown(log, nowMs));
  app.use(guard(deps.doors, { isPage: pageFinder(parts), bounce: replyBounce }));
  app.use(limitBody(isBehindProxy));
  const perMinute = deps.anonymousPerMinute ?? DEFAULT_LIMITS.anonymousPerMinute;
  const strangers = new RequestLimit({ perMinute, caller: "This address", nowMs });
  const countStranger: MiddlewareHandler = async (context, next) => {
    strangers.count(context.get("address"));
    await next();
  };
  app.get("/health", countStranger, (context) => context.json({ status: "ok" }));
  for (const { path, public: open, links } of parts) {
    for (const routes of [open, links]) {
      if (!routes) continue;
      for (const address of addressesOf(routes, path)) app.use(address, countStranger);
      app.route(path, routes);
    }
  }
  for (const { path, pages } of parts) {
    if (!pages) continue;
    for (const address of addressesOf(pages, path)) app.use(address, pageSession(engine, { callers, ended }));
    app.route(path, pages);
  }
  // A path that is not public needs a credential before the reply says anything about it, even that it does not exist.
  const signed = new Hono<SignedIn>();
  signed.use(credential(engine, { callers, ended, countUnknown: (address) => strangers.count(address) }));
  for (const part of parts) if (part.signed) signed.route(part.path, part.signed);
  app.route("/", signed);
  return app;
}

/** The addresses of some routes, each once. */
function addressesOf({ routes }: Pick<Hono, "routes">, path: string): Set<string> {
  return new Set(routes.map((route) => (path === "/" ? route.path : `${path}${route.path}`)));
}

/** Returns whether an address is one of the pages. */
function pageFinder(parts: readonly RouteGroup[]): (path: string) => boolean {
  const routes = parts.flatMap(({ pages, links }) => [...(pages?.routes ?? []), ...(links?.routes ?? [])]);
  const shapes = [...new Set(routes.map(({ path }) => path))].map(
    (path) => new RegExp(`^${path.replace(/:\w+/g, "[^/]+")}$`),
  );
  return (path) => shapes.some((shape) => shape.test(path));
}

/** Logs every request, refused ones up to a limit a minute. Query and body are left out: they may be private. */
function writeDown(log: Log, nowMs: () => number): MiddlewareHandler {
  const refused = new LogLimit(MOST_REFUSED_LINES, nowMs);
  return async (context, next) => {
    const startedAt = performance.now();
    const { method } = context.req;
    const path = withoutSecret(context.req.path).slice(0, LONGEST_PATH);
    await next();
    const who: unknown = context.get("actor");
    const by = isActor(who) ? { scope: who.scope, subject: who.id } : {};
    const write = (status: number): void => {
      const ms = Math.round(performance.now() - startedAt);
      const line = { method, path, status, ms, ...by };
      if (!REFUSED.has(status)) return log("debug", "request", line);
      refused.count((left_out) => log("warn", "request", { ...line, left_out }));
    };
    if (context.res === RESPONSE_ALREADY_SENT) writeLater(outgoingOf(context), write);
    else write(context.res.status);
  };
}

/** Replies that may show an attack. */
const REFUSED: ReadonlySet<number> = new Set([401, 403, 429]);

/** A late reply is logged when it is sent. Nothing of its request is kept until then. */
function writeLater(outgoing: ServerResponse | undefined, write: (status: number) => void) {
  outgoing?.once("close", () => write(outgoing.statusCode));
}

/** The address of an answer link is a credential. */
function withoutSecret(path: string) {
  return path.replace(/^\/a\/[^/]*/, "/a/…");
}

function isActor(value: unknown): value is Actor {
  return value !== null && typeof value === "object" && "scope" in value;
}
