import { AnswerInput } from "../../../core/answer/answer-input.ts";
import type { QuestionSnapshot } from "../../../core/changes.ts";
import { QuestionId } from "../../../core/id.ts";
import { type PendingQuestion, isPending } from "../../../core/question/question.ts";
import { Refusal } from "../../../core/refusal.ts";
import type { Limits } from "../../../core/rules.ts";
import {
  findOption,
  groupSameQuestions,
  sameQuestionKey,
  findSharedOptions,
} from "../../../core/question/same-question.ts";
import { type Template, fillTemplate, templateNotFound, listMatchingTemplates } from "../../../core/answer/template.ts";
import type { Engine } from "../../../engine/engine.ts";
import { type FormDraft, draftText } from "../../../web/parts/form-draft.ts";
import type { BatchOutcome } from "../../../web/parts/batch-outcome.tsx";
import { BATCH_ANSWER, type BatchOffer } from "../../../web/parts/batch-bar.tsx";
import { optionName } from "./answer-form.ts";
import type { PageCall, PagesDeps } from "../deps.ts";
import { requestKey } from "./read-draft.ts";
import { sayRefusal } from "../send-page.tsx";
import { languageOf } from "../read/read-reader.ts";

export const BATCH_LIMIT = 200;

/** The selected questions, each once; one check box stands for all runs that ask the same. */
export function questionIdsIn(draft: FormDraft, field = "q"): QuestionId[] {
  const names = (draft.get(field) ?? []).flatMap((value) => value.split(" "));
  return [...new Set(names)].slice(0, BATCH_LIMIT).flatMap((name) => {
    const id = QuestionId.safeParse(name);
    return id.success ? [id.data] : [];
  });
}

/** True if the form has an answer for the selection. */
export function hasBatchAnswer(draft: FormDraft): boolean {
  const as = draftText(draft, "as");
  return as === "" || as === BATCH_ANSWER.own ? draftText(draft, "said").trim() !== "" : true;
}

/** Answers offered for the selection; all answers if nothing is selected. */
export function batchOffer(
  ticked: readonly QuestionSnapshot[],
  templates: readonly Template[],
  limits: Limits,
): BatchOffer {
  const reads = groupSameQuestions(ticked).map(([first]) => first);
  const fitting = reads.reduce(
    (left, read) => {
      const names = new Set(listMatchingTemplates([...templates], read, limits).map(({ name }) => name));
      return left.filter((name) => names.has(name));
    },
    templates.map(({ name }) => name),
  );
  return { ...findSharedOptions(reads), ticked: reads.length, templates: fitting };
}

/** Answers each question with the form; a refusal does not stop the others. */
export function answerBatch(context: PageCall, deps: PagesDeps, ids: readonly QuestionId[], draft: FormDraft) {
  return forEachAnswer(context, deps, ids, draft, async (id, input) => {
    const given = { ...input, undoMs: deps.rules.undoMs.web, ...requestKey(draft) };
    const { question } = await deps.engine.answer(id, given, context.get("actor"));
    return { until: isPending(question) ? question.settling?.until : undefined };
  });
}

/** Checks what would happen to each question, without changing anything. */
export function previewBatch(context: PageCall, deps: PagesDeps, ids: readonly QuestionId[], draft: FormDraft) {
  return forEachAnswer(context, deps, ids, draft, async (id, input) => {
    await deps.engine.preview(id, input, context.get("actor"));
    return {};
  });
}

/** Calls `act` with the form's answer for each question. */
async function forEachAnswer(
  context: PageCall,
  deps: PagesDeps,
  ids: readonly QuestionId[],
  draft: FormDraft,
  act: (id: QuestionId, input: AnswerInput) => Promise<Pick<BatchOutcome, "until">>,
) {
  const template = await findTemplate(deps.engine, draft);
  return forEachQuestion(context, deps.engine, ids, async (read) => {
    requireBatchable(read);
    const input = inputFor(read, draft, template);
    return { ...(await act(read.question.id, input)), words: answerLabels(read, input) };
  });
}

/** Calls `act` for each question and collects the outcomes. */
export async function forEachQuestion(
  context: PageCall,
  engine: Engine,
  ids: readonly QuestionId[],
  act: (read: QuestionSnapshot) => Promise<Omit<BatchOutcome, "read" | "problem">>,
): Promise<BatchOutcome[]> {
  const plan: BatchOutcome[] = [];
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

/** Refuses questions that must be answered one by one. */
function requireBatchable(read: QuestionSnapshot): asserts read is QuestionSnapshot & { question: PendingQuestion } {
  if (isPending(read.question) && sameQuestionKey(read) === undefined) {
    throw notBatchable();
  }
}

/** Refusal of a question that cannot be part of a batch. */
export function notBatchable(): Refusal {
  return new Refusal("not_permitted", "This question cannot be answered in a batch", {
    fact: { is: "by_itself" },
  });
}

function inputFor(read: QuestionSnapshot, draft: FormDraft, template: Template | undefined) {
  const note = draftText(draft, "note").trim();
  const given = template ? { ...fillTemplate(template, read), template: template.name } : chosenFor(read, draft);
  return AnswerInput.parse({ ...given, ...(note !== "" && { note }) });
}

/** The answer for one question: an option found by its label, since its key may differ, or the text as it is. */
function chosenFor({ content }: QuestionSnapshot, draft: FormDraft): Pick<AnswerInput, "answer" | "items"> {
  const as = draftText(draft, "as");
  if (!as.startsWith(BATCH_ANSWER.option)) return { answer: draftText(draft, "said").trim() };
  const label = as.slice(BATCH_ANSWER.option.length);
  const [item] = content.items;
  const option = findOption(content, label);
  return item && option ? { items: { [item.id]: { values: [optionName(item, option)] } } } : { answer: label };
}

/** The text of an answer, with the labels of its options. */
export function answerLabels({ content }: QuestionSnapshot, { answer, items = {} }: AnswerInput): string {
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

async function findTemplate(engine: Engine, draft: FormDraft) {
  const as = draftText(draft, "as");
  if (!as.startsWith(BATCH_ANSWER.template)) return undefined;
  const name = as.slice(BATCH_ANSWER.template.length);
  const found = (await engine.listTemplates()).find((each) => each.name === name);
  if (!found) throw templateNotFound(name);
  return found;
}
