import type { Context } from "hono";
import type { Actor } from "../../core/people/actor.ts";
import { ROWS_TYPE, type Route } from "../../core/api/route.ts";
import type { KnownMachines } from "../../core/run/machine.ts";
import type { Run } from "../../core/run/run.ts";
import type { Reply } from "../reply.ts";

/** A field that may not be for everybody; inside a text its quotes would be escaped. */
const MAY_HIDE = /"callback":\{|"comments":\[\{/;

/** The recipient and the format of a reply. */
export interface ReplyFormat {
  row: Route;
  bearer: Actor;
  /** A remote engine takes the rows themselves. */
  isRows: boolean;
}

export function readerOf(context: Context, row: Route, bearer: Actor): ReplyFormat {
  return { row, bearer, isRows: context.req.header("accept")?.includes(ROWS_TYPE) ?? false };
}

/** Replies with the result of a verb. */
export function replyRows(context: Context, reader: ReplyFormat, rows: unknown, machines?: KnownMachines): Response {
  const { status, headers, body } = sayRows(reader, rows, machines);
  const next = isObject(rows) && "next" in rows && typeof rows.next === "string" ? rows.next : undefined;
  if (next !== undefined) context.header("Link", nextLink(context, next));
  return context.body(body, status === 201 ? 201 : 200, headers);
}

/** The result of a verb: as rows for a remote engine, as the view of its route for everybody else. */
export function sayRows({ row, bearer, isRows }: ReplyFormat, rows: unknown, machines?: KnownMachines): Reply {
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

/** The runs in a reply. */
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

/** Hides the address and secret of callbacks from everybody, and people's comments from agents. */
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
