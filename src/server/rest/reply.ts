import type { Context } from "hono";
import type { Actor } from "../../core/people/actor.ts";
import { ROWS_TYPE, type Route } from "../../core/api/route.ts";
import type { Machines } from "../../core/run/machine.ts";
import type { Run } from "../../core/run/run.ts";
import type { Reply } from "../reply.ts";

/** A field that may not be for everybody; inside a text its quotes would be escaped. */
const MAY_HIDE = /"callback":\{|"comments":\[\{/;

/** To whom something is replied, and in which form. */
export interface Reader {
  row: Route;
  bearer: Actor;
  /** An engine of ours takes the rows themselves. */
  isRows: boolean;
}

export function readerOf(context: Context, row: Route, bearer: Actor): Reader {
  return { row, bearer, isRows: context.req.header("accept")?.includes(ROWS_TYPE) ?? false };
}

/** Replies what a verb gave. */
export function replyRows(context: Context, reader: Reader, rows: unknown, machines?: Machines): Response {
  const { status, headers, body } = sayRows(reader, rows, machines);
  const next = isObject(rows) && "next" in rows && typeof rows.next === "string" ? rows.next : undefined;
  if (next !== undefined) context.header("Link", nextLink(context, next));
  return context.body(body, status === 201 ? 201 : 200, headers);
}

/** What a verb gave: as rows to an engine of ours, as the view of its row to everybody else. */
export function sayRows({ row, bearer, isRows }: Reader, rows: unknown, machines?: Machines): Reply {
  const version = findVersion(rows);
  const isNew = isObject(rows) && "isNew" in rows && rows.isNew === true && row.path === "/questions";
  const shown = isRows ? rows : row.reply.view(rows, machines);
  return {
    status: isNew ? 201 : 200,
    headers: {
      ...(version !== undefined && { ETag: `"${version}"` }),
      "Content-Type": isRows ? ROWS_TYPE : "application/json",
      Vary: "Accept",
    },
    body: write(shown, bearer),
  };
}

/** The runs that a reply tells of. */
export function runsIn(rows: unknown): Run[] {
  if (Array.isArray(rows)) return rows.flatMap(runsIn);
  if (!isObject(rows)) return [];
  if (isRun(rows)) return [rows];
  return ["run", "runs", "rows"].flatMap((name) => runsIn(Object.entries(rows).find(([key]) => key === name)?.[1]));
}

function isRun(value: object): value is Run {
  return "giveBack" in value && "owes" in value;
}

/** Looking at every field takes several times as long as writing them all, so it is done only where one may be hidden. */
function write(shown: unknown, bearer: Actor): string {
  const text = JSON.stringify(shown);
  return MAY_HIDE.test(text) ? JSON.stringify(shown, hidingFrom(bearer)) : text;
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
