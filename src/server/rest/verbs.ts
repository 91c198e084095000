import { hasAccess } from "../../core/people/access.ts";
import { actorName, onBehalfOf } from "../../core/people/actor.ts";
import { parseAnswer } from "../../core/answer/answer-input.ts";
import { type AskBody, readSeen, type RunBody } from "../../core/api/ask-body.ts";
import type { QUESTION_ROUTES } from "../../core/api/question-route.ts";
import type { RequestOf } from "../../core/api/table.ts";
import { parseAsk } from "../../core/question/ask-input.ts";
import { parseDuration } from "../../core/text/duration.ts";
import { SECOND_MS, earlier, later, MINUTE_MS } from "../../core/instant.ts";
import { Refusal } from "../../core/refusal.ts";
import type { AskOptions, RunInput } from "../../engine/engine.ts";
import { type RestCall, type Handlers, type WrittenVerb, readOwn, requireOwnRun, ownsRun } from "./rest-call.ts";
import type { RUN_ROUTES } from "../../core/api/run-route.ts";
import type { NameReference } from "../../store/store.ts";
import { eventFilter, maySee } from "../events/filter.ts";
import type { PEOPLE_ROUTES } from "../../core/api/people-route.ts";
import type { MEMORY_ROUTES } from "../../core/api/memory-route.ts";

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
/** Runs and what happened in them: the verbs that are not derived from the table. */
export const RUN_VERBS: Handlers<WrittenVerb<keyof typeof RUN_ROUTES>> = {
  createRun: ({ engine, by }, { body }) => engine.createRun(runInput(body), by),
  listRuns,
  findRun: async (call, { params }) => {
    await requireOwnRun(call, params.id);
    const run = await call.engine.findRun(params.id);
    if (!run) throw new Refusal("not_found", `There is no run ${params.id}`, { hint: "See all with: askd status" });
    return run;
  },
  usageOf: async (call, { query }) => {
    const owned = await Promise.all(query.runs.map((id) => ownsRun(call, id)));
    return call.engine.usageOf(query.runs.filter((_, index) => owned[index]));
  },
  readChain: async (call, { params }) => {
    await requireOwnRun(call, params.id);
    if (!maySee(call.bearer, { runId: params.id })) throw new Refusal("not_found", "There is no such run");
    return { rows: await call.engine.readChain(params.id) };
  },
  lookUp,
  readFeed: async (call, { query }) => {
    const sees = await eventFilter(call, query);
    const page = await call.engine.readFeed(query.after, query.limit);
    const last = page.at(-1);
    return { rows: page.filter(({ event }) => sees(event)), ...(last && { next: last.cursor }) };
  },
  readNewest: async ({ engine }, { query }) => {
    const rows = await engine.readNewest(query.before, query.limit);
    const last = rows.at(-1);
    return { rows, ...(last && { next: last.cursor }) };
  },
  findFeedEnd: async ({ engine }) => ({ cursor: await engine.findFeedEnd() }),
};
/** Tokens, people and the server itself: the verbs that are not derived from the table. */
export const PEOPLE_VERBS: Handlers<Exclude<WrittenVerb<keyof typeof PEOPLE_ROUTES>, "redeemLogin"> | "listPeople"> = {
  listPeople: async ({ engine, bearer }) => {
    const people = await engine.listPeople();
    if (hasAccess("manage_people", bearer)) return people;
    // Everybody may name colleagues; their addresses prove who they are, and are for admins.
    return people.map((person) => {
      const { id, version, name, groups, away } = person;
      return id === actorName(bearer) ? person : { id, version, name, groups, away };
    });
  },
  authenticate: async ({ bearer, token }) => ({ actor: bearer, token }),
  issueToken: ({ engine, by }, { body: { scope, subject, run_id, on_behalf, grants, name, expires_at } }) =>
    engine.issueToken(
      {
        scope,
        subject,
        runId: run_id,
        onBehalf: on_behalf,
        grants,
        name,
        expiresAt: expires_at,
      },
      by,
    ),
  removePerson: ({ engine, by }, { params, query }) =>
    engine.removePerson(params.id, { handOverTo: query.hand_over_to, isTrial: query.trial === "true" }, by),
  setAway: ({ engine, by }, { params, body }) => engine.setAway(params.id, body.away ?? undefined, by),
  setPreferences: ({ engine, by }, { params, body }) => engine.setPreferences(params.id, body, by),
  putPerson: ({ engine, by }, { params, body }) => engine.putPerson({ ...body, id: params.id, version: 0 }, by),
  verify: async ({ engine }) => {
    const { runs, events, seals, problems } = await engine.verify();
    return { runs, events, seals, problems };
  },
  now: async ({ engine }) => ({ now: await engine.now() }),
  doDue: async ({ engine }) => ({ done: await engine.doDue() }),
};
/** Templates and statistics: the verbs that are not derived from the table. */
export const MEMORY_VERBS: Handlers<WrittenVerb<keyof typeof MEMORY_ROUTES>> = {
  stats: ({ engine }, { query: { since, until, repo, agent, ahead_minutes: ahead } }) =>
    engine.stats({ aheadMs: ahead * MINUTE_MS, since, until, repo, agent }),
  putTemplate: ({ engine, by }, { params, body }) => engine.putTemplate({ ...body, name: params.id }, by),
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
) {
  const name = body.answered_by ?? body.answeredBy;
  if (name === undefined || !token.onBehalf) return by;
  return onBehalfOf(by, name);
}

function readMs(duration: string | number) {
  return typeof duration === "number" ? Math.round(duration * SECOND_MS) : parseDuration(duration);
}

/** A run's description off the wire. */
function runInput({ external_id, parent_id, give_back, callback_url, callback_secret, ...run }: RunBody): RunInput {
  if ((callback_url === undefined) !== (callback_secret === undefined)) {
    throw new Refusal("bad_input", "A callback needs both callback_url and callback_secret");
  }
  return {
    ...run,
    externalId: external_id,
    parentId: parent_id,
    giveBack: give_back,
    ...(callback_url !== undefined &&
      callback_secret !== undefined && { callback: { url: callback_url, secret: callback_secret } }),
  };
}

async function listRuns({ engine, bearer }: RestCall, { query }: RequestOf<"listRuns">) {
  const { status, parent, ended_since: endedSince, order, after, limit } = query;
  if (bearer.scope === "agent") {
    const own = bearer.runId && (await engine.findRun(bearer.runId));
    return { rows: own && (!status || status.includes(own.status)) ? [own] : [] };
  }
  const rows = await engine.listRuns({
    order,
    limit,
    ...(status && { statuses: status }),
    ...(parent && { parentId: parent }),
    ...(endedSince && { endedSince }),
    ...(after && { after }),
  });
  const last = rows.length === limit ? rows.at(-1) : undefined;
  return { rows, ...(last && { next: last.id }) };
}

async function lookUp(call: RestCall, { query }: RequestOf<"lookUp">) {
  const found = await call.engine.lookUp(refOf(query), query.limit);
  const owned = await Promise.all(found.runs.map(({ id }) => ownsRun(call, id)));
  return {
    runs: found.runs.filter((_, index) => owned[index]),
    questions: found.questions.filter((question) => hasAccess("look", call.bearer, question)),
  };
}

function refOf({ by, text }: RequestOf<"lookUp">["query"]): NameReference {
  if (by !== "number") return { by, text };
  const number = Number(text);
  if (Number.isSafeInteger(number)) return { by, number };
  throw new Refusal("bad_input", "The number of a run has only digits");
}
