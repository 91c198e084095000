import { Hono } from "hono";
import type { KeptEvent } from "../../core/trail/event.ts";
import { epochMs } from "../../core/instant.ts";
import { viewerWords } from "../../web/card/card-aside.tsx";
import { Idle, QuestionList } from "../../web/pages/inbox.tsx";
import { Layout } from "../../web/parts/layout.tsx";
import { tell } from "../../web/parts/page-reader.ts";
import { BatchBar } from "../../web/parts/batch-bar.tsx";
import { WorkSoFar } from "../../web/card/work.tsx";
import { fillTemplate } from "../../core/answer/template.ts";
import type { QuestionSnapshot } from "../../core/changes.ts";
import { makeVisible } from "../../core/text/visible.ts";
import { Refusal } from "../../core/refusal.ts";
import type { RouteGroup } from "../app.ts";
import { STRANGERS_BODY_BYTES, mediaType, readText } from "../body.ts";
import type { SignedIn } from "../credential.ts";
import { LogLimit } from "../log.ts";
import { RequestLimit } from "../rest/request-limit.ts";
import { draftFromAnswer, draftFromAddress } from "./form/answer-form.ts";
import { ASSETS } from "./assets.ts";
import { withAwayMachine, sendPage } from "./send-page.tsx";
import { readPageOffset, readReader } from "./read/read-reader.ts";
import { findQuestionId } from "./read/read-card.ts";
import { type InboxQuery, readIdle, readInbox, readWaiting } from "./read/read-inbox.ts";
import { sendCard } from "./send-card.tsx";
import { addActivity } from "./activity.tsx";
import { addChannels } from "./channels.tsx";
import { addPeople } from "./people.tsx";
import { addRunPages } from "./runs.tsx";
import { addSettings } from "./settings.tsx";
import { addTemplates } from "./templates.tsx";
import { addTokens } from "./tokens.tsx";
import { addWorkflowPages } from "./workflows.tsx";
import { addBatch } from "./batch.tsx";
import { addInsights } from "./insights.tsx";
import { addQuestionActions } from "./form/question-action.ts";
import type { PageCall, PagesDeps } from "./deps.ts";

/** Limits per minute: reports from one address, and log lines. */
const MOST_REPORTS = 60;
const MOST_REPORT_LINES = 20;
const LONGEST_REPORT = 1_000;
const REPORT_TYPES: ReadonlySet<string> = new Set(["application/csp-report", "application/json"]);
const LONGEST_FIND = 200;

/** Routes of all pages for signed-in people. */
export function pagesPart(deps: PagesDeps): RouteGroup {
  const pages = new Hono<SignedIn>();
  pages.get("/", (context) => showInbox(context, deps));
  pages.get("/q/:id", (context) => showQuestion(context, deps));
  pages.get("/q/:id/work", (context) => showWork(context, deps));
  pages.post("/q/:id/look", (context) => look(context, deps));
  pages.post("/here", (context) => reportHere(context, deps));
  pages.get("/live", (context) => deps.live.reply(context, concernsPeople, sayThatItHappened));
  addQuestionActions(pages, deps);
  addRunPages(pages, deps);
  addWorkflowPages(pages, deps);
  addActivity(pages, deps);
  addTemplates(pages, deps);
  addSettings(pages, deps);
  addPeople(pages, deps);
  addTokens(pages, deps);
  addChannels(pages, deps);
  addInsights(pages, deps);
  addBatch(pages, deps);
  return { path: "/", pages, public: reports(deps) };
}

/** Receives CSP reports of browsers. Anyone can send them, so few are logged. */
function reports({ log, nowMs }: Pick<PagesDeps, "log" | "nowMs">) {
  const app = new Hono();
  const reported = new RequestLimit({ perMinute: MOST_REPORTS, caller: "This address", nowMs });
  const lines = new LogLimit(MOST_REPORT_LINES, nowMs);
  app.post("/csp-report", async (context) => {
    if (!REPORT_TYPES.has(mediaType(context) ?? ""))
      throw new Refusal("bad_input", "Send a report as application/csp-report");
    reported.count(context.get("address"));
    const report = (await readText(context, STRANGERS_BODY_BYTES)).slice(0, LONGEST_REPORT);
    lines.count((left_out) => log("warn", "csp", { report, left_out }));
    return context.body(null, 204);
  });
  return app;
}

function concernsPeople({ event }: KeptEvent) {
  return event.type.startsWith("question.") || event.type.startsWith("run.");
}

