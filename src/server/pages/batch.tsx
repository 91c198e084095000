import type { Hono } from "hono";
import { mayAnswer } from "../../core/people/inbox.ts";
import { groupSameQuestions, sameQuestionKey } from "../../core/question/same-question.ts";
import { BatchDone, BatchDonePart, BatchForm, BatchPlan, sayDone } from "../../web/pages/batch.tsx";
import { type FormDraft, EMPTY_DRAFT } from "../../web/parts/form-draft.ts";
import type { BatchOutcome } from "../../web/parts/batch-outcome.tsx";
import { type PageReader, tell } from "../../web/parts/page-reader.ts";
import { BatchBarContent } from "../../web/parts/batch-bar.tsx";
import type { SignedIn } from "../credential.ts";
import type { PageCall, PagesDeps } from "./deps.ts";
import { requestKey, readDraft } from "./form/read-draft.ts";
import { sendFramedPage, sendPage } from "./send-page.tsx";
import { isFromScript } from "./redirect.ts";
import { readWaiting } from "./read/read-inbox.ts";
import { readReader } from "./read/read-reader.ts";
import {
  BATCH_LIMIT,
  answerBatch,
  forEachQuestion,
  hasBatchAnswer,
  questionIdsIn,
  batchOffer,
  previewBatch,
} from "./form/batch-answer.ts";

/** Routes of batch answers: select, preview, confirm. The batch bar of the inbox uses the same routes. */
export function addBatch(pages: Hono<SignedIn>, deps: PagesDeps): void {
  pages.get("/batch", (context) => show(context, deps, EMPTY_DRAFT));
  pages.post("/batch/edit", async (context) => show(context, deps, await readDraft(context)));
  pages.post("/batch/check", (context) => check(context, deps));
  pages.post("/batch", (context) => send(context, deps));
  pages.post("/batch/undo", (context) => undo(context, deps));
}

interface BatchResult {
  problem?: string;
  done?: string;
  refused?: readonly BatchOutcome[];
}

async function show(context: PageCall, deps: PagesDeps, draft: FormDraft, more: BatchResult = {}) {
  const reader = await readReader(context, deps.engine);
  const templates = await deps.engine.listTemplates();
  const ids = questionIdsIn(draft);
  const ticked = await deps.engine.readMany(ids);
  const offer = batchOffer(ticked, templates, deps.rules.limits);
  if (isFromScript(context)) {
    const rows = groupSameQuestions(ticked).length;
    return sendPage(context, <BatchBarContent view={{ reader, offer, draft, rows, ids, ...more }} />);
  }
  const groups = groupSameQuestions(await readOpen(deps, reader)).filter(
    ([first]) => sameQuestionKey(first) !== undefined,
  );
  return sendFramedPage(context, deps, {
    reader,
    page: "inbox",
    title: tell(reader, "batch.title"),
    status: more.problem === undefined ? 200 : 422,
    main: <BatchForm view={{ reader, groups, offer, draft, ...more }} />,
  });
}

async function readOpen({ engine }: PagesDeps, reader: PageReader) {
  const waiting = (await readWaiting(engine, reader)).filter((question) => mayAnswer(question, reader));
  return engine.readMany(waiting.slice(0, BATCH_LIMIT).map(({ id }) => id));
}

async function check(context: PageCall, deps: PagesDeps) {
  const draft = await readDraft(context);
  const ids = questionIdsIn(draft);
  const reader = await readReader(context, deps.engine);
  if (ids.length === 0 || !hasBatchAnswer(draft)) {
    return show(context, deps, draft, { problem: tell(reader, "batch.missing") });
  }
  const plan = await previewBatch(context, deps, ids, draft);
  const main = <BatchPlan view={{ reader, plan, draft }} />;
  return sendFramedPage(context, deps, { reader, page: "inbox", title: tell(reader, "batch.confirm"), main });
}

async function send(context: PageCall, deps: PagesDeps) {
  const draft = await readDraft(context);
  const reader = await readReader(context, deps.engine);
  return sendBatchOutcomes(context, deps, {
    reader,
    draft,
    plan: await answerBatch(context, deps, questionIdsIn(draft), draft),
  });
}

/** Sends the outcomes: as the batch bar for the script, else as a page. */
export async function sendBatchOutcomes(
  context: PageCall,
  deps: PagesDeps,
  view: { reader: PageReader; draft: FormDraft; plan: readonly BatchOutcome[] },
): Promise<Response> {
  if (isFromScript(context)) return sendPage(context, <BatchDonePart view={view} />);
  const { reader, plan } = view;
  const main = <BatchDone view={view} />;
  return sendFramedPage(context, deps, { reader, page: "inbox", title: sayDone(reader, plan), main });
}

/** Undoes all answers that can be undone, and shows the form again. */
async function undo(context: PageCall, deps: PagesDeps) {
  const draft = await readDraft(context);
  const reader = await readReader(context, deps.engine);
  const plan = await forEachQuestion(context, deps.engine, questionIdsIn(draft), async ({ question }) => {
    await deps.engine.undo(question.id, context.get("actor"), requestKey(draft));
    return {};
  });
  const refused = plan.filter(({ problem }) => problem !== undefined);
  const back = plan.filter(({ problem }) => problem === undefined).map(({ read }) => read.question.id);
  const done = tell(reader, "batch.undone", { n: back.length });
  return show(context, deps, new Map([...draft, ["q", back]]), { done, refused });
}
