import type { Child } from "hono/jsx";
import { actorName } from "../../core/people/actor.ts";
import { inboxSectionOf } from "../../core/people/inbox.ts";
import { isPending } from "../../core/question/question.ts";
import { Refusal } from "../../core/refusal.ts";
import { type PageFrame, Layout } from "../../web/parts/layout.tsx";
import type { PageName } from "../../web/parts/navigation.ts";
import type { PageReader } from "../../web/parts/page-reader.ts";
import { refusalWords } from "../../web/words/refusal-words.ts";
import { ASSETS } from "./assets.ts";
import type { PageCall, PagesDeps } from "./deps.ts";
import { runAfterAnswer, findAwayMachine } from "../../core/run/machine.ts";
import { readMachines } from "../../engine/machines.ts";
import type { Context } from "hono";

/** The count of waiting questions stops here. */
const MOST_COUNTED = 200;

interface FramedPage {
  reader: PageReader;
  page: PageName;
  title: string;
  /** The last event that the page shows; undefined for a page without live updates. */
  cursor?: string;
  status?: number;
  /** The question that the page itself shows. */
  shows?: string | undefined;
  main: Child;
}
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "manifest-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types askd",
  "report-uri /csp-report",
].join("; ");

/** Policy of pages without a script. */
const PLAIN_POLICY =
  "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'";

/** Sends a page other than the inbox, with the number of waiting questions and the answer that can be undone. */
export async function sendFramedPage(context: PageCall, deps: PagesDeps, framed: FramedPage): Promise<Response> {
  const { engine } = deps;
  const { reader, page, title, cursor, shows, status = 200, main } = framed;
  const listed = await engine.listQuestions({ status: "pending", order: "oldest", limit: MOST_COUNTED });
  const pending = listed.filter(isPending);
  const waiting = pending.filter(
    (question) => question.settling === undefined && inboxSectionOf(question, reader, reader.now) === "waiting",
  ).length;
  const own = pending.findLast(({ settling }) => settling !== undefined && actorName(settling.answer.by) === reader.id);
  const read = own && (await engine.read(own.id));
  const settling =
    read && isPending(read.question) && own.id !== shows ? { ...read, question: read.question } : undefined;
  const frame: PageFrame = {
    reader,
    page,
    title,
    waiting,
    settling: await withAwayMachine(deps, settling),
    cursor,
    assets: ASSETS,
    isBeside: true,
  };
  return sendPage(context, <Layout frame={frame}>{main}</Layout>, status);
}

/** The text and status of a refusal; any other error is thrown again. */
export function sayRefusal(reader: Pick<PageReader, "language">, error: unknown): { problem: string; status: number } {
  if (!(error instanceof Refusal) || error.code === "not_found") throw error;
  return { problem: refusalWords(reader, error), status: error.httpStatus };
}

/** Adds the machine that the run will wait for to an answer that can be undone, if that machine is away. */
export async function withAwayMachine(
  { engine, here }: Pick<PagesDeps, "engine" | "here">,
  settling: PageFrame["settling"],
): Promise<PageFrame["settling"]> {
  // The run in `settling` may be outdated except for its names.
  const now = settling && (await engine.findRun(settling.run.id));
  if (!now || settling.question.settling?.isHeldBack) return settling;
  const run = runAfterAnswer(now);
  return { ...settling, away: findAwayMachine(run, await readMachines(engine, [run], here?.())) };
}

/** Sends a page that may run only our own script. */
export function sendPage(context: Context, page: unknown, status = 200): Response | Promise<Response> {
  return send(context, page, { policy: POLICY, status });
}

/** Sends a page without a script. */
export function sendPlainPage(context: Context, page: unknown, status = 200): Response | Promise<Response> {
  return send(context, page, { policy: PLAIN_POLICY, status });
}

function send(context: Context, page: unknown, { policy, status }: { policy: string; status: number }) {
  context.header("Content-Security-Policy", policy);
  // With `no-referrer` browsers also hide the origin of our own forms, which we check.
  context.header("Referrer-Policy", "same-origin");
  context.status(status as 200); // the type lists every status
  return context.html(String(page));
}
