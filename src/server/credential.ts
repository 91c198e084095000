import { getCookie } from "hono/cookie";
import type { Context, MiddlewareHandler } from "hono";
import type { Actor } from "../core/people/actor.ts";
import type { RunId } from "../core/id.ts";
import { Refusal } from "../core/refusal.ts";
import type { Token } from "../core/people/token.ts";
import type { Engine } from "../engine/engine.ts";
import type { CallerRuns } from "./caller-run.ts";
import type { EndedTokens } from "./events/ended-token.ts";

/** Variables in the context of an authenticated request. */
export interface SignedIn {
  Variables: {
    actor: Actor;
    token: Token;
    /** The live run whose agent sends this with a person's credential. */
    agentRun: RunId | undefined;
    /** Authenticates again, for long requests. */
    isStillGood: () => Promise<boolean>;
    /** Calls back once the token is revoked or expires, unless the returned function is called before. */
    whenEnded: (end: () => void) => () => void;
  };
}

export const COOKIE = "askd_session";
/** Browsers take a cookie of this name only over TLS, from the very host, for all of it. */
export const SECURE_COOKIE = `__Host-${COOKIE}`;

/**
 * Requires a credential: a bearer token, or the cookie of a person who signed in. Only callers without one
 * are counted by their address: others at that address, on one machine for example, are not kept out by them.
 */
export function credential(
  engine: Engine,
  {
    callers,
    ended,
    countUnknown,
  }: { callers: CallerRuns; ended: EndedTokens; countUnknown: (address: string) => void },
): MiddlewareHandler<SignedIn> {
  return async (context, next) => {
    const isStillGood = async () => (await authenticate(context, engine)) !== undefined;
    const found = await authenticate(context, engine);
    if (!found) {
      countUnknown(context.get("address"));
      context.header("WWW-Authenticate", "Bearer");
      throw context.req.header("authorization") === undefined
        ? new Refusal("sign_in", "A token is needed", {
            hint: "Send Authorization: Bearer …, or sign in with: askd login",
          })
        : new Refusal("sign_in", "This token is not known here: it is mistyped, revoked or expired", {
            hint: "Have a new one made where the server runs: askd token create",
          });
    }
    context.set("actor", found.actor);
    context.set("token", found.token);
    context.set("tokenId", found.token.id);
    context.set("agentRun", found.actor.scope === "agent" ? undefined : await callers.find(context));
    context.set("isStillGood", isStillGood);
    context.set("whenEnded", (end) => ended.watchClosely(found.token.id, isStillGood, end));
    await next();
  };
}

async function authenticate(context: Context, engine: Engine) {
  const bearer = /^Bearer ([\w-]{20,200})$/.exec(context.req.header("authorization") ?? "")?.[1];
  if (bearer !== undefined) return engine.authenticate(bearer, "api");
  const cookie = getCookie(context, SECURE_COOKIE) ?? getCookie(context, COOKIE);
  if (cookie === undefined) return undefined;
  const found = await engine.authenticate(cookie, "web");
  // A cookie comes along by itself, so a write must also prove that our own page sent it.
  const isSafe = context.req.method === "GET" || context.req.method === "HEAD" || context.req.header("x-askd") === "1";
  return found && isSafe ? found : undefined;
}
