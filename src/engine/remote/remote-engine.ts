import type { Actor } from "../../core/people/actor.ts";
import { type AnswerInput, plainAnswerInput } from "../../core/answer/answer-input.ts";
import { toRequest } from "../../core/api/argument.ts";
import { type RunBody, askBody, seenBody } from "../../core/api/ask-body.ts";
import type { Route } from "../../core/api/route.ts";
import { type DerivedVerb, type DerivedVerbs, ROUTES, type RequestOf, VERBS } from "../../core/api/table.ts";
import { MOST_RUNS } from "../../core/api/run-route.ts";
import type { AskInput } from "../../core/question/ask-input.ts";
import type { QuestionId, RunId } from "../../core/id.ts";
import { MINUTE_MS, SECOND_MS } from "../../core/instant.ts";
import type { IdempotentChange } from "../../core/trail/idempotency.ts";
import type { Away, Person, Preferences } from "../../core/people/person.ts";
import { type Question, isPending } from "../../core/question/question.ts";
import { Refusal } from "../../core/refusal.ts";
import type { StatsQuery } from "../../core/stats/stats.ts";
import type { HoldInput } from "../../core/question/hold.ts";
import type { TemplateInput } from "../../core/answer/template.ts";
import type { Token, TokenInput } from "../../core/people/token.ts";
import { NO_TROUBLES } from "../../core/run/failing-job.ts";
import type { RunUsage } from "../../core/run/usage.ts";
import type { QuestionFilter, NameReference, RunFilter } from "../../store/store.ts";
import type { AskOptions, Engine, RemovalOptions, RunInput, VerifyOptions, WaitOptions } from "../engine.ts";
import { methodsOf } from "../methods-of.ts";
import { type CallOptions, RemoteCaller, type CallerDeps, pageThrough } from "./remote-call.ts";

/** The engine of a server somewhere else: every verb is a request, most of them as the route table says. */
export function createRemoteEngine(deps: CallerDeps): Engine {
  const caller = new RemoteCaller(deps);
  const derived: DerivedVerbs = derivedVerbs(caller);
  return { ...derived, ...methodsOf<WrittenVerbs>(new RemoteVerbs(caller)) };
}

/** The verbs whose arguments the table places in a request. */
function derivedVerbs(caller: RemoteCaller) {
  const verbs = VERBS.flatMap((verb) => {
    const { takes, mayRepeat }: Route = ROUTES[verb];
    if (!takes) return [];
    const isOnce = takes.includes("once");
    const call = (...args: unknown[]) => {
      const { key, body, ...request } = toRequest(takes, args);
      // A change that has a name can be sent again when its reply was lost.
      const name = isOnce ? (key ?? caller.newKey()) : undefined;
      const isEmpty = Object.keys(body).length === 0;
      return caller.call(verb, { ...request, body: isEmpty ? undefined : body, mayRepeat, key: name });
    };
    return [[verb, call]];
  });
  return Object.fromEntries(verbs) as DerivedVerbs; // one for each derived verb
}

/** The verbs that the table cannot say, and one that an older server may not know. */
type WrittenVerbs = Omit<Engine, Exclude<DerivedVerb, "findTroubles">>;

