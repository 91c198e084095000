import { hasAccess } from "../../core/people/access.ts";
import type { RunBody } from "../../core/api/ask-body.ts";
import type { RUN_ROUTES } from "../../core/api/run-route.ts";
import type { RequestOf } from "../../core/api/table.ts";
import { Refusal } from "../../core/refusal.ts";
import type { RunInput } from "../../engine/engine.ts";
import type { NameReference } from "../../store/store.ts";
import { eventFilter, maySee } from "../events/filter.ts";
import { type RestCall, type Handlers, type WrittenVerb, ownsRun, requireOwnRun } from "./call.ts";

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
  findFeedEnd: async ({ engine }) => ({ cursor: await engine.findFeedEnd() }),
};

/** A run's description off the wire. */
export function runInput({
  external_id,
  parent_id,
  give_back,
  callback_url,
  callback_secret,
  ...run
}: RunBody): RunInput {
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
