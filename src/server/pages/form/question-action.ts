import type { Hono } from "hono";
import type { Actor } from "../../../core/people/actor.ts";
import { parseAsk } from "../../../core/question/ask-input.ts";
import { parseDuration } from "../../../core/text/duration.ts";
import type { QuestionId } from "../../../core/id.ts";
import { later } from "../../../core/instant.ts";
import { Refusal } from "../../../core/refusal.ts";
import { wordToType } from "../../../core/risk-word.ts";
import type { Engine } from "../../../engine/engine.ts";
import { draftedText, type Draft } from "../../../web/parts/form-draft.ts";
import { refusalWords } from "../../../web/words/refusal-words.ts";
import { say } from "../../../web/words/words.ts";
import type { Signed } from "../../credential.ts";
import { isMeant } from "./answer-form.ts";
import { answer, preview } from "./answer-question.ts";
import { onceIn, readDraft } from "./read-draft.ts";
import type { Call, PagesDeps } from "../deps.ts";
import { goTo, nextAddress, runPageBefore } from "../redirect.ts";
import { sendAgain } from "../send-card.tsx";
import { findQuestionId } from "../read/read-card.ts";
import { languageOf } from "../read/read-reader.ts";

/** One thing to do with a question, from the fields of a form. */
type Verb = (engine: Engine, id: QuestionId, by: Actor, draft: Draft, context: Call) => Promise<unknown>;

const VERBS: Readonly<Record<string, Verb>> = {
  undo: (engine, id, by, draft) => engine.undo(id, by, onceIn(draft)),
  claim: (engine, id, by, draft) => engine.claim(id, by, onceIn(draft)),
  release: (engine, id, by, draft) => engine.release(id, by, onceIn(draft)),
  escalate: (engine, id, by, draft) => engine.escalate(id, by, onceIn(draft)),
  assign: (engine, id, by, draft) => engine.assign(id, draftedText(draft, "to").split(","), by, onceIn(draft)),
  extend: (engine, id, by, draft) => engine.extend(id, parseDuration(draftedText(draft, "by")), by, onceIn(draft)),
  comment: (engine, id, by, draft) => engine.comment(id, draftedText(draft, "text"), by, onceIn(draft)),
  amend: async (engine, id, by, draft) => {
    const confirmed = isMeant(await engine.read(id), draft);
    return engine.amend(id, draftedText(draft, "text"), by, { ...onceIn(draft), confirmed });
  },
  snooze: async (engine, id, by, draft) =>
    engine.snooze(id, later(await engine.now(), parseDuration(draftedText(draft, "for"))), by, onceIn(draft)),
  stop: (engine, id, by, draft, context) =>
    engine.cancel(id, { reason: say(languageOf(context), "stop.reason"), ...onceIn(draft) }, by),
};

/** After these the reader goes on with what waits next. */
const LEAVING: ReadonlySet<string> = new Set(["snooze", "assign"]);

/** Everything that a person can do on a page. Each is a form that is sent, done, and followed by a page. */
export function addVerbs(pages: Hono<Signed>, deps: PagesDeps): void {
  pages.post("/q/:id/answer", (context) => answer(context, deps));
  pages.post("/q/:id/preview", (context) => preview(context, deps));
  for (const [name, verb] of Object.entries(VERBS)) {
    pages.post(`/q/:id/${name}`, (context) => perform(context, deps, name, verb));
  }
  pages.post("/test-question", (context) => askTest(context, deps));
}

async function perform(context: Call, deps: PagesDeps, name: string, verb: Verb): Promise<Response> {
  const id = await findQuestionId(deps.engine, context.req.param("id") ?? "");
  const draft = await readDraft(context);
  try {
    await verb(deps.engine, id, context.get("actor"), draft, context);
  } catch (error) {
    if (!(error instanceof Refusal) || error.code === "not_found") throw error;
    const read = await deps.engine.read(id);
    const word = wordToType(read.question.title, read.run.name);
    const language = languageOf(context);
    const problem =
      error.code === "needs_confirmation" ? say(language, "risk.wrong", { word }) : refusalWords({ language }, error);
    return sendAgain(context, deps, read, { problem, draft }, error.httpStatus);
  }
  const stays = runPageBefore(context);
  if (stays !== undefined) return goTo(context, stays);
  return goTo(context, LEAVING.has(name) ? await nextAddress(context, deps, id) : `/q/${id}`);
}

/** Asks the reader something, so that they see how it is. */
async function askTest(context: Call, { engine, rules }: PagesDeps): Promise<Response> {
  const language = languageOf(context);
  const raw = {
    question: say(language, "first.question"),
    options: [{ label: say(language, "yes"), recommended: true }, say(language, "no")],
    risk: "low",
    timeout: "1h",
  };
  const input = parseAsk(raw, { via: "cli", accepts: ["answer", "decide"] }, rules, await engine.now());
  const { question } = await engine.ask(input, context.get("actor"));
  return goTo(context, `/q/${question.id}`);
}