/** Pages reload what they show, so an event needs no content. */
function sayThatItHappened({ cursor }: KeptEvent) {
  return `id: ${cursor}\ndata: 1\n\n`;
}

async function showInbox(context: PageCall, deps: PagesDeps) {
  const cursor = await deps.feed.findEnd();
  const reader = await readReader(context, deps.engine);
  const query = readInboxQuery(context);
  const { find } = query;
  const inbox = await readInbox(deps.engine, reader, query);
  const first = inbox.groups.find(({ name }) => name === "waiting" || find !== "")?.rows[0]?.[0];
  if (first) {
    const read = await deps.engine.read(first.question.id);
    return sendCard(context, deps, { reader, read, inbox, cursor, find });
  }
  const idle = await readIdle(deps.engine, reader, find);
  const frame = {
    reader,
    assets: ASSETS,
    page: "inbox" as const,
    cursor,
    settling: await withAwayMachine(deps, inbox.settling),
    title: tell(reader, "nav.inbox"),
    waiting: inbox.waiting.length,
  };
  return sendPage(
    context,
    <Layout frame={frame}>
      <div class="wrap">
        <QuestionList reader={reader} groups={inbox.groups} current={undefined} find={find} />
        <Idle view={idle} />
      </div>
      <BatchBar reader={reader} />
    </Layout>,
  );
}

/** Reads search text and page of the list from the address. */
function readInboxQuery(context: PageCall): InboxQuery & { find: string } {
  const find = (context.req.query("find") ?? "").trim().slice(0, LONGEST_FIND);
  const from = readPageOffset(context);
  return { find, from };
}

async function showQuestion(context: PageCall, deps: PagesDeps) {
  const name = context.req.param("id") ?? "";
  const id = await findQuestionId(deps.engine, name);
  if (id !== name) return context.redirect(`/q/${id}`, 303);
  const cursor = await deps.feed.findEnd();
  const reader = await readReader(context, deps.engine);
  const read = await deps.engine.read(id);
  const query = readInboxQuery(context);
  const inbox = await readInbox(deps.engine, reader, { ...query, shows: id });
  const draft = await readAddressDraft(context, deps, read);
  const { find } = query;
  return sendCard(context, deps, { reader, read, inbox, cursor, find, ...(draft && { draft }), page: "question" });
}

/** Prefills the form as the address says: with a choice or a template. Nothing is sent. */
async function readAddressDraft(context: PageCall, { engine }: PagesDeps, read: QuestionSnapshot) {
  const choice = context.req.query("choose");
  if (choice !== undefined) return draftFromAddress(read, choice);
  const name = context.req.query("template");
  const template =
    name === undefined || read.question.risk === "high"
      ? undefined
      : (await engine.listTemplates()).find((each) => each.name === name);
  return template && draftFromAnswer(read.content, fillTemplate(template, read));
}

/** The agent's changes as a page; the script puts them into the card. */
async function showWork(context: PageCall, deps: PagesDeps) {
  const reader = await readReader(context, deps.engine);
  const { run, question } = await deps.engine.read(await findQuestionId(deps.engine, context.req.param("id") ?? ""));
  const work = await deps.atHand?.work(run);
  const waiting = await readWaiting(deps.engine, reader);
  const frame = {
    reader,
    assets: ASSETS,
    page: "question" as const,
    isBeside: true,
    title: tell(reader, "work"),
    waiting: waiting.length,
  };
  return sendPage(
    context,
    <Layout frame={frame}>
      <main id="main" class="page">
        <p>
          <a href={`/q/${question.id}`}>{tell(reader, "work.back")}</a>
        </p>
        <h1>{makeVisible(question.title)}</h1>
        <WorkSoFar reader={reader} run={run} work={work} />
      </main>
    </Layout>,
  );
}

/** Records that the reader is at their inbox, so that their phone stays quiet for a moment. */
async function reportHere(context: PageCall, { engine }: PagesDeps) {
  await engine.reportPresence(context.get("actor"));
  return context.body(null, 204);
}

/** Records that the reader has the question open, and replies who else has. */
async function look(context: PageCall, deps: PagesDeps) {
  const { engine, presence } = deps;
  const read = await engine.read(await findQuestionId(engine, context.req.param("id") ?? ""));
  const reader = await readReader(context, engine);
  const nowMs = epochMs(reader.now);
  presence.note(read.question.id, reader.id, nowMs);
  return context.json({ seen: viewerWords({ reader, read, viewers: presence.viewers(read.question.id, nowMs) }) });
}
