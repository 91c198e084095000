import type { Hono } from "hono";
import type { Read } from "../../core/changes.ts";
import { mayAnswer } from "../../core/people/inbox.ts";
import { groupSame, sameName } from "../../core/question/same-question.ts";
import { BatchDone, BatchDonePart, BatchForm, BatchPlan, sayDone } from "../../web/pages/batch.tsx";
import { type Draft, NO_DRAFT } from "../../web/parts/form-draft.ts";
import type { Planned } from "../../web/parts/batch-outcome.tsx";
import { type Reader, tell } from "../../web/parts/reader.ts";
import { Together } from "../../web/parts/batch-bar.tsx";
import type { Signed } from "../credential.ts";
import type { Call, PagesDeps } from "./deps.ts";
import { onceIn, readDraft } from "./form/read-draft.ts";
import { sendFramed } from "./send-framed-page.tsx";
import { isFromScript } from "./redirect.ts";
import { sendPage } from "./send-page.ts";
import { readWaiting } from "./read/read-inbox.ts";
import { readReader } from "./read/read-reader.ts";
import { MOST_TOGETHER, answerAll, eachOf, hasAnswer, idsIn, offerFor, tryAll } from "./form/batch-answer.ts";

/** Answering several questions at once: tick, see what would happen, confirm. The bar of the inbox does the same. */
export function addBatch(pages: Hono<Signed>, deps: PagesDeps): void {
  pages.get("/batch", (context) => show(context, deps, NO_DRAFT));
  pages.post("/batch/edit", async (context) => show(context, deps, await readDraft(context)));
  pages.post("/batch/check", (context) => check(context, deps));
  pages.post("/batch", (context) => send(context, deps));
  pages.post("/batch/undo", (context) => undo(context, deps));
}

interface More {
  problem?: string;
  done?: string;
  refused?: readonly Planned[];
}

async function show(context: Call, deps: PagesDeps, draft: Draft, more: More = {}): Promise<Response> {
  const reader = await readReader(context, deps.engine);
  const templates = await deps.engine.listTemplates();
  const ids = idsIn(draft);
  const ticked = await deps.engine.readMany(ids);
  const offer = offerFor(ticked, templates, deps.rules.limits);
  if (isFromScript(context)) {
    const rows = groupSame(ticked).length;
    return sendPage(context, <Together view={{ reader, offer, draft, rows, ids, ...more }} />);
  }
  const groups = groupSame(await readOpen(deps, reader)).filter(([first]) => sameName(first) !== undefined);
  return sendFramed(context, deps, {
    ...{ reader, page: "inbox", title: tell(reader, "batch.title"), status: more.problem === undefined ? 200 : 422 },
    main: <BatchForm view={{ reader, groups, offer, draft, ...more }} />,
  });
}

async function readOpen({ engine }: PagesDeps, reader: Reader): Promise<Read[]> {
  const waiting = (await readWaiting(engine, reader)).filter((question) => mayAnswer(question, reader));
  return engine.readMany(waiting.slice(0, MOST_TOGETHER).map(({ id }) => id));
}

async function check(context: Call, deps: PagesDeps): Promise<Response> {
  const draft = await readDraft(context);
  const ids = idsIn(draft);
  const reader = await readReader(context, deps.engine);
  if (ids.length === 0 || !hasAnswer(draft)) {
    return show(context, deps, draft, { problem: tell(reader, "batch.missing") });
  }
  const plan = await tryAll(context, deps, ids, draft);
  const main = <BatchPlan view={{ reader, plan, draft }} />;
  return sendFramed(context, deps, { reader, page: "inbox", title: tell(reader, "batch.confirm"), main });
}

async function send(context: Call, deps: PagesDeps): Promise<Response> {
  const draft = await readDraft(context);
  const reader = await readReader(context, deps.engine);
  return sendDone(context, deps, { reader, draft, plan: await answerAll(context, deps, idsIn(draft), draft) });
}

/** Says what became of each: in the bar for the script, else on a page of its own. */
export async function sendDone(
  context: Call,
  deps: PagesDeps,
  view: { reader: Reader; draft: Draft; plan: readonly Planned[] },
): Promise<Response> {
  if (isFromScript(context)) return sendPage(context, <BatchDonePart view={view} />);
  const { reader, plan } = view;
  const main = <BatchDone view={view} />;
  return sendFramed(context, deps, { reader, page: "inbox", title: sayDone(reader, plan), main });
}

/** Takes all of it back that can be, and shows the form as it was. */
async function undo(context: Call, deps: PagesDeps): Promise<Response> {
  const draft = await readDraft(context);
  const reader = await readReader(context, deps.engine);
  const plan = await eachOf(context, deps.engine, idsIn(draft), async ({ question }) => {
    await deps.engine.undo(question.id, context.get("actor"), onceIn(draft));
    return {};
  });
  const refused = plan.filter(({ problem }) => problem !== undefined);
  const back = plan.filter(({ problem }) => problem === undefined).map(({ read }) => read.question.id);
  const done = tell(reader, "batch.undone", { n: back.length });
  return show(context, deps, new Map([...draft, ["q", back]]), { done, refused });
}
