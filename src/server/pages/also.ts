import type { AnswerInput } from "../../core/answer/answer-input.ts";
import type { Read } from "../../core/changes.ts";
import type { QuestionId } from "../../core/id.ts";
import type { Instant } from "../../core/instant.ts";
import { type Question, isPending } from "../../core/question/question.ts";
import { sameName } from "../../core/question/same-question.ts";
import { type Draft, draftedText } from "../../web/parts/form-draft.ts";
import { tell } from "../../web/parts/reader.ts";
import { readAnswerForm } from "./form/answer-form.ts";
import { sendDone } from "./batch.tsx";
import type { Call, PagesDeps } from "./deps.ts";
import { onceIn } from "./form/read-draft.ts";
import { readReader } from "./read/read-reader.ts";
import { byItself, eachOf, wordsOf } from "./form/batch-answer.ts";

/** A question that was just answered, and those who are to get the same. */
interface Also {
  read: Read;
  input: AnswerInput;
  others: readonly QuestionId[];
  /** The form of the card; the options of the others stand in the same places. */
  draft: Draft;
}

/** Gives those who ask the same what the first was given, and says what became of each. */
export async function answerAlso(context: Call, deps: PagesDeps, given: Also): Promise<Response> {
  const { read: first, input, others, draft } = given;
  const reader = await readReader(context, deps.engine);
  const words = input.outcome === "decide" ? tell(reader, "decide") : wordsOf(first, input);
  const rest = await eachOf(context, deps.engine, others, async (read) => {
    if (isPending(read.question) && sameName(read) !== sameName(first)) {
      throw byItself();
    }
    const own = readAnswerForm(read.content, draft) ?? input;
    const undoMs = deps.rules.undoMs.web;
    const given = { ...own, undoMs, ...onceIn(draft) };
    const { question } = await deps.engine.answer(read.question.id, given, context.get("actor"));
    return { words, until: undoneUntil(question) };
  });
  const again = new Map([
    ["said", input.outcome === "decide" ? [] : [words]],
    ["note", [draftedText(draft, "note")]],
  ]);
  const plan = [{ read: first, words, until: undoneUntil(first.question) }, ...rest];
  return sendDone(context, deps, { reader, draft: again, plan });
}

function undoneUntil(question: Question): Instant | undefined {
  return isPending(question) ? question.settling?.until : undefined;
}
