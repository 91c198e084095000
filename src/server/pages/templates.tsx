import type { Hono } from "hono";
import { findVerifiedRepo } from "../../core/trail/fact-source.ts";
import { QuestionId } from "../../core/id.ts";
import { answerText, matchAnswer } from "../../core/answer/match.ts";
import { findAnswer } from "../../core/question/question.ts";
import { type Template, TemplateInput, fillTemplate } from "../../core/answer/template.ts";
import { type FormDraft, EMPTY_DRAFT, draftText } from "../../web/parts/form-draft.ts";
import { partOf } from "../../web/parts/paging.tsx";
import { tell } from "../../web/parts/page-reader.ts";
import { type TemplateTrial, TemplatesPage } from "../../web/pages/templates.tsx";
import { isMessageKey, say } from "../../web/words/words.ts";
import type { SignedIn } from "../credential.ts";
import type { PageCall, PagesDeps } from "./deps.ts";
import { readDraft } from "./form/read-draft.ts";
import { readPageOffset, languageOf, readReader } from "./read/read-reader.ts";
import { sayRefusal, sendFramedPage } from "./send-page.tsx";
import { redirectTo } from "./redirect.ts";

const MOST_SHOWN = 50;
const MOST_QUESTIONS = 20;

/** Routes of the templates page: list, add, change, remove, try. */
export function addTemplates(pages: Hono<SignedIn>, deps: PagesDeps): void {
  pages.get("/templates", (context) => show(context, deps));
  pages.post("/templates", (context) => save(context, deps));
  pages.post("/templates/:name/remove", async (context) => {
    await deps.engine.removeTemplate(context.req.param("name"), context.get("actor"));
    return redirectTo(context, "/templates");
  });
}

async function show(
  context: PageCall,
  deps: PagesDeps,
  again: { draft?: FormDraft; problem?: string; status?: number } = {},
) {
  const { engine } = deps;
  const reader = await readReader(context, engine);
  const templates = await engine.listTemplates();
  const questions = await engine.listQuestions({ status: "pending", order: "newest", limit: MOST_QUESTIONS });
  const { items, part } = partOf(templates, readPageOffset(context) ?? 0, MOST_SHOWN);
  const edited = templates.find(({ name }) => name === context.req.query("edit"));
  const view = {
    reader,
    questions,
    templates: items,
    part,
    trial: await tryOut(context, deps, templates),
    draft: again.draft ?? (edited ? draftOf(edited) : await draftFrom(context, deps)),
    problem: again.problem,
  };
  return sendFramedPage(context, deps, {
    reader,
    page: "templates",
    title: tell(reader, "tpl.title"),
    status: again.status ?? 200,
    main: <TemplatesPage view={view} />,
  });
}

async function save(context: PageCall, deps: PagesDeps) {
  const draft = await readDraft(context);
  const of = (name: string) => draftText(draft, name).trim();
  const choose = of("choose")
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
  const [text, repo, label] = [of("text"), of("repo"), of("label")];
  const parsed = TemplateInput.safeParse({
    name: of("name").toLowerCase(),
    text: text || undefined,
    choose: choose.length > 0 ? choose : undefined,
    match: repo || label ? { repo: repo || undefined, label: label || undefined } : undefined,
  });
  if (!parsed.success) {
    const names = [
      ...new Set(parsed.error.issues.map(({ path }) => `tpl.${String(path[0] === "match" ? path[1] : path[0])}`)),
    ];
    const language = languageOf(context);
    const fields = names.map((name) => (isMessageKey(name) ? say(language, name) : name)).join(", ");
    return show(context, deps, { draft, problem: say(language, "tpl.bad", { fields }), status: 400 });
  }
  try {
    await deps.engine.putTemplate(parsed.data, context.get("actor"));
  } catch (error) {
    return show(context, deps, { draft, ...sayRefusal({ language: languageOf(context) }, error) });
  }
  return redirectTo(context, "/templates");
}

/** Previews the answer of the template to the question, both from the address; nothing is sent. */
async function tryOut(
  context: PageCall,
  { engine, rules }: PagesDeps,
  templates: readonly Template[],
): Promise<TemplateTrial | undefined> {
  const template = templates.find(({ name }) => name === context.req.query("try"));
  const id = QuestionId.safeParse(context.req.query("on"));
  if (!template || !id.success) return undefined;
  const read = await engine.read(id.data);
  const about = { name: template.name, title: read.question.title };
  try {
    const filled = fillTemplate(template, read);
    const items = matchAnswer(read.content, { answer: filled.answer, items: filled.items }, rules.limits);
    return { ...about, answer: answerText(read.content, items), note: filled.note };
  } catch (error) {
    return { ...about, problem: sayRefusal({ language: languageOf(context) }, error).problem };
  }
}

/** Prefills the form with the answer of the question in the address. */
async function draftFrom(context: PageCall, { engine }: PagesDeps): Promise<FormDraft> {
  const id = QuestionId.safeParse(context.req.query("from"));
  if (!id.success) return EMPTY_DRAFT;
  const { question, content, run } = await engine.read(id.data);
  const answer = findAnswer(question);
  if (answer?.outcome !== "answer") return EMPTY_DRAFT;
  const [item, second] = content.items;
  const values = item && !second ? (answer.items[item.id]?.values ?? []) : [];
  const labels = values.map((value) => item?.options.find((option) => option.value === value)?.label ?? value);
  return new Map([
    ["name", [nameFrom(question.title)]],
    ["choose", [labels.join("\n")]],
    ["text", [labels.length > 0 ? (answer.note ?? "") : answerText(content, answer.items)]],
    ["repo", [findVerifiedRepo(run) ?? ""]],
  ]);
}

function nameFrom(title: string) {
  const words = title.toLowerCase().match(/[a-z0-9]+/g) ?? [];
  return words.join("-").slice(0, 40).replace(/-$/, "");
}

function draftOf({ name, choose = [], text, match }: Template): FormDraft {
  return new Map([
    ["name", [name]],
    ["choose", [choose.join("\n")]],
    ["text", [text ?? ""]],
    ["repo", [match?.repo ?? ""]],
    ["label", [match?.label ?? ""]],
  ]);
}
