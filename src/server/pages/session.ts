import { hash, timingSafeEqual } from "node:crypto";
import type { Context, MiddlewareHandler } from "hono";
import { getCookie } from "hono/cookie";
import { agentActor } from "../../core/people/actor.ts";
import { Refusal } from "../../core/refusal.ts";
import type { Engine } from "../../engine/engine.ts";
import { readFields } from "../body.ts";
import type { CallerRuns } from "../caller-run.ts";
import type { EndedTokens } from "../events/ended-token.ts";
import { COOKIE, SECURE_COOKIE, type SignedIn } from "../credential.ts";

/** The sign-in address that leads back to a path. */
export function loginAddress(path: string): string {
  return path === "/" ? "/login" : `/login?next=${encodeURIComponent(path)}`;
}

/** Requires a session cookie; forms must also come from one of our pages. */
export function pageSession(
  engine: Engine,
  { callers, ended }: { callers: CallerRuns; ended: EndedTokens },
): MiddlewareHandler<SignedIn> {
  return async (context, next) => {
    const cookie = sessionOf(context);
    const authenticate = () => (cookie === undefined ? undefined : engine.authenticate(cookie, "web"));
    const found = await authenticate();
    if (!found || found.actor.scope === "agent") throw new Refusal("sign_in", "Sign in to see this page");
    const agentRun = await callers.find(context);
    context.set("actor", agentActor(found.actor, agentRun));
    context.set("agentRun", agentRun);
    context.set("token", found.token);
    context.set("tokenId", found.token.id);
    if (context.req.method !== "GET" && context.req.method !== "HEAD") await requireOwnForm(context);
    const isStillGood = async () => (await authenticate()) !== undefined;
    context.set("isStillGood", isStillGood);
    context.set("whenEnded", (end) => ended.watchClosely(found.token.id, isStillGood, end));
    await next();
  };
}

/** The CSRF token of a session, derived from its cookie, which no other page can read. */
export function csrfOf(context: Context): string {
  return hash("sha256", `askd form\n${sessionOf(context) ?? ""}`, "hex").slice(0, 40);
}

function sessionOf(context: Context) {
  return getCookie(context, SECURE_COOKIE) ?? getCookie(context, COOKIE);
}

async function requireOwnForm(context: Context) {
  // The guard has already rejected foreign origins; a request that names no origin is not from a browser's form.
  const isNamed = context.req.header("origin") !== undefined || context.req.header("sec-fetch-site") === "same-origin";
  const [csrf, more] = isNamed ? ((await readFields(context)).get("csrf") ?? []) : [];
  if (csrf !== undefined && more === undefined && isSame(csrf, csrfOf(context))) return;
  throw new Refusal("not_permitted", "This form is not from a page of this session; load the page again", {
    fact: { is: "foreign_form" },
  });
}

function isSame(one: string, other: string) {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
}
