import type { Child } from "hono/jsx";
import { sayActor } from "../../core/people/actor.ts";
import { placeOf } from "../../core/people/inbox.ts";
import { isPending } from "../../core/question/question.ts";
import { Refusal } from "../../core/refusal.ts";
import { type Frame, Layout } from "../../web/parts/layout.tsx";
import type { PageName } from "../../web/parts/navigation.ts";
import type { Reader } from "../../web/parts/reader.ts";
import { refusalWords } from "../../web/words/refusal-words.ts";
import { ASSETS } from "./assets.ts";
import { withAway } from "./away-machine.ts";
import type { Call, PagesDeps } from "./deps.ts";
import { sendPage } from "./send-page.ts";

/** How many questions are looked at to say how many wait. */
const MOST_COUNTED = 200;

interface Framed {
  reader: Reader;
  page: PageName;
  title: string;
  /** The last event that the page shows; without one it is not kept up to date. */
  cursor?: string;
  status?: number;
  /** The question that the page itself shows. */
  shows?: string | undefined;
  main: Child;
}

/** Sends a page beside the inbox, with how many questions wait and what can still be taken back. */
export async function sendFramed(context: Call, deps: PagesDeps, framed: Framed): Promise<Response> {
  const { engine } = deps;
  const { reader, page, title, cursor, shows, status = 200, main } = framed;
  const listed = await engine.listQuestions({ status: "pending", order: "oldest", limit: MOST_COUNTED });
  const pending = listed.filter(isPending);
  const waiting = pending.filter(
    (question) => question.settling === undefined && placeOf(question, reader, reader.now) === "waiting",
  ).length;
  const own = pending.findLast(({ settling }) => settling !== undefined && sayActor(settling.answer.by) === reader.id);
  const read = own && (await engine.read(own.id));
  const settling =
    read && isPending(read.question) && own.id !== shows ? { ...read, question: read.question } : undefined;
  const frame: Frame = {
    ...{ reader, page, title, waiting, settling: await withAway(deps, settling), cursor },
    ...{ assets: ASSETS, isBeside: true },
  };
  return sendPage(context, <Layout frame={frame}>{main}</Layout>, status);
}

/** What a refusal says, on one line; anything else is not for people. */
export function sayRefusal(reader: Pick<Reader, "language">, error: unknown): { problem: string; status: number } {
  if (!(error instanceof Refusal) || error.code === "not_found") throw error;
  return { problem: refusalWords(reader, error), status: error.httpStatus };
}
