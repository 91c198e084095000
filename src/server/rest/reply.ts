import type { Context } from "hono";
import type { Actor } from "../../core/people/actor.ts";
import { ROWS_TYPE, type Route } from "../../core/api/route.ts";
import type { KnownMachines } from "../../core/run/machine.ts";
import type { Run } from "../../core/run/run.ts";
import { type Reply, sayProblem } from "../problem.tsx";
import type { ServerResponse } from "node:http";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import { Refusal } from "../../core/refusal.ts";
import type { SignedIn } from "../credential.ts";
import { SAFE_HEADERS } from "../guard.ts";
import type { Slots } from "../slots.ts";

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
function write(shown: unknown, bearer: Actor) {
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

function findVersion(rows: unknown) {
  if (!isObject(rows) || !("question" in rows) || !isObject(rows.question)) return undefined;
  const { question } = rows;
  return "version" in question && typeof question.version === "number" ? question.version : undefined;
}

function nextLink(context: Context, next: string) {
  const url = new URL(context.req.url);
  url.searchParams.set("after", next);
  return `<${url.pathname}${url.search}>; rel="next"`;
}

function isObject(value: unknown): value is object {
  return value !== null && typeof value === "object";
}

/**
 * Replies that come late. The way by which their request came in ends at once, so that of each only its connection
 * is kept, and not what stood before the route.
 */
export class HeldRequests {
  readonly #waiting = new Set<AbortController>();
  readonly #stopping: AbortSignal;
  readonly #slots: Slots;
  readonly #onBug: (error: unknown) => void;

  constructor(stopping: AbortSignal, slots: Slots, onBug: (error: unknown) => void) {
    this.#stopping = stopping;
    this.#slots = slots;
    this.#onBug = onBug;
    // One listener for all: a signal looks through every listener it has when one more comes or goes.
    stopping.addEventListener("abort", () => {
      for (const controller of this.#waiting) controller.abort();
    });
  }

  /** Replies what `wait` brings to the bearer of a token; its signal aborts when the caller is gone, the token ends or the server is about to stop. */
  reply(
    outgoing: ServerResponse,
    { tokenId, whenEnded }: { tokenId: string; whenEnded: SignedIn["Variables"]["whenEnded"] },
    wait: (signal: AbortSignal) => Promise<Reply>,
  ): Response {
    const free = this.#slots.take(tokenId);
    const controller = new AbortController();
    if (this.#stopping.aborted) controller.abort();
    this.#waiting.add(controller);
    const leave = whenEnded(() => {
      controller.abort(new Refusal("sign_in", "This token was revoked or has expired meanwhile"));
    });
    outgoing.once("close", () => {
      free();
      leave();
      this.#waiting.delete(controller);
      if (!outgoing.writableFinished) controller.abort();
    });
    wait(controller.signal)
      .catch((error: unknown) => sayProblem(error, this.#onBug))
      .then((reply) => send(outgoing, reply))
      .catch(this.#onBug);
    return RESPONSE_ALREADY_SENT;
  }
}

function send(outgoing: ServerResponse, { status, headers, body }: Reply) {
  if (outgoing.destroyed) return;
  outgoing.writeHead(status, { ...SAFE_HEADERS, ...headers, "Content-Length": Buffer.byteLength(body) });
  outgoing.end(body);
}
