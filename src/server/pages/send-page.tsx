import type { Child } from "hono/jsx";
import { actorName } from "../../core/people/actor.ts";
import { inboxSectionOf } from "../../core/people/inbox.ts";
import { isPending } from "../../core/question/question.ts";
import { Refusal } from "../../core/refusal.ts";
import { type PageFrame, Layout } from "../../web/parts/layout.tsx";
import type { PageName } from "../../web/parts/navigation.ts";
import type { PageReader } from "../../web/parts/reader.ts";
import { refusalWords } from "../../web/words/refusal-words.ts";
import { ASSETS } from "./assets.ts";
import { withAwayMachine } from "./away-machine.ts";
import type { PageCall, PagesDeps } from "./deps.ts";
import { sendPage } from "./send-page.ts";

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
