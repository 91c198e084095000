import { type Context, Hono } from "hono";
import { AnswerInput } from "../core/answer/answer-input.ts";
import { type SignedHook, HookAnswer, hookActor, requireSigned } from "../core/answer/hook-answer.ts";
import { ServiceFailure } from "../core/channel/service-failure.ts";
import { QuestionId } from "../core/id.ts";
import { describeIssue } from "../core/question/ask-input.ts";
import { findAnswer } from "../core/question/question.ts";
import { Refusal } from "../core/refusal.ts";
import type { Webhook, WebhookResult } from "../core/workflow/webhook.ts";
import type { Engine } from "../engine/engine.ts";
import type { LocalEngine } from "../engine/local-engine.ts";
import type { RouteGroup } from "./app.ts";
import { parseJson, readText } from "./body.ts";

/** Slack shows an error to the person after 3 s. */
const RESPOND_MS = 2_000;
/** A service that cannot be asked at the moment is asked again later. */
const AGAIN_S = 30;
const MOST_BODY_BYTES = 128 * 1024;

/** Starts the workflows that wait for a webhook. */
export type StartByWebhook = (webhook: Webhook) => Promise<WebhookResult>;

interface HookDeps {
  receive: LocalEngine["receiveHook"];
  /** The programs that may post answers, or what starts workflows. */
  answers?: { engine: Engine; hooks: readonly SignedHook[]; startByWebhook?: StartByWebhook } | undefined;
  /** Reports what fails after the response. */
  onBug: (error: unknown) => void;
}

/**
 * Takes the requests of services and programs whose signature is their credential: `POST /hooks/slack`,
 * `POST /hooks/github`, and what programs that the settings name post: answers, or what starts workflows.
 */
export function hooksPart({ receive, answers, onBug }: HookDeps): RouteGroup {
  const app = new Hono();
  app.post("/:name", async (context) => {
    const name = context.req.param("name");
    const program = answers?.hooks.find((each) => each.name === name);
    if (answers && program) {
      return program.startsWorkflows
        ? takeWebhook(context, program, answers)
        : takeAnswer(context, program, answers.engine);
    }
    const body = await readText(context);
    const { response, taken } = await receive(name, { header: (each) => context.req.header(each), body });
    try {
      // The response says that it is in the store; a store that takes longer must not make the service give up.
      if (!(await endsWithin(taken, RESPOND_MS)))
        taken.catch((error) => error instanceof ServiceFailure || onBug(error));
    } catch (error) {
      // It comes again, or is found by looking: nothing was done, and nothing is lost.
      if (!(error instanceof ServiceFailure)) throw error;
      return context.json({ detail: error.message }, 503, { "retry-after": String(AGAIN_S) });
    }
    return response === undefined ? context.body(null, 200) : context.json(response);
  });
  // Some services ask once whether the address is ours; anything else here is for nobody.
  app.get("/:name", async (context) => {
    const query = new URL(context.req.url).search;
    const { text } = await receive(context.req.param("name"), {
      header: (each) => context.req.header(each),
      body: "",
      query,
    });
    if (text === undefined) throw new Refusal("not_found", "There is nothing at this address");
    return context.text(text);
  });
  return { path: "/hooks", public: app };
}

/** Says whether the work ended in time; its failure is the caller's. */
async function endsWithin(work: Promise<void>, ms: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(resolve, ms, false);
  });
  try {
    return await Promise.race([work.then(() => true), late]);
  } finally {
    clearTimeout(timer);
  }
}

/** A message that starts workflows, as a program posts it. The same message again starts nothing. */
async function takeWebhook(
  context: Context,
  hook: SignedHook,
  { engine, startByWebhook: start }: NonNullable<HookDeps["answers"]>,
): Promise<Response> {
  if (!start) throw new Refusal("not_found", "There is nothing at this address");
  const { id, body } = await readSigned(context, hook, engine);
  const { runs, refused } = await start({ name: hook.name, id, body: parseJson(body) });
  return context.json({
    success: true,
    runs: runs.map(({ runId, number, workflow }) => ({ run_id: runId, number, workflow })),
    refused,
  });
}

/** The body of a message that is signed with the secret of the program, and the id that its sender gave it. */
async function readSigned(context: Context, hook: SignedHook, engine: Engine): Promise<{ id: string; body: string }> {
  const body = await readText(context, MOST_BODY_BYTES);
  const secret = hook.readSecret();
  if (!secret) throw new Refusal("not_found", "There is nothing at this address");
  const message = {
    id: context.req.header("webhook-id"),
    timestamp: context.req.header("webhook-timestamp"),
    signature: context.req.header("webhook-signature"),
    body,
  };
  return { id: requireSigned(message, secret, Date.parse(await engine.now())), body };
}

/** An answer to a question, as a program posts it. The same message again counts once. */
async function takeAnswer(context: Context, hook: SignedHook, engine: Engine): Promise<Response> {
  const { id, body } = await readSigned(context, hook, engine);
  const parsed = HookAnswer.safeParse(parseJson(body));
  if (!parsed.success) throw new Refusal("bad_input", `The answer cannot be read: ${describeIssue(parsed.error)}`);
  const { answer, note, question_id: name } = parsed.data;
  const questionId = await getQuestionId(engine, name);
  const input = AnswerInput.parse({ answer, note, key: `hook:${hook.name}:${id}`.slice(0, 255) });
  const { question } = await engine.answer(questionId, input, hookActor(hook, parsed.data));
  const answeredAt = findAnswer(question)?.at ?? null;
  return context.json({ success: true, question_id: question.id, status: question.status, answered_at: answeredAt });
}

/** The question that a program names: its id, or the short form that people see. */
async function getQuestionId(engine: Engine, name: string): Promise<QuestionId> {
  const id = QuestionId.safeParse(name);
  if (id.success) return id.data;
  const text = /^q-([0-9a-z]{4,26})$/i.exec(name)?.[1]?.toLowerCase();
  const found = text === undefined ? [] : (await engine.lookUp({ by: "short", text }, 2)).questions;
  const [question, ...others] = found;
  if (question && others.length === 0) return question.id;
  if (question) throw new Refusal("ambiguous_ref", "Several questions have this id", { hint: "Give the whole id" });
  throw new Refusal("not_found", "There is no such question");
}