class RemoteVerbs implements WrittenVerbs {
  readonly #caller: RemoteCaller;
  #stop: () => void = () => undefined;
  readonly #stopped = new Promise<void>((resolve) => {
    this.#stop = resolve;
  });

  constructor(caller: RemoteCaller) {
    this.#caller = caller;
  }

  ask(input: AskInput, by: Actor, options: AskOptions = {}) {
    const { runId, run, epoch, calledAt, seen, secrets, holder, askedAs } = options;
    // An ask that makes a run of its own is found again only by a key: without one, a second try would ask twice.
    const key = input.key ?? (runId === undefined ? this.#caller.newKey() : undefined);
    const body = {
      ...askBody(input),
      key,
      run_id: runId,
      run: runId === undefined && run ? runBody(run) : undefined,
      epoch,
      called_at: calledAt,
      seen: seen && seenBody(seen),
      secrets,
      holder,
      asked_as: askedAs,
    };
    return this.#caller.call("ask", { body, by, mayRepeat: true });
  }

  async wait(id: QuestionId, { until, signal }: WaitOptions) {
    for (;;) {
      try {
        const read = await this.#caller.call("wait", { params: { id }, query: { until }, signal, isPatient: true });
        if (read.question.status !== "pending" || signal?.aborted) return read;
        const { now } = await this.#caller.call("now", { signal, isPatient: true });
        if (now >= until) return read;
      } catch (error) {
        if (signal?.aborted) return this.#read(id);
        throw error;
      }
    }
  }

  answer(id: QuestionId, input: AnswerInput, by: Actor) {
    return this.#caller.call("answer", { params: { id }, ...answerBody(input), by, ...this.#once(input) });
  }

  /** Sends a reply without words, which answers nothing: the server refuses it, and records who tried. */
  async refuse(id: QuestionId, _tried: string, by: Actor) {
    await this.answer(id, plainAnswerInput(""), by).catch((error: unknown) => {
      if (!(error instanceof Refusal)) throw error;
    });
  }

  async preview(id: QuestionId, input: AnswerInput, by: Actor) {
    const options = { params: { id }, ...answerBody(input), by, mayRepeat: true };
    return (await this.#caller.call("preview", options)).text;
  }

  extend(id: QuestionId, byMs: number, by: Actor, once?: IdempotentChange) {
    return this.#caller.call("extend", { params: { id }, body: { by: `${byMs}ms` }, by, ...this.#once(once) });
  }

  async findAsked(askedAs: string) {
    return (await this.#caller.call("findAsked", { query: { as: askedAs } })).rows;
  }

  hold(id: QuestionId, { windowMs, seen, ...input }: HoldInput) {
    const body = { ...input, window: `${windowMs}ms`, seen: seen && seenBody(seen) };
    return this.#caller.call("hold", { params: { id }, body });
  }

  createRun(input: RunInput, by: Actor) {
    return this.#caller.call("createRun", { body: runBody(input), by });
  }

  issueToken(input: TokenInput, by: Actor) {
    const { scope, subject, runId, onBehalf, grants, name, expiresAt } = input;
    const body = { scope, subject, run_id: runId, on_behalf: onBehalf, grants, name, expires_at: expiresAt };
    return this.#caller.call("issueToken", { body, by });
  }

  async authenticate(text: string, channel: string): Promise<{ actor: Actor; token: Token } | undefined> {
    const options: CallOptions<"authenticate"> = { token: text, mayRepeat: true };
    const found = await orNothing("sign_in", this.#caller.call("authenticate", options));
    return found && { ...found, actor: { ...found.actor, channel } };
  }

  redeemLogin(code: string) {
    return this.#caller.call("redeemLogin", { body: { code } });
  }

  removePerson(id: string, { handOverTo, isTrial }: RemovalOptions, by: Actor) {
    const query = { hand_over_to: handOverTo, trial: isTrial ? ("true" as const) : undefined };
    return this.#caller.call("removePerson", { params: { id }, query, by });
  }

  putPerson({ id, version: _version, removed: _removed, ...body }: Person, by: Actor) {
    return this.#caller.call("putPerson", { params: { id }, body, by });
  }

  setPreferences(id: string, preferences: Preferences, by: Actor) {
    return this.#caller.call("setPreferences", { params: { id }, body: preferences, by });
  }

  setAway(id: string, away: Away | undefined, by: Actor) {
    return this.#caller.call("setAway", { params: { id }, body: { away: away ?? null }, by });
  }

  /** A server lists people only to callers that may see all. */
  async findPerson(id: string) {
    return (await this.#caller.call("listPeople", {})).find((person) => person.id === id);
  }

  putTemplate({ name, ...body }: TemplateInput, by: Actor) {
    return this.#caller.call("putTemplate", { params: { id: name }, body, by });
  }

  /** Those that cannot be read because a row of the server's store is damaged or gone are left out. */
  async readMany(ids: readonly QuestionId[]) {
    const reads = await Promise.all(
      ids.map((id) => orNothing("not_found", orNothing("store_unusable", this.#read(id)))),
    );
    return reads.filter((read) => read !== undefined);
  }

  findRun(id: RunId) {
    return orNothing("not_found", this.#caller.call("findRun", { params: { id } }));
  }

  lookUp(ref: NameReference, limit: number) {
    const text = ref.by === "number" ? String(ref.number) : ref.text;
    return this.#caller.call("lookUp", { query: { by: ref.by, text, limit } });
  }

  async listQuestions({ runId, limit, isClosed, ...filter }: QuestionFilter) {
    const reads = await pageThrough(limit, filter.after, (page) =>
      this.#caller.call("listQuestions", { query: { ...filter, run: runId, ...page } }),
    );
    const questions = reads.map(({ question }) => question);
    return isClosed ? questions.filter((question) => !isPending(question)) : questions;
  }

  listRuns({ statuses, parentId, endedSince, limit, order, after }: RunFilter) {
    const filter = { status: statuses?.join(","), parent: parentId, ended_since: endedSince, order };
    return pageThrough(limit, after, (page) => this.#caller.call("listRuns", { query: { ...filter, ...page } }));
  }

  async usageOf(ids: readonly RunId[]) {
    const usage: RunUsage[] = [];
    for (let at = 0; at < ids.length; at += MOST_RUNS) {
      const runs = ids.slice(at, at + MOST_RUNS).join(",");
      usage.push(...(await this.#caller.call("usageOf", { query: { runs } })));
    }
    return usage;
  }

  async countQuestions(status: Question["status"]) {
    return (await this.#caller.call("countQuestions", { query: { status } })).count;
  }

  stats({ aheadMs, ...query }: StatsQuery = {}) {
    const ahead = aheadMs === undefined ? undefined : aheadMs / MINUTE_MS;
    return this.#caller.call("stats", { query: { ...query, ahead_minutes: ahead } });
  }

  async readChain(runId: RunId) {
    return (await this.#caller.call("readChain", { params: { id: runId } })).rows;
  }

  async readFeed(after: string, limit: number) {
    return (await this.#caller.call("readFeed", { query: { after: after || "0", limit } })).rows;
  }

  async readNewest(before: string | undefined, limit: number) {
    return (await this.#caller.call("readNewest", { query: { before, limit } })).rows;
  }

  async findFeedEnd() {
    return (await this.#caller.call("findFeedEnd", {})).cursor;
  }

  async verify({ anchors = [] }: VerifyOptions = {}) {
    if (anchors.length > 0) throw notFromHere("compared with anchors");
    return this.#caller.call("verify", {});
  }

  async seal(): Promise<never> {
    throw notFromHere("sealed");
  }

  /** None if the caller may not see them or the server is too old to know the route. */
  async findTroubles() {
    const found = orNothing("not_permitted", this.#caller.call("findTroubles", {}));
    return (await orNothing("not_found", found)) ?? NO_TROUBLES;
  }

  /** The server reports them with its troubles. */
  listUnreadable() {
    return [];
  }

  async now() {
    return (await this.#caller.call("now", {})).now;
  }

  /** The server does due jobs by itself; only an admin can have them done at once. */
  async doDue() {
    const doing = orNothing("store_unreachable", this.#caller.call("doDue", {}));
    return (await orNothing("not_permitted", doing))?.done ?? 0;
  }

  /** The server does the jobs; this only waits until it is stopped. */
  work() {
    return this.#stopped;
  }

  async stop() {
    this.#stop();
  }

  #read(id: QuestionId) {
    return this.#caller.call("read", { params: { id } });
  }

  /** Names a change, so that it can be sent again when its reply was lost. */
  #once({ key }: IdempotentChange = {}): { key: string } {
    return { key: key ?? this.#caller.newKey() };
  }
}

/** A run's description for the wire. */
function runBody(input: RunInput): RunBody {
  const { id: _id, measured: _measured, externalId, parentId, giveBack, callback, ...run } = input;
  return {
    ...run,
    external_id: externalId,
    parent_id: parentId,
    give_back: giveBack,
    callback_url: callback?.url,
    callback_secret: callback?.secret,
  };
}

/** An answer for the wire, with the state of the question that it was meant for. */
function answerBody({ undoMs, ifVersion, key: _key, ...input }: AnswerInput): {
  body: RequestOf<"answer">["body"];
  ifVersion: number | undefined;
} {
  return { body: { ...input, undo_window: undoMs / SECOND_MS }, ifVersion };
}

async function orNothing<Found>(code: Refusal["code"], looking: Promise<Found>) {
  try {
    return await looking;
  } catch (error) {
    if (error instanceof Refusal && error.code === code) return undefined;
    throw error;
  }
}

/** Seals are read where the store is: an attacker on the server could change what it reports. */
function notFromHere(done: string) {
  return new Refusal("bad_input", `The trail of a server is ${done} on its machine only`, {
    hint: "Type the command there, or name the store with --store",
  });
}
