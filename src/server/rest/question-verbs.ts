import { mayDo } from "../../core/people/access.ts";
import { inNameOf } from "../../core/people/actor.ts";
import { parseAnswer } from "../../core/answer/answer-input.ts";
import { type AskBody, readSeen } from "../../core/api/ask-body.ts";
import type { QUESTION_ROUTES } from "../../core/api/question-route.ts";
import type { RequestOf } from "../../core/api/table.ts";
import { parseAsk } from "../../core/question/ask-input.ts";
import { parseDuration } from "../../core/text/duration.ts";
import { requireVisibleLine } from "../../core/text/foreign-text.ts";
import { SECOND_MS, earlier, later } from "../../core/instant.ts";
import { Refusal } from "../../core/refusal.ts";
import type { AskOptions } from "../../engine/engine.ts";
import { type Call, type Handlers, readOwn, requireOwnRun } from "./call.ts";
import { runInput } from "./run-verbs.ts";

const LONGEST_WAIT_MS = 25 * SECOND_MS;

/** Asking and answering, each by its engine's verb. */
export const QUESTION_VERBS: Handlers<keyof typeof QUESTION_ROUTES> = {
  ask,
  listQuestions,
  countQuestions: async ({ engine }, { query }) => ({ count: await engine.countQuestions(query.status) }),
  read: (call, { params }) => readOwn(call, params.id),
  wait: async (call, { params, query }) => {
    await readOwn(call, params.id);
    const longest = later(await call.engine.now(), LONGEST_WAIT_MS);
    return call.engine.wait(params.id, { until: earlier(longest, query.until), signal: call.signal });
  },
  answer: ({ engine, ...call }, { params, body }) => {
    const { web, api } = call.rules.undoMs;
    const { ifVersion, key } = call;
    const input = { ...parseAnswer(body, call.by.channel === "web" ? web : api), ifVersion, key };
    return engine.answer(params.id, input, answeringAs(call, body));
  },
  preview: async ({ engine, ...call }, { params, body }) => {
    return { text: await engine.preview(params.id, parseAnswer(body), answeringAs(call, body)) };
  },
  undo: ({ engine, by, key }, { params }) => engine.undo(params.id, by, { key }),
  amend: ({ engine, by, key }, { params, body: { text, ...options } }) =>
    engine.amend(params.id, text, by, { ...options, key }),
  claim: ({ engine, by, key }, { params }) => engine.claim(params.id, by, { key }),
  release: ({ engine, by, key }, { params }) => engine.release(params.id, by, { key }),
  assign: ({ engine, by, key }, { params, body }) => engine.assign(params.id, body.to, by, { key }),
  snooze: ({ engine, by, key }, { params, body }) => engine.snooze(params.id, body.until, by, { key }),
  extend: ({ engine, by, key }, { params, body }) => engine.extend(params.id, readMs(body.by), by, { key }),
  comment: ({ engine, by, key }, { params, body }) => engine.comment(params.id, body.text, by, { key }),
  issueLink: ({ engine, by }, { params, body }) => engine.issueLink(params.id, body.person, by),
  escalate: ({ engine, by, key }, { params }) => engine.escalate(params.id, by, { key }),
  cancel: ({ engine, by, key }, { params, body }) => engine.cancel(params.id, { ...body, key }, by),
  findAsked: async ({ engine, bearer }, { query }) => ({
    rows: (await engine.findAsked(query.as)).filter(({ question }) => mayDo("look", bearer, question)),
  }),
  hold: ({ engine }, { params, body: { window, seen, ...input } }) =>
    engine.hold(params.id, { ...input, windowMs: readMs(window), seen: seen && readSeen(seen) }),
  endHold: ({ engine }, { params, body }) => engine.endHold(params.id, body.why),
  handOver: ({ engine }, { params, body }) => engine.handOver(params.id, body.epoch, body.holder),
  given: ({ engine }, { params, body }) => engine.given(params.id, body.witness, body.epoch),
};

async function ask(call: Call, { body }: RequestOf<"ask">) {
  const { run_id: _runId, run: _run, via = "api", called_at: _calledAt, ...more } = body;
  const { secrets: _secrets, epoch: _epoch, seen: _seen, holder: _holder, asked_as: _askedAs, ...raw } = more;
  if (call.key !== undefined && raw.key !== undefined && raw.key !== call.key) {
    throw new Refusal("bad_input", 'The header Idempotency-Key and the field "key" name different asks');
  }
  const isEndless = raw.timeout === "never";
  const { traceparent } = call;
  const door = { via, traceparent, ...(isEndless && { timeoutMs: "never" as const }) };
  const given = {
    ...raw,
    ...(isEndless && { timeout: undefined }),
    ...(call.key !== undefined && { key: call.key }),
  };
  const input = parseAsk(given, door, call.rules, await call.engine.now());
  return call.engine.ask(input, call.by, await askOptions(call, body));
}

/** Where an ask belongs; an agent's token that has a run asks in that one only. */
async function askOptions(call: Call, body: AskBody): Promise<AskOptions> {
  const { run_id: runId, run, epoch, called_at: calledAt, seen, secrets, holder, asked_as: askedAs } = body;
  // A program below a live run asks in that run, whatever token it found.
  const own = call.by.scope === "agent" ? call.by.runId : undefined;
  if (own !== undefined && run) throw new Refusal("not_permitted", "This token belongs to a run and makes no other");
  if (runId !== undefined) await requireOwnRun(call, runId, "ask");
  const asking = runId ?? own;
  return {
    ...(secrets && { secrets }),
    ...(epoch !== undefined && { epoch }),
    ...(calledAt !== undefined && { calledAt }),
    ...(seen && { seen: readSeen(seen) }),
    ...(holder !== undefined && { holder }),
    ...(askedAs !== undefined && { askedAs }),
    ...(asking === undefined ? { run: run && runInput(run) } : { runId: asking }),
  };
}

async function listQuestions(call: Call, { query }: RequestOf<"listQuestions">) {
  const { status, find, order, after, limit } = query;
  if (query.run) await requireOwnRun(call, query.run);
  const runId = query.run ?? (call.bearer.scope === "agent" ? call.bearer.runId : undefined);
  const found = await call.engine.listQuestions({
    ...{ order, limit },
    ...(status && { status }),
    ...(find !== undefined && { find }),
    ...(runId && { runId }),
    ...(after && { after }),
  });
  const last = found.length === limit ? found.at(-1) : undefined;
  const seen = found.filter((question) => mayDo("look", call.bearer, question));
  return {
    rows: await call.engine.readMany(seen.map(({ id }) => id)),
    ...(last && { next: last.id }),
  };
}

/** Who answers: the bearer, or with a token that may say so, somebody else. */
function answeringAs(
  { by, token }: Pick<Call, "by" | "token">,
  body: { answered_by?: string; answeredBy?: string },
): Call["by"] {
  const name = body.answered_by ?? body.answeredBy;
  if (name === undefined || !token.onBehalf) return by;
  requireVisibleLine(name, "the name of who answered");
  return inNameOf(by, name);
}

function readMs(duration: string | number): number {
  return typeof duration === "number" ? Math.round(duration * SECOND_MS) : parseDuration(duration);
}
