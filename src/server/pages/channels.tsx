import type { Hono } from "hono";
import type { QuestionId } from "../../core/id.ts";
import type { Event } from "../../core/trail/event.ts";
import type { Job } from "../../core/run/job.ts";
import { ChannelsPage, type ChannelsView } from "../../web/pages/channels.tsx";
import { isNeverGiven } from "../../web/words/event-words.ts";
import { tell } from "../../web/parts/page-reader.ts";
import type { SignedIn } from "../credential.ts";
import type { PagesDeps } from "./deps.ts";
import { sendFramedPage } from "./send-page.tsx";
import { readReader } from "./read/read-reader.ts";

/** How many events are read at once, and how often: among many others the last deliveries may be far back. */
const SEARCHED = 500;
const MOST_PAGES = 10;
const MOST_SHOWN = 30;
const DELIVERIES: ReadonlySet<Event["type"]> = new Set([
  "question.notified",
  "question.delivery_failed",
  "run.notified",
  "run.delivery_failed",
]);

/** Route of the channels page: settings, latest deliveries and jobs. */
export function addChannels(pages: Hono<SignedIn>, deps: PagesDeps): void {
  pages.get("/channels", async (context) => {
    const reader = await readReader(context, deps.engine);
    const { deliveries, searched } = await readDeliveries(deps);
    const jobs = (await deps.jobs?.(SEARCHED)) ?? [];
    const asked = (context.req.query("question") ?? "").trim();
    const view: ChannelsView = {
      reader,
      channels: deps.channels,
      states: await deps.engine.listChannels(),
      searched,
      deliveries,
      jobs: jobs.filter(isSending).slice(0, MOST_SHOWN),
      asked,
      previews: await readPreviews(deps, asked),
    };
    return sendFramedPage(context, deps, {
      reader,
      page: "settings",
      title: tell(reader, "chan.title"),
      main: <ChannelsPage view={view} />,
    });
  });
}

/** The latest deliveries, newest first, and how many events were searched for them. */
async function readDeliveries({ feed }: PagesDeps): Promise<Pick<ChannelsView, "deliveries" | "searched">> {
  const deliveries: Event[] = [];
  let searched = 0;
  let before: string | undefined;
  for (let page = 0; page < MOST_PAGES && deliveries.length < MOST_SHOWN; page += 1) {
    const back = await feed.readBack({ limit: SEARCHED, before });
    searched += back.length;
    deliveries.push(...back.map(({ event }) => event).filter(isDelivery));
    before = back.at(-1)?.cursor;
    if (back.length < SEARCHED) break;
  }
  return { deliveries: deliveries.slice(0, MOST_SHOWN), searched };
}

/** The messages of the question that somebody typed; undefined if there is no such question. */
async function readPreviews({ engine }: PagesDeps, asked: string): Promise<ChannelsView["previews"]> {
  const id = await findQuestionId(engine, asked);
  return id && engine.previewMessages(id);
}

/** The question of that id, or the last one of the run with that number. */
async function findQuestionId(engine: PagesDeps["engine"], asked: string): Promise<QuestionId | undefined> {
  const number = /^#?(\d{1,9})$/.exec(asked)?.[1];
  if (number !== undefined) {
    const { runs } = await engine.lookUp({ by: "number", number: Number(number) }, 1);
    return runs[0]?.pendingId ?? runs[0]?.lastQuestionId;
  }
  const short = /^q-([0-9a-z]{4,16})$/.exec(asked)?.[1];
  if (short === undefined) return undefined;
  return (await engine.lookUp({ by: "short", text: short }, 1)).questions[0]?.id;
}

/** A successful callback is recorded as `question.given`. */
function isDelivery(event: Event) {
  if (event.type === "question.given") return event.detail?.["witness"] === "callback";
  return DELIVERIES.has(event.type) && !isNeverGiven(event);
}

function isSending(job: Job): job is ChannelsView["jobs"][number] {
  return job.kind === "deliver" || job.kind === "callback";
}
