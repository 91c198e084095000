import type { Hono } from "hono";
import type { Event } from "../../core/trail/event.ts";
import type { Job } from "../../core/run/job.ts";
import { ChannelsPage, type ChannelsView } from "../../web/pages/channels.tsx";
import { isNeverGiven } from "../../web/words/event-words.ts";
import { tell } from "../../web/parts/reader.ts";
import type { SignedIn } from "../credential.ts";
import type { PagesDeps } from "./deps.ts";
import { sendFramedPage } from "./send-page.tsx";
import { readReader } from "./read/read-reader.ts";

const SEARCHED = 500;
const MOST_SHOWN = 30;
const DELIVERIES: ReadonlySet<Event["type"]> = new Set(["question.notified", "question.delivery_failed"]);

/** Route of the channels page: settings, latest deliveries and jobs. */
export function addChannels(pages: Hono<SignedIn>, deps: PagesDeps): void {
  pages.get("/channels", async (context) => {
    const reader = await readReader(context, deps.engine);
    const back = await deps.feed.readBack({ limit: SEARCHED });
    const jobs = (await deps.jobs?.(SEARCHED)) ?? [];
    const view: ChannelsView = {
      reader,
      channels: deps.channels,
      searched: back.length,
      deliveries: back
        .map(({ event }) => event)
        .filter(isDelivery)
        .slice(0, MOST_SHOWN),
      jobs: jobs.filter(isSending).slice(0, MOST_SHOWN),
    };
    return sendFramedPage(context, deps, {
      reader,
      page: "settings",
      title: tell(reader, "chan.title"),
      main: <ChannelsPage view={view} />,
    });
  });
}

/** A successful callback is recorded as `question.given`. */
function isDelivery(event: Event) {
  if (event.type === "question.given") return event.detail?.["witness"] === "callback";
  return DELIVERIES.has(event.type) && !isNeverGiven(event);
}

function isSending(job: Job): job is ChannelsView["jobs"][number] {
  return job.kind === "deliver" || job.kind === "callback";
}
