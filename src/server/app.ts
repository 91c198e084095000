import { Hono } from "hono";
import { bodyLimit } from "hono/body-limit";
import { Refusal } from "../core/refusal.ts";
import type { Engine } from "../engine/engine.ts";
import { type Signed, credential } from "./credential.ts";
import { type Doors, guard } from "./guard.ts";
import { replyProblem } from "./problem.ts";

const MOST_BODY_BYTES = 1024 * 1024;

export interface ServerDeps {
  engine: Engine;
  doors: () => Doors;
  /** Hears of what should not have happened; nothing of it goes to the caller. */
  onBug: (error: unknown) => void;
}

/** The routes of one part of the server, below a path of its own. Only `public` ones are reached without a credential. */
export interface Part {
  path: string;
  public?: Hono;
  signed?: Hono<Signed>;
}

/** Puts the parts of the server behind one guard. */
export function createApp(deps: ServerDeps, parts: readonly Part[]): Hono {
  const app = new Hono();
  app.onError((error, context) => replyProblem(context, error, deps.onBug));
  app.notFound(() => {
    throw new Refusal("not_found", "There is nothing at this address", { hint: "See /openapi.json" });
  });
  app.use(guard(deps.doors));
  app.use(bodyLimit({ maxSize: MOST_BODY_BYTES, onError: tooLarge }));
  app.get("/health", (context) => context.json({ status: "ok" }));
  for (const part of parts) if (part.public) app.route(part.path, part.public);
  // What is not public needs a credential before anything is said about it, even that it does not exist.
  const signed = new Hono<Signed>();
  signed.use(credential(deps.engine));
  for (const part of parts) if (part.signed) signed.route(part.path, part.signed);
  app.route("/", signed);
  return app;
}

function tooLarge(): never {
  throw new Refusal("too_large", `A request has at most ${MOST_BODY_BYTES} bytes`);
}
