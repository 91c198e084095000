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
import { isRiskConfirmed } from "./answer-form.ts";
import { answerQuestion, previewAnswer } from "./answer-question.ts";
import { requestKey, readDraft } from "./read-draft.ts";
import type { PageCall, PagesDeps } from "../deps.ts";
import { redirectTo, nextQuestionPath, originRunPage } from "../redirect.ts";
import { sendCardAgain } from "../send-card.tsx";
import { findQuestionId } from "../read/read-card.ts";
import { languageOf } from "../read/read-reader.ts";

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

/** Routes of all actions on a question. Each is a form, and ends with a redirect. */
export function addQuestionActions(pages: Hono<SignedIn>, deps: PagesDeps): void {
  pages.post("/q/:id/answer", (context) => answerQuestion(context, deps));
  pages.post("/q/:id/preview", (context) => previewAnswer(context, deps));
  for (const [name, verb] of Object.entries(QUESTION_ACTIONS)) {
    pages.post(`/q/:id/${name}`, (context) => perform(context, deps, name, verb));
  }
  pages.post("/test-question", (context) => askTest(context, deps));
}

async function perform(context: PageCall, deps: PagesDeps, name: string, verb: QuestionAction): Promise<Response> {
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
      error.code === "needs_confirmation" ? say(language, "risk.wrong", { word }) : refusalWords({ language }, error);
    return sendCardAgain(context, deps, read, { problem, draft }, error.httpStatus);
  }
  const stays = originRunPage(context);
  if (stays !== undefined) return redirectTo(context, stays);
  return redirectTo(context, LEAVING.has(name) ? await nextQuestionPath(context, deps, id) : `/q/${id}`);
}

/** Asks the reader a test question. */
async function askTest(context: PageCall, { engine, rules }: PagesDeps): Promise<Response> {
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
