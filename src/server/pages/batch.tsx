import type { Hono } from "hono";
import { AnswerInput } from "../../core/answer-input.ts";
import type { Read } from "../../core/changes.ts";
import { mayAnswer } from "../../core/inbox.ts";
import { QuestionId } from "../../core/id.ts";
import { type Pending, isPending } from "../../core/question.ts";
import { Refusal } from "../../core/refusal.ts";
import { sameName } from "../../core/same-question.ts";
import { type Template, fillTemplate, noTemplate } from "../../core/template.ts";
import { BatchForm, BatchPlan, type Planned, type Same } from "../../web/batch.tsx";
import { type Draft, NO_DRAFT, draftedText } from "../../web/draft.ts";
import { tell } from "../../web/reader.ts";
import type { Signed } from "../credential.ts";
import type { Call, PagesDeps } from "./deps.ts";
import { readDraft } from "./draft.ts";
import { sayRefusal, sendFramed } from "./frame.tsx";
import { readWaiting } from "./read-inbox.ts";
import { languageOf, readReader } from "./reader.ts";

const MOST_TOGETHER = 200;

/** Answering several questions at once: tick, see what would happen, confirm. */
export function addBatch(pages: Hono<Signed>, deps: PagesDeps): void {
  pages.get("/batch", (context) => show(context, deps, NO_DRAFT));
  pages.post("/batch/edit", async (context) => show(context, deps, await readDraft(context)));
  pages.post("/batch/check", (context) => check(context, deps));
  pages.post("/batch", (context) => send(context, deps));
}

async function show(context: Call, deps: PagesDeps, draft: Draft, problem?: string): Promise<Response> {
  const reader = await readReader(context, deps.engine);
  const waiting = (await readWaiting(deps.engine, reader)).filter((question) => mayAnswer(question, reader));
  const reads = await deps.engine.readMany(waiting.slice(0, MOST_TOGETHER).map(({ id }) => id));
  const templates = (await deps.engine.listTemplates()).map(({ name }) => name);
  const view = { reader, groups: groupSame(reads), templates, draft, ...(problem !== undefined && { problem }) };
  const title = tell(reader, "batch.title");
  const status = problem === undefined ? 200 : 422;
  return sendFramed(context, deps, { reader, page: "inbox", title, status, main: <BatchForm view={view} /> });
}

/** Those that one answer fits stand together; what is answered one by one is left out. */
function groupSame(reads: readonly Read[]): Same[] {
  const groups = new Map<string, [Read, ...Read[]]>();
  for (const read of reads) {
    const name = sameName(read);
    if (name === undefined) continue;
    const group = groups.get(name);
    if (group) group.push(read);
    else groups.set(name, [read]);
  }
  return [...groups.values()];
}

async function check(context: Call, deps: PagesDeps): Promise<Response> {
  const draft = await readDraft(context);
  const ids = idsIn(draft);
  const reader = await readReader(context, deps.engine);
  const isEmpty = draftedText(draft, "said").trim() === "" && draftedText(draft, "template") === "";
  if (ids.length === 0 || isEmpty) return show(context, deps, draft, tell(reader, "batch.missing"));
  const plan: Planned[] = [];
  for (const id of ids) plan.push(await tryOne(context, deps, draft, { id, isDone: false }));
  const main = <BatchPlan {...{ reader, plan, draft, isDone: false }} />;
  return sendFramed(context, deps, { reader, page: "inbox", title: tell(reader, "batch.confirm"), main });
}

async function send(context: Call, deps: PagesDeps): Promise<Response> {
  const draft = await readDraft(context);
  const reader = await readReader(context, deps.engine);
  const plan: Planned[] = [];
  for (const id of idsIn(draft)) plan.push(await tryOne(context, deps, draft, { id, isDone: true }));
  const failed = plan.filter(({ problem }) => problem !== undefined).length;
  const title = tell(reader, "batch.done", { n: plan.length - failed, failed });
  const main = <BatchPlan {...{ reader, plan, draft, isDone: true }} />;
  return sendFramed(context, deps, { reader, page: "inbox", title, main });
}

/** Answers one of them, or only finds out whether it could be; what is refused stops none of the others. */
async function tryOne(
  context: Call,
  { engine, rules }: PagesDeps,
  draft: Draft,
  { id, isDone }: { id: QuestionId; isDone: boolean },
): Promise<Planned> {
  const read = await engine.read(id);
  try {
    requireTogether(read);
    const input = inputFor(read, draft, await findTemplate({ engine }, draftedText(draft, "template")));
    if (isDone) await engine.answer(id, { ...input, undoMs: rules.undoMs.web }, context.get("actor"));
    else await engine.preview(id, input, context.get("actor"));
    return {
      read,
      words:
        input.answer ??
        Object.values(input.items ?? {})
          .flatMap(({ values, text }) => [...values, text ?? ""])
          .join(" "),
    };
  } catch (error) {
    return { read, problem: sayRefusal({ language: languageOf(context) }, error).problem };
  }
}

/** The questions that were ticked, each once; a box stands for all runs that ask the same. */
function idsIn(draft: Draft): QuestionId[] {
  const names = (draft.get("q") ?? []).flatMap((value) => value.split(" "));
  return [...new Set(names)].slice(0, MOST_TOGETHER).flatMap((name) => {
    const id = QuestionId.safeParse(name);
    return id.success ? [id.data] : [];
  });
}

/** What is dangerous is answered one by one, whoever asks for it otherwise. */
function requireTogether(read: Read): asserts read is Read & { question: Pending } {
  if (isPending(read.question) && sameName(read) === undefined) {
    throw new Refusal("not_permitted", "This is answered by itself, not together with others", {
      fact: { is: "by_itself" },
    });
  }
}

function inputFor(read: Read, draft: Draft, template: Template | undefined): AnswerInput {
  const note = draftedText(draft, "note").trim();
  const given = template
    ? { ...fillTemplate(template, read), template: template.name }
    : { answer: draftedText(draft, "said").trim() };
  return AnswerInput.parse({ ...given, ...(note !== "" && { note }) });
}

async function findTemplate({ engine }: Pick<PagesDeps, "engine">, name: string): Promise<Template | undefined> {
  if (name === "") return undefined;
  const found = (await engine.listTemplates()).find((each) => each.name === name);
  if (!found) throw noTemplate(name);
  return found;
}
