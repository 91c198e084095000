import type { Context } from "hono";
import type { z } from "zod";
import { sayIssue } from "../../core/ask-input.ts";
import type { Route } from "../../core/api/route.ts";
import { Refusal } from "../../core/refusal.ts";

const MOST_DEPTH = 64;

/** Reads a request by the schemas of its row, or says what is wrong with it. */
export async function readRequest(
  context: Context,
  row: Route,
): Promise<{ params: unknown; query: unknown; body: unknown }> {
  const params = row.params.safeParse(context.req.param());
  if (!params.success) throw new Refusal("not_found", "There is nothing by that id", { hint: "See /openapi.json" });
  const query = parse(row.query, context.req.query(), "The query");
  const body = row.method === "GET" ? {} : parse(row.body, await readJson(context), "The request");
  return { params: params.data, query, body };
}

/** The body as JSON that is not nested too deep; no body is an empty object. */
export async function readJson(context: Context): Promise<unknown> {
  const text = await context.req.text();
  if (text.trim() === "") return {};
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new Refusal("bad_input", "The request is not valid JSON", { cause });
  }
  requireShallow(value);
  return value;
}

function parse<Value>(schema: z.ZodType<Value>, raw: unknown, what: string): Value {
  const parsed = schema.safeParse(raw);
  if (parsed.success) return parsed.data;
  throw new Refusal("bad_input", `${what} cannot be read: ${sayIssue(parsed.error)}`, { hint: "See /openapi.json" });
}

/** Goes down level by level, so that no nesting is deep enough to exhaust the stack. */
function requireShallow(value: unknown): void {
  let level = [value].filter(isObject);
  for (let depth = 1; level.length > 0; depth += 1) {
    if (depth > MOST_DEPTH) throw new Refusal("too_large", `JSON is nested deeper than ${MOST_DEPTH} levels`);
    level = level.flatMap((each): object[] => Object.values(each).filter(isObject));
  }
}

function isObject(value: unknown): value is object {
  return value !== null && typeof value === "object";
}
