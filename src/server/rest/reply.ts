import type { Context } from "hono";
import type { Actor } from "../../core/actor.ts";
import { ROWS_TYPE, type Route } from "../../core/api/route.ts";

interface Given {
  row: Route;
  rows: unknown;
  bearer: Actor;
}

/** Replies what a verb gave: as rows to an engine of ours, as the view of its row to everybody else. */
export function replyRows(context: Context, { row, rows, bearer }: Given): Response {
  const version = findVersion(rows);
  if (version !== undefined) context.header("ETag", `"${version}"`);
  const isNew = isObject(rows) && "isNew" in rows && rows.isNew === true && row.path === "/questions";
  const next = isObject(rows) && "next" in rows && typeof rows.next === "string" ? rows.next : undefined;
  if (next !== undefined) context.header("Link", nextLink(context, next));
  const isRows = context.req.header("accept")?.includes(ROWS_TYPE) ?? false;
  context.header("Content-Type", isRows ? ROWS_TYPE : "application/json");
  context.header("Vary", "Accept");
  const shown = isRows ? rows : row.reply.view(rows);
  return context.body(JSON.stringify(shown, hidingFrom(bearer)), isNew ? 201 : 200);
}

/** Nobody is told where a callback goes and how it is signed; agents do not read what people remark to each other. */
function hidingFrom(bearer: Actor): (name: string, value: unknown) => unknown {
  return (name, value) => {
    if (name === "callback" && isObject(value) && "secret" in value) return undefined;
    if (name === "comments" && bearer.scope === "agent" && Array.isArray(value)) return [];
    return value;
  };
}

function findVersion(rows: unknown): number | undefined {
  if (!isObject(rows) || !("question" in rows) || !isObject(rows.question)) return undefined;
  const { question } = rows;
  return "version" in question && typeof question.version === "number" ? question.version : undefined;
}

function nextLink(context: Context, next: string): string {
  const url = new URL(context.req.url);
  url.searchParams.set("after", next);
  return `<${url.pathname}${url.search}>; rel="next"`;
}

function isObject(value: unknown): value is object {
  return value !== null && typeof value === "object";
}
