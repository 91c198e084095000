import { z } from "zod";
import { ACCESS, type AccessVerb, type Role } from "../people/access.ts";
import { QuestionId, RunId } from "../id.ts";
import { type Instant, instant } from "../instant.ts";
import type { KnownMachines } from "../run/machine.ts";
import type { Argument } from "./argument.ts";

/** The owner of a token: an agent, a person, or an admin of the server. */
export type CallerScope = "agent" | "human" | "admin";

/** The reply of a route: rows for a remote engine, a view for everybody else. */
export interface Reply<Rows = unknown> {
  /** Parses the rows of an engine on the other side. */
  rows: z.ZodType<Rows>;
  /** The schema of the view. */
  schema: z.ZodType;
  view(rows: Rows, machines?: KnownMachines): unknown;
}

type Arguments = readonly Argument[] | undefined;

/** One thing that can be done over HTTP. Its name in the table is the verb of the engine and the operation's id. */
export interface Route<
  Params = unknown,
  Query = unknown,
  Body = unknown,
  Rows = unknown,
  Takes extends Arguments = Arguments,
> {
  method: "GET" | "POST" | "PUT" | "DELETE";
  /** Below `/api/v1`. */
  path: string;
  /** The row of the table of access that says who may call it; or any credential is enough, or none is needed. */
  may: AccessVerb | "any_token" | "no_token";
  summary: string;
  params: z.ZodType<Params>;
  query: z.ZodType<Query>;
  body: z.ZodType<Body>;
  reply: Reply<Rows>;
  /**
   * How the arguments of the engine's verb stand in the request. The remote engine and the handler of the server are
   * derived from it; verbs without it are written out on both sides.
   */
  takes?: Takes;
  /** Doing it twice is the same as doing it once, so that a lost reply is no reason not to send it again. */
  mayRepeat?: boolean | undefined;
  /** How long a caller waits for the reply, if it may take longer than usual. */
  longestReplyMs?: number;
}

export const API_PATH = "/api/v1";
/** Asks the server for rows instead of views. */
export const ROWS_TYPE = "application/vnd.askd.rows+json";
/** Names an actor with fewer rights than the token: a program in the name of an agent. */
export const BY_HEADER = "askd-by";

const CALLERS: ReadonlyMap<CallerScope, Role> = new Map([
  ["agent", "own_agent"],
  ["human", "person"],
  ["admin", "admin"],
]);

/** The scopes whose tokens may call a route, as far as that does not depend on the question or run it is about. */
export function scopesOf({ may }: Pick<Route, "may">): CallerScope[] {
  if (may === "no_token") return [];
  const roles: readonly Role[] | undefined = may === "any_token" ? undefined : ACCESS[may].may;
  return [...CALLERS].flatMap(([caller, role]) => (!roles || roles.includes(role) ? [caller] : []));
}

export const Nothing = z.object({});
export const OfQuestion = z.object({ id: QuestionId });
export const OfRun = z.object({ id: RunId });

/** A moment in any ISO form. */
export const Moment = z.iso.datetime({ offset: true }).transform((text): Instant => instant(Date.parse(text)));
/** `90s`, `3m`, `24h`, `2d`, or a number of seconds. */
export const Duration = z.union([z.string().max(40), z.number().nonnegative()]);

export const MOST_LISTED = 200;
const LISTED = 50;
export const Limit = z.coerce.number().int().min(1).max(MOST_LISTED).default(LISTED);
export const Order = z.enum(["oldest", "newest"]);

/** Builds a row of the table; a schema that is left out takes an empty object. */
export function route<Rows, Params = object, Query = object, Body = object, const Takes extends Arguments = undefined>(
  method: Route["method"],
  path: string,
  row: Omit<Route<Params, Query, Body, Rows, Takes>, "method" | "path" | "params" | "query" | "body"> &
    Partial<Pick<Route<Params, Query, Body, Rows>, "params" | "query" | "body">>,
): Route<Params, Query, Body, Rows, Takes> {
  // The default type parameters say the same.
  const empty = Nothing as unknown as z.ZodType<never>;
  return { method, path, params: empty, query: empty, body: empty, ...row };
}
