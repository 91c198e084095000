import type { Context } from "hono";
import type { z } from "zod";
import { describeIssue } from "../../core/question/ask-input.ts";
import type { Route } from "../../core/api/route.ts";
import { Refusal } from "../../core/refusal.ts";
import { readJson } from "../body.ts";

/** Reads a request by the schemas of its row, or says what is wrong with it. */
export async function readRequest(
  context: Context,
  row: Route,
  mostBytes?: number,
): Promise<{ params: unknown; query: unknown; body: unknown }> {
  const params = row.params.safeParse(context.req.param());
  if (!params.success) throw new Refusal("not_found", "There is nothing by that id", { hint: "See /openapi.json" });
  const query = parse(row.query, context.req.query(), "The query");
  const body = row.method === "GET" ? {} : parse(row.body, await readJson(context, mostBytes), "The request");
  return { params: params.data, query, body };
}

function parse<Value>(schema: z.ZodType<Value>, raw: unknown, what: string): Value {
  const parsed = schema.safeParse(raw);
  if (parsed.success) return parsed.data;
  throw new Refusal("bad_input", `${what} cannot be read: ${describeIssue(parsed.error)}`, {
    hint: "See /openapi.json",
  });
}
