import type { AnswerInput } from "../../../core/answer/answer-input.ts";
import type { Read } from "../../../core/changes.ts";
import { Refusal } from "../../../core/refusal.ts";
import { wordToType } from "../../../core/risk-word.ts";
import type { Draft } from "../../../web/parts/form-draft.ts";
import { refusalWords } from "../../../web/words/refusal-words.ts";
import { say } from "../../../web/words/words.ts";
import { answerAlso } from "../also.ts";
import { isMeant, readAnswerForm, writtenIn } from "./answer-form.ts";
import { onceIn, readDraft } from "./read-draft.ts";
import type { Call, PagesDeps } from "../deps.ts";
import { goTo, nextAddress, runPageBefore } from "../redirect.ts";
import { sendAgain } from "../send-card.tsx";
import { type CardMore, findQuestionId } from "../read/read-card.ts";
import { languageOf } from "../read/read-reader.ts";
import { idsIn } from "./batch-answer.ts";

/** Somebody else was faster, or the time was over. */
const LOST: ReadonlySet<string> = new Set(["not_pending", "settling"]);

/** Takes the form of a card as an answer, or shows it again with what is missing. */
export async function answer(context: Call, deps: PagesDeps): Promise<Response> {
  const { engine, rules } = deps;
  const id = await findQuestionId(engine, context.req.param("id") ?? "");
  const draft = await readDraft(context);
  const before = await engine.read(id);
  const input = readInput(context, before, draft);
  if (typeof input === "string") return sendAgain(context, deps, before, { problem: input, draft }, 422);
  try {
    const given = { ...input, undoMs: rules.undoMs.web, ...onceIn(draft) };
    const { question } = await engine.answer(id, given, context.get("actor"));
    const stays = runPageBefore(context);
    if (stays !== undefined) return goTo(context, stays);
    const others = idsIn(draft, "also");
    if (others.length > 0 && input.outcome !== "clarify") {
      return await answerAlso(context, deps, { read: { ...before, question }, input, others, draft });
    }
    const isDone = question.status !== "pending" || question.settling !== undefined;
    const next = isDone && question.status !== "timeout" ? await nextAddress(context, deps, id) : "/";
    return goTo(context, next === "/" ? `/q/${id}` : next);
  } catch (error) {
    if (!(error instanceof Refusal) || error.code === "not_found") throw error;
    const now = await engine.read(id);
    const written = writtenIn(now.content, draft);
    const lost = LOST.has(error.code) && written !== "" ? { lost: written } : {};
    const problem = LOST.has(error.code) ? {} : problemOf(context, error);
    return sendAgain(context, deps, now, { ...problem, ...lost, draft }, error.httpStatus);
  }
}

/** Shows what the agent would be told, without telling it. */
export async function preview(context: Call, deps: PagesDeps): Promise<Response> {
  const { engine } = deps;
  const id = await findQuestionId(engine, context.req.param("id") ?? "");
  const draft = await readDraft(context);
  const read = await engine.read(id);
  const input = readAnswerForm(read.content, new Map([...draft, ["do", ["answer"]]]));
  if (!input) return sendAgain(context, deps, read, { problem: say(languageOf(context), "answer.none"), draft }, 422);
  try {
    const text = await engine.preview(id, { ...input, confirmed: true }, context.get("actor"));
    return await sendAgain(context, deps, read, { preview: text, draft }, 200);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return sendAgain(context, deps, read, { ...problemOf(context, error), draft }, error.httpStatus);
  }
}

/** What is wrong, and with which typed field. */
function problemOf(context: Call, refusal: Refusal): CardMore {
  const problem = refusalWords({ language: languageOf(context) }, refusal);
  const { fact } = refusal;
  return { problem, ...(fact?.is === "mismatch" && { wrong: fact.field ?? "" }) };
}

/** What the form says, or what is missing in it. */
function readInput(context: Call, read: Read, draft: Draft): AnswerInput | string {
  const language = languageOf(context);
  const input = readAnswerForm(read.content, draft);
  if (!input) return say(language, "answer.none");
  if (isMeant(read, draft)) return { ...input, confirmed: true };
  return say(language, "risk.wrong", { word: wordToType(read.question.title, read.run.name) });
}
