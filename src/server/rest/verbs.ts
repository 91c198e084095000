import { hasAccess } from "../../core/people/access.ts";
import { onBehalfOf } from "../../core/people/actor.ts";
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
import { type RestCall, type Handlers, type WrittenVerb, readOwn, requireOwnRun } from "./call.ts";
import { runInput } from "./run-verbs.ts";

const LONGEST_WAIT_MS = 25 * SECOND_MS;

/** Asking and answering: the verbs that are not derived from the table. */
export const QUESTION_VERBS: Handlers<WrittenVerb<keyof typeof QUESTION_ROUTES> | "read"> = {
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
  extend: ({ engine, by, key }, { params, body }) => engine.extend(params.id, readMs(body.by), by, { key }),
  findAsked: async ({ engine, bearer }, { query }) => ({
    rows: (await engine.findAsked(query.as)).filter(({ question }) => hasAccess("look", bearer, question)),
  }),
  hold: ({ engine }, { params, body: { window, seen, ...input } }) =>
    engine.hold(params.id, { ...input, windowMs: readMs(window), seen: seen && readSeen(seen) }),
};

async function ask(call: RestCall, { body }: RequestOf<"ask">) {
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
async function askOptions(call: RestCall, body: AskBody): Promise<AskOptions> {
  const { run_id: runId, run, epoch, called_at: calledAt, seen, secrets, holder, asked_as: askedAs } = body;
  // A program below a live run asks in that run, whatever token it found.
  const own = call.by.scope === "agent" ? call.by.runId : undefined;
  if (own !== undefined && run) throw new Refusal("not_permitted", "This token belongs to a run and makes no other");
  if (runId !== undefined) await requireOwnRun(call, runId, "ask");
  const asking = runId ?? own;
  return {
    secrets,
    epoch,
    calledAt,
    seen: seen && readSeen(seen),
    holder,
    askedAs,
    ...(asking === undefined ? { run: run && runInput(run) } : { runId: asking }),
  };
}

async function listQuestions(call: RestCall, { query }: RequestOf<"listQuestions">) {
  const { status, find, order, after, limit } = query;
  if (query.run) await requireOwnRun(call, query.run);
  const runId = query.run ?? (call.bearer.scope === "agent" ? call.bearer.runId : undefined);
  const found = await call.engine.listQuestions({
    order,
    limit,
    ...(status && { status }),
    find,
    ...(runId && { runId }),
    ...(after && { after }),
  });
  const last = found.length === limit ? found.at(-1) : undefined;
  const seen = found.filter((question) => hasAccess("look", call.bearer, question));
  return {
    rows: await call.engine.readMany(seen.map(({ id }) => id)),
    ...(last && { next: last.id }),
  };
}

/** The answering actor: the bearer, or the named person if the token may act on behalf. */
function answeringAs(
  { by, token }: Pick<RestCall, "by" | "token">,
  body: { answered_by?: string; answeredBy?: string },
): RestCall["by"] {
  const name = body.answered_by ?? body.answeredBy;
  if (name === undefined || !token.onBehalf) return by;
  requireVisibleLine(name, "the name of who answered");
  return onBehalfOf(by, name);
}

function readMs(duration: string | number): number {
  return typeof duration === "number" ? Math.round(duration * SECOND_MS) : parseDuration(duration);
}
