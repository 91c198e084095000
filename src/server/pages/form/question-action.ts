import type { Hono } from "hono";
import type { Actor } from "../../../core/people/actor.ts";
import { parseAsk } from "../../../core/question/ask-input.ts";
import { parseDuration } from "../../../core/text/duration.ts";
import type { QuestionId } from "../../../core/id.ts";
import { later } from "../../../core/instant.ts";
import { Refusal } from "../../../core/refusal.ts";
import { confirmationWord } from "../../../core/question/risk.ts";
import type { Engine } from "../../../engine/engine.ts";
import { draftText, type FormDraft } from "../../../web/parts/form-draft.ts";
import { refusalWords } from "../../../web/words/refusal-words.ts";
import { say } from "../../../web/words/words.ts";
import type { SignedIn } from "../../credential.ts";
import { isRiskConfirmed, readAnswerForm, writtenText } from "./answer-form.ts";
import { requestKey, readDraft } from "./read-draft.ts";
import type { PageCall, PagesDeps } from "../deps.ts";
import { redirectTo, nextQuestionPath, originRunPage } from "../redirect.ts";
import { sendCardAgain } from "../send-card.tsx";
import { findQuestionId, type CardMore } from "../read/read-card.ts";
import { languageOf, readReader } from "../read/read-reader.ts";
import type { AnswerInput } from "../../../core/answer/answer-input.ts";
import type { QuestionSnapshot } from "../../../core/changes.ts";
import { type Question, isPending } from "../../../core/question/question.ts";
import { sameQuestionKey } from "../../../core/question/same-question.ts";
import { tell } from "../../../web/parts/page-reader.ts";
import { sendBatchOutcomes } from "../batch.tsx";
import { answerLabels, forEachQuestion, notBatchable, questionIdsIn } from "./batch-answer.ts";

/** An action on a question, with the fields of its form. */
type QuestionAction = (
  engine: Engine,
  id: QuestionId,
  by: Actor,
  draft: FormDraft,
  context: PageCall,
) => Promise<unknown>;

const QUESTION_ACTIONS: Readonly<Record<string, QuestionAction>> = {
  undo: (engine, id, by, draft) => engine.undo(id, by, requestKey(draft)),
  claim: (engine, id, by, draft) => engine.claim(id, by, requestKey(draft)),
  release: (engine, id, by, draft) => engine.release(id, by, requestKey(draft)),
  escalate: (engine, id, by, draft) => engine.escalate(id, by, requestKey(draft)),
  assign: (engine, id, by, draft) => engine.assign(id, draftText(draft, "to").split(","), by, requestKey(draft)),
  extend: (engine, id, by, draft) => engine.extend(id, parseDuration(draftText(draft, "by")), by, requestKey(draft)),
  comment: (engine, id, by, draft) => engine.comment(id, draftText(draft, "text"), by, requestKey(draft)),
  amend: async (engine, id, by, draft) => {
    const confirmed = isRiskConfirmed(await engine.read(id), draft);
    return engine.amend(id, draftText(draft, "text"), by, { ...requestKey(draft), confirmed });
  },
  snooze: async (engine, id, by, draft) =>
    engine.snooze(id, later(await engine.now(), parseDuration(draftText(draft, "for"))), by, requestKey(draft)),
  stop: (engine, id, by, draft, context) =>
    engine.cancel(id, { reason: say(languageOf(context), "stop.reason"), ...requestKey(draft) }, by),
};

/** After these actions the reader gets the next waiting question. */
const LEAVING: ReadonlySet<string> = new Set(["snooze", "assign"]);
/** Refusals after which the person's text must be shown again: somebody else answered, or the deadline passed. */
const LOST: ReadonlySet<string> = new Set(["not_pending", "settling"]);

/** Routes of all actions on a question. Each is a form, and ends with a redirect. */
export function addQuestionActions(pages: Hono<SignedIn>, deps: PagesDeps): void {
  pages.post("/q/:id/answer", (context) => answerQuestion(context, deps));
  pages.post("/q/:id/preview", (context) => previewAnswer(context, deps));
  for (const [name, verb] of Object.entries(QUESTION_ACTIONS)) {
    pages.post(`/q/:id/${name}`, (context) => perform(context, deps, name, verb));
  }
  pages.post("/test-question", (context) => askTest(context, deps));
}

async function perform(context: PageCall, deps: PagesDeps, name: string, verb: QuestionAction) {
  const id = await findQuestionId(deps.engine, context.req.param("id") ?? "");
  const draft = await readDraft(context);
  try {
    await verb(deps.engine, id, context.get("actor"), draft, context);
  } catch (error) {
    if (!(error instanceof Refusal) || error.code === "not_found") throw error;
    const read = await deps.engine.read(id);
    const word = confirmationWord(read.question.title, read.run.name);
    const language = languageOf(context);
    const problem =
      error.code === "needs_confirmation" && error.fact === undefined
        ? say(language, "risk.wrong", { word })
        : refusalWords({ language }, error);
    return sendCardAgain(context, deps, read, { problem, draft }, error.httpStatus);
  }
  const stays = originRunPage(context);
  if (stays !== undefined) return redirectTo(context, stays);
  if (!LEAVING.has(name)) return redirectTo(context, `/q/${id}`);
  const { question } = await deps.engine.read(id);
  return redirectTo(context, await nextQuestionPath(context, deps, question));
}

