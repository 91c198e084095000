import type { ServerResponse } from "node:http";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import { Hono, type MiddlewareHandler } from "hono";
import type { Actor } from "../core/actor.ts";
import { Refusal } from "../core/refusal.ts";
import type { Engine } from "../engine/engine.ts";
import { limitBody } from "./body-limit.ts";
import { type Signed, credential } from "./credential.ts";
import { EndedTokens } from "./events/ended-token.ts";
import { type Doors, guard } from "./guard.ts";
import type { Log } from "./log.ts";
import { outgoingOf } from "./outgoing.ts";
import { replyBounce, replyProblemPage, wantsPage } from "./pages/problem-page.tsx";
import { pageSession } from "./pages/session.ts";
import { replyProblem } from "./problem.ts";

export interface ServerDeps {
  engine: Engine;
  doors: () => Doors;
  /** Hears of tokens that end; without it, what is open under them lasts until it is over. */
  ended?: EndedTokens;
  /** Hears of what should not have happened; nothing of it goes to the caller. */
  onBug: (error: unknown) => void;
  log?: Log;
}

/** The routes of one part of the server, below a path of its own. Only `public` ones are reached without a credential. */
export interface Part {
  path: string;
  public?: Hono;
  signed?: Hono<Signed>;
  /** For people with a browser whose address is their credential; written to by forms. */
  links?: Hono;
  /** For people with a browser: reached by the cookie of a session, and written to by forms. */
  pages?: Hono<Signed>;
}

/** Puts the parts of the server behind one guard. */
export function createApp(deps: ServerDeps, parts: readonly Part[]): Hono {
  const app = new Hono();
  const ended = deps.ended ?? new EndedTokens();
  app.onError((error, context) => {
    if (!wantsPage(context)) return replyProblem(context, error, deps.onBug);
    if (!(error instanceof Refusal)) deps.onBug(error);
    return replyProblemPage(context, error);
  });
  app.notFound(() => {
    throw new Refusal("not_found", "There is nothing at this address", { hint: "See /openapi.json" });
  });
  if (deps.log) app.use(writeDown(deps.log));
  app.use(guard(deps.doors, { isPage: pageFinder(parts), bounce: replyBounce }));
  app.use(limitBody());
  app.get("/health", (context) => context.json({ status: "ok" }));
  for (const { path, public: open, links } of parts) {
    if (open) app.route(path, open);
    if (links) app.route(path, links);
  }
  for (const { path, pages } of parts) {
    if (!pages) continue;
    for (const address of new Set(pages.routes.map((route) => route.path)))
      app.use(address, pageSession(deps.engine, ended));
    app.route(path, pages);
  }
  // What is not public needs a credential before anything is said about it, even that it does not exist.
  const signed = new Hono<Signed>();
  signed.use(credential(deps.engine, ended));
  for (const part of parts) if (part.signed) signed.route(part.path, part.signed);
  app.route("/", signed);
  return app;
}

/** Says of an address whether it is one of the pages. */
function pageFinder(parts: readonly Part[]): (path: string) => boolean {
  const routes = parts.flatMap(({ pages, links }) => [...(pages?.routes ?? []), ...(links?.routes ?? [])]);
  const shapes = [...new Set(routes.map(({ path }) => path))].map(
    (path) => new RegExp(`^${path.replace(/:\w+/g, "[^/]+")}$`),
  );
  return (path) => shapes.some((shape) => shape.test(path));
}

/** Writes down every request without what it says: its query and body may hold what is nobody's business. */
function writeDown(log: Log): MiddlewareHandler {
  return async (context, next) => {
    const startedAt = performance.now();
    const { method } = context.req;
    const path = withoutSecret(context.req.path);
    await next();
    const who: unknown = context.get("actor");
    const by = isActor(who) ? { scope: who.scope, subject: who.id } : {};
    const write = (status: number): void => {
      const ms = Math.round(performance.now() - startedAt);
      log(status === 401 || status === 403 ? "warn" : "debug", "request", { method, path, status, ms, ...by });
    };
    if (context.res === RESPONSE_ALREADY_SENT) writeLater(outgoingOf(context), write);
    else write(context.res.status);
  };
}

/** A reply that comes late is written down when it has come. Nothing of its request is kept until then. */
function writeLater(outgoing: ServerResponse | undefined, write: (status: number) => void): void {
  outgoing?.once("close", () => write(outgoing.statusCode));
}

/** The address of an answer link is a credential. */
function withoutSecret(path: string): string {
  return path.replace(/^\/a\/[^/]*/, "/a/…");
}

function isActor(value: unknown): value is Actor {
  return value !== null && typeof value === "object" && "scope" in value;
}
