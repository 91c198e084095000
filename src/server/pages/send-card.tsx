import type { QuestionSnapshot } from "../../core/changes.ts";
import { isPending } from "../../core/question/question.ts";
import { Card } from "../../web/card/card.tsx";
import { QuestionList } from "../../web/pages/inbox.tsx";
import { Layout } from "../../web/parts/layout.tsx";
import type { PageReader } from "../../web/parts/page-reader.ts";
import { BatchBar } from "../../web/parts/batch-bar.tsx";
import { ASSETS } from "./assets.ts";
import { withAwayMachine, sendPage } from "./send-page.tsx";
import type { PageCall, PagesDeps } from "./deps.ts";
import { type CardMore, readCard } from "./read/read-card.ts";
import { type InboxData, readInbox } from "./read/read-inbox.ts";
import { readReader } from "./read/read-reader.ts";

interface CardPage extends CardMore {
  reader: PageReader;
  read: QuestionSnapshot;
  inbox: InboxData;
  cursor: string;
  find?: string;
  page?: "inbox" | "question";
  status?: number;
}

/** Sends a question with the list beside it. */
export async function sendCard(context: PageCall, deps: PagesDeps, given: CardPage): Promise<Response> {
  const { reader, read, inbox, cursor, find = "", page = "inbox", status = 200, ...more } = given;
  const same = findSame(inbox, read);
  const view = await readCard(deps, reader, read, { same, ...more });
  const own = isPending(read.question) && read.question.settling ? undefined : inbox.settling;
  const frame = {
    reader,
    assets: ASSETS,
    page,
    cursor,
    title: read.question.title,
    settling: await withAwayMachine(deps, own),
    waiting: inbox.waiting.length,
  };
  return sendPage(
    context,
    <Layout frame={frame}>
      <div class="wrap">
        <QuestionList reader={reader} groups={inbox.groups} current={read.question.id} find={find} />
        <Card view={view} />
      </div>
      <BatchBar reader={reader} />
    </Layout>,
    status,
  );
}

/** The same question from other runs, as far as the list shows them. */
function findSame({ groups }: InboxData, { question }: QuestionSnapshot) {
  const rows = groups.find(({ name }) => name === "waiting")?.rows ?? [];
  const row = rows.find((each) => each.some((read) => read.question.id === question.id)) ?? [];
  return row.filter((read) => read.question.id !== question.id);
}

/** Sends the card again with the problem and the submitted form. */
export async function sendCardAgain(
  context: PageCall,
  deps: PagesDeps,
  read: QuestionSnapshot,
  more: CardMore,
  status: number,
): Promise<Response> {
  const cursor = await deps.feed.findEnd();
  const reader = await readReader(context, deps.engine);
  const inbox = await readInbox(deps.engine, reader);
  return sendCard(context, deps, { reader, read, inbox, cursor, page: "question", status, ...more });
}