/** Asks the reader a test question. */
async function askTest(context: PageCall, { engine, rules }: PagesDeps) {
  const language = languageOf(context);
  const raw = {
    question: say(language, "first.question"),
    options: [{ label: say(language, "yes"), recommended: true }, say(language, "no")],
    risk: "low",
    timeout: "1h",
  };
  const input = parseAsk(raw, { via: "cli", accepts: ["answer", "decide"] }, rules, await engine.now());
  const { question } = await engine.ask(input, context.get("actor"));
  return redirectTo(context, `/q/${question.id}`);
}

/** Answers a question with a form, or sends the card again with the problem. */
async function answerQuestion(context: PageCall, deps: PagesDeps) {
  const { engine, rules } = deps;
  const id = await findQuestionId(engine, context.req.param("id") ?? "");
  const draft = await readDraft(context);
  const before = await engine.read(id);
  const input = readInput(context, before, draft);
  if (typeof input === "string") return sendCardAgain(context, deps, before, { problem: input, draft }, 422);
  try {
    const given = { ...input, undoMs: rules.undoMs.web, ...requestKey(draft) };
    const { question } = await engine.answer(id, given, context.get("actor"));
    const stays = originRunPage(context);
    if (stays !== undefined) return redirectTo(context, stays);
    const others = questionIdsIn(draft, "batch");
    if (others.length > 0 && input.outcome !== "clarify") {
      return await answerSameQuestions(context, deps, { read: { ...before, question }, input, others, draft });
    }
    const isDone = question.status !== "pending" || question.settling !== undefined;
    const next = isDone && question.status !== "timeout" ? await nextQuestionPath(context, deps, before.question) : "/";
    return redirectTo(context, next === "/" ? `/q/${id}` : next);
  } catch (error) {
    if (!(error instanceof Refusal) || error.code === "not_found") throw error;
    const now = await engine.read(id);
    const written = writtenText(now.content, draft);
    const lost = LOST.has(error.code) && written !== "" ? { lost: written } : {};
    const problem = LOST.has(error.code) ? {} : problemOf(context, error);
    return sendCardAgain(context, deps, now, { ...problem, ...lost, draft }, error.httpStatus);
  }
}

/** Shows the message to the agent without sending it. */
async function previewAnswer(context: PageCall, deps: PagesDeps) {
  const { engine } = deps;
  const id = await findQuestionId(engine, context.req.param("id") ?? "");
  const draft = await readDraft(context);
  const read = await engine.read(id);
  const input = readAnswerForm(read.content, new Map([...draft, ["do", ["answer"]]]));
  if (!input)
    return sendCardAgain(context, deps, read, { problem: say(languageOf(context), "answer.none"), draft }, 422);
  try {
    const text = await engine.preview(id, { ...input, confirmed: true }, context.get("actor"));
    return await sendCardAgain(context, deps, read, { preview: text, draft }, 200);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return sendCardAgain(context, deps, read, { ...problemOf(context, error), draft }, error.httpStatus);
  }
}

/** The problem, and the typed field that it is about. */
function problemOf(context: PageCall, refusal: Refusal): CardMore {
  const problem = refusalWords({ language: languageOf(context) }, refusal);
  const { fact } = refusal;
  return { problem, wrong: fact?.is === "mismatch" ? (fact.field ?? "") : undefined };
}

/** The answer of a form, or what is missing in it. */
function readInput(context: PageCall, read: QuestionSnapshot, draft: FormDraft): AnswerInput | string {
  const language = languageOf(context);
  const input = readAnswerForm(read.content, draft);
  if (!input) return say(language, "answer.none");
  if (isRiskConfirmed(read, draft)) return { ...input, confirmed: read.question.risk === "high" };
  return say(language, "risk.wrong", { word: confirmationWord(read.question.title, read.run.name) });
}

/** An answered question, and the questions that get the same answer. */
interface SameAnswer {
  read: QuestionSnapshot;
  input: AnswerInput;
  others: readonly QuestionId[];
  /** The form of the card; the other questions have their options in the same places. */
  draft: FormDraft;
}

/** Gives the same answer to the other questions and sends the outcome of each. */
async function answerSameQuestions(context: PageCall, deps: PagesDeps, given: SameAnswer) {
  const { read: first, input, others, draft } = given;
  const reader = await readReader(context, deps.engine);
  const words = input.outcome === "decide" ? tell(reader, "decide") : answerLabels(first, input);
  const rest = await forEachQuestion(context, deps.engine, others, async (read) => {
    if (isPending(read.question) && sameQuestionKey(read) !== sameQuestionKey(first)) {
      throw notBatchable();
    }
    const own = readAnswerForm(read.content, draft) ?? input;
    const undoMs = deps.rules.undoMs.web;
    const given = { ...own, undoMs, ...requestKey(draft) };
    const { question } = await deps.engine.answer(read.question.id, given, context.get("actor"));
    return { words, until: undoneUntil(question) };
  });
  const again = new Map([
    ["said", input.outcome === "decide" ? [] : [words]],
    ["note", [draftText(draft, "note")]],
  ]);
  const plan = [{ read: first, words, until: undoneUntil(first.question) }, ...rest];
  return sendBatchOutcomes(context, deps, { reader, draft: again, plan });
}

function undoneUntil(question: Question) {
  return isPending(question) ? question.settling?.until : undefined;
}
