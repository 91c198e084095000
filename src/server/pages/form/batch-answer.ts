import { AnswerInput } from "../../../core/answer/answer-input.ts";
import type { Read } from "../../../core/changes.ts";
import { QuestionId } from "../../../core/id.ts";
import { type Pending, isPending } from "../../../core/question/question.ts";
import { Refusal } from "../../../core/refusal.ts";
import type { Limits } from "../../../core/rules.ts";
import { findOption, groupSame, sameName, shareOptions } from "../../../core/question/same-question.ts";
import { type Template, fillTemplate, noTemplate, offerTemplates } from "../../../core/answer/template.ts";
import type { Engine } from "../../../engine/engine.ts";
import { type Draft, draftedText } from "../../../web/parts/form-draft.ts";
import type { Planned } from "../../../web/parts/batch-outcome.tsx";
import { AS, type Offer } from "../../../web/parts/batch-bar.tsx";
import { nameOf } from "./answer-form.ts";
import type { Call, PagesDeps } from "../deps.ts";
import { onceIn } from "./read-draft.ts";
import { sayRefusal } from "../send-framed-page.tsx";
import { languageOf } from "../read/read-reader.ts";

export const MOST_TOGETHER = 200;

/** The questions that were ticked, each once; a box stands for all runs that ask the same. */
export function idsIn(draft: Draft, field = "q"): QuestionId[] {
  const names = (draft.get(field) ?? []).flatMap((value) => value.split(" "));
  return [...new Set(names)].slice(0, MOST_TOGETHER).flatMap((name) => {
    const id = QuestionId.safeParse(name);
    return id.success ? [id.data] : [];
  });
}

/** Says whether a form has an answer for those that are ticked. */
export function hasAnswer(draft: Draft): boolean {
  const as = draftedText(draft, "as");
  return as === "" || as === AS.own ? draftedText(draft, "said").trim() !== "" : true;
}

/** What those that are ticked can be answered with; without any, whatever there is. */
export function offerFor(ticked: readonly Read[], templates: readonly Template[], limits: Limits): Offer {
  const reads = groupSame(ticked).map(([first]) => first);
  const fitting = reads.reduce(
    (left, read) => {
      const names = new Set(offerTemplates([...templates], read, limits).map(({ name }) => name));
      return left.filter((name) => names.has(name));
    },
    templates.map(({ name }) => name),
  );
  return { ...shareOptions(reads), ticked: reads.length, templates: fitting };
}

/** Answers each of them as the form says; what is refused stops none of the others. */
export function answerAll(context: Call, deps: PagesDeps, ids: readonly QuestionId[], draft: Draft) {
  return eachWith(context, deps, ids, draft, async (id, input) => {
    const given = { ...input, undoMs: deps.rules.undoMs.web, ...onceIn(draft) };
    const { question } = await deps.engine.answer(id, given, context.get("actor"));
    return { until: isPending(question) ? question.settling?.until : undefined };
  });
}

/** Finds out what would become of each, and changes nothing. */
export function tryAll(context: Call, deps: PagesDeps, ids: readonly QuestionId[], draft: Draft) {
  return eachWith(context, deps, ids, draft, async (id, input) => {
    await deps.engine.preview(id, input, context.get("actor"));
    return {};
  });
}

/** Does something with the answer that the form has for each question. */
async function eachWith(
  context: Call,
  deps: PagesDeps,
  ids: readonly QuestionId[],
  draft: Draft,
  act: (id: QuestionId, input: AnswerInput) => Promise<Pick<Planned, "until">>,
): Promise<Planned[]> {
  const template = await findTemplate(deps.engine, draft);
  return eachOf(context, deps.engine, ids, async (read) => {
    requireTogether(read);
    const input = inputFor(read, draft, template);
    return { ...(await act(read.question.id, input)), words: wordsOf(read, input) };
  });
}

/** Does something with each of several questions, and says of each what came of it. */
export async function eachOf(
  context: Call,
  engine: Engine,
  ids: readonly QuestionId[],
  act: (read: Read) => Promise<Omit<Planned, "read" | "problem">>,
): Promise<Planned[]> {
  const plan: Planned[] = [];
  for (const id of ids) {
    const read = await engine.read(id);
    try {
      plan.push({ read, ...(await act(read)) });
    } catch (error) {
      plan.push({ read, problem: sayRefusal({ language: languageOf(context) }, error).problem });
    }
  }
  return plan;
}

/** What is dangerous is answered one by one, whoever asks for it otherwise. */
function requireTogether(read: Read): asserts read is Read & { question: Pending } {
  if (isPending(read.question) && sameName(read) === undefined) {
    throw byItself();
  }
}

/** Refuses to answer a question together with others. */
export function byItself(): Refusal {
  return new Refusal("not_permitted", "This is answered by itself, not together with others", {
    fact: { is: "by_itself" },
  });
}

function inputFor(read: Read, draft: Draft, template: Template | undefined): AnswerInput {
  const note = draftedText(draft, "note").trim();
  const given = template ? { ...fillTemplate(template, read), template: template.name } : chosenFor(read, draft);
  return AnswerInput.parse({ ...given, ...(note !== "" && { note }) });
}

/** An option by its label, which in each question may have another letter; or words as they are. */
function chosenFor({ content }: Read, draft: Draft): Pick<AnswerInput, "answer" | "items"> {
  const as = draftedText(draft, "as");
  if (!as.startsWith(AS.option)) return { answer: draftedText(draft, "said").trim() };
  const label = as.slice(AS.option.length);
  const [item] = content.items;
  const option = findOption(content, label);
  return item && option ? { items: { [item.id]: { values: [nameOf(item, option)] } } } : { answer: label };
}

/** What an answer says, in the labels of its options. */
export function wordsOf({ content }: Read, { answer, items = {} }: AnswerInput): string {
  if (answer !== undefined) return answer;
  return Object.entries(items)
    .flatMap(([id, { values, text }]) => {
      const options = content.items.find((item) => item.id === id)?.options ?? [];
      const labels = values.map(
        (name) => options.find(({ key, value }) => key === name || value === name)?.label ?? name,
      );
      return [...labels, ...(text === undefined ? [] : [text])];
    })
    .join(", ");
}

async function findTemplate(engine: Engine, draft: Draft): Promise<Template | undefined> {
  const as = draftedText(draft, "as");
  if (!as.startsWith(AS.template)) return undefined;
  const name = as.slice(AS.template.length);
  const found = (await engine.listTemplates()).find((each) => each.name === name);
  if (!found) throw noTemplate(name);
  return found;
}
