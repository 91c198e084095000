import type { Actor } from "../../core/people/actor.ts";
import type { AnswerInput } from "../../core/answer/answer-input.ts";
import { askBody, seenBody } from "../../core/api/ask-body.ts";
import { MOST_RUNS } from "../../core/api/run-route.ts";
import type { AskInput } from "../../core/question/ask-input.ts";
import type { CancelInput } from "../../core/question/cancel.ts";
import type { Read } from "../../core/changes.ts";
import type { KeptEvent } from "../../core/trail/event.ts";
import type { QuestionId, RunId } from "../../core/id.ts";
import { type Instant, MINUTE_MS } from "../../core/instant.ts";
import type { RunResult } from "../../core/run/run-lifecycle.ts";
import type { Machine } from "../../core/run/machine.ts";
import type { Once } from "../../core/trail/idempotency.ts";
import type { Person } from "../../core/people/person.ts";
import { type Question, isPending } from "../../core/question/question.ts";
import { Refusal } from "../../core/refusal.ts";
import type { Removal } from "../../core/people/removal.ts";
import type { Run } from "../../core/run/run.ts";
import type { Similar } from "../../core/answer/similar.ts";
import type { Stats, StatsQuery } from "../../core/stats/stats.ts";
import type { HoldInput } from "../../core/question/take-hold.ts";
import type { Template, TemplateInput } from "../../core/answer/template.ts";
import type { Token, TokenInput } from "../../core/people/token.ts";
import { NO_TROUBLES, type Troubles } from "../../core/run/trouble.ts";
import type { RunUsage } from "../../core/run/usage.ts";
import type { QuestionFilter, Ref, RunFilter } from "../../store/store.ts";
import type {
  AmendOptions,
  AskOptions,
  Done,
  Engine,
  RemovalOptions,
  RunInput,
  Verified,
  VerifyOptions,
  WaitOptions,
} from "../engine.ts";
import { type CallOptions, Caller, type CallerDeps } from "./remote-call.ts";
import { answerBody, pageThrough, runBody } from "./remote-body.ts";

/** The engine of a server somewhere else. It does nothing itself; whoever has the store does. */
export class RemoteEngine implements Engine {
  readonly #caller: Caller;
  #stop: () => void = () => undefined;
  readonly #stopped = new Promise<void>((resolve) => {
    this.#stop = resolve;
  });

  constructor(deps: CallerDeps) {
    this.#caller = new Caller(deps);
  }

  ask(input: AskInput, by: Actor, options: AskOptions = {}): Promise<Done> {
    const { runId, run, epoch, calledAt, seen, secrets, holder, askedAs } = options;
    // An ask that makes a run of its own is found again only by a key: without one, a second try would ask twice.
    const key = input.key ?? (runId === undefined ? this.#caller.newKey() : undefined);
    const body = {
      ...askBody(input),
      ...(key !== undefined && { key }),
      ...(runId !== undefined && { run_id: runId }),
      ...(runId === undefined && run && { run: runBody(run) }),
      ...(epoch !== undefined && { epoch }),
      ...(calledAt !== undefined && { called_at: calledAt }),
      ...(seen && { seen: seenBody(seen) }),
      ...(secrets && { secrets: [...secrets] }),
      ...(holder !== undefined && { holder }),
      ...(askedAs !== undefined && { asked_as: askedAs }),
    };
    return this.#caller.call("ask", { body, by, mayRepeat: true });
  }

  async wait(id: QuestionId, { until, signal }: WaitOptions): Promise<Read> {
    for (;;) {
      try {
        const read = await this.#caller.call("wait", { params: { id }, query: { until }, signal, isPatient: true });
        if (read.question.status !== "pending" || signal?.aborted) return read;
        const { now } = await this.#caller.call("now", { signal, isPatient: true });
        if (now >= until) return read;
      } catch (error) {
        if (signal?.aborted) return this.read(id);
        throw error;
      }
    }
  }

  answer(id: QuestionId, input: AnswerInput, by: Actor): Promise<Done> {
    return this.#caller.call("answer", { params: { id }, ...answerBody(input), by, ...this.#once(input) });
  }

  /** The server that refuses is the one that writes it down. */
  refuse(): Promise<void> {
    return Promise.resolve();
  }

  async preview(id: QuestionId, input: AnswerInput, by: Actor): Promise<string> {
    const options = { params: { id }, ...answerBody(input), by, mayRepeat: true };
    return (await this.#caller.call("preview", options)).text;
  }

  undo(id: QuestionId, by: Actor, once?: Once): Promise<Read> {
    return this.#caller.call("undo", { params: { id }, by, ...this.#once(once) });
  }

  amend(id: QuestionId, text: string, by: Actor, options: AmendOptions = {}): Promise<Read> {
    const { resume, confirmed, ...once } = options;
    return this.#caller.call("amend", { params: { id }, body: { text, resume, confirmed }, by, ...this.#once(once) });
  }

  claim(id: QuestionId, by: Actor, once?: Once): Promise<Read> {
    return this.#caller.call("claim", { params: { id }, by, ...this.#once(once) });
  }

  release(id: QuestionId, by: Actor, once?: Once): Promise<Read> {
    return this.#caller.call("release", { params: { id }, by, ...this.#once(once) });
  }

  assign(id: QuestionId, to: readonly string[], by: Actor, once?: Once): Promise<Read> {
    return this.#caller.call("assign", { params: { id }, body: { to: [...to] }, by, ...this.#once(once) });
  }

  snooze(id: QuestionId, until: Instant, by: Actor, once?: Once): Promise<Read> {
    return this.#caller.call("snooze", { params: { id }, body: { until }, by, ...this.#once(once) });
  }

  extend(id: QuestionId, byMs: number, by: Actor, once?: Once): Promise<Read> {
    return this.#caller.call("extend", { params: { id }, body: { by: `${byMs}ms` }, by, ...this.#once(once) });
  }

  comment(id: QuestionId, text: string, by: Actor, once?: Once): Promise<Read> {
    return this.#caller.call("comment", { params: { id }, body: { text }, by, ...this.#once(once) });
  }

  escalate(id: QuestionId, by: Actor, once?: Once): Promise<Read> {
    return this.#caller.call("escalate", { params: { id }, by, ...this.#once(once) });
  }

  cancel(id: QuestionId, input: CancelInput & Once, by: Actor): Promise<Read> {
    const { reason, resume, confirmed, ...once } = input;
    return this.#caller.call("cancel", {
      params: { id },
      body: { reason, resume, confirmed },
      by,
      ...this.#once(once),
    });
  }

  async findAsked(askedAs: string): Promise<Read[]> {
    return (await this.#caller.call("findAsked", { query: { as: askedAs } })).rows;
  }

  hold(id: QuestionId, { windowMs, seen, ...input }: HoldInput): Promise<Done> {
    const body = { ...input, window: `${windowMs}ms`, ...(seen && { seen: seenBody(seen) }) };
    return this.#caller.call("hold", { params: { id }, body });
  }

  endHold(id: QuestionId, why: "window" | "gone"): Promise<Read> {
    return this.#caller.call("endHold", { params: { id }, body: { why }, mayRepeat: true });
  }

  handOver(id: QuestionId, epoch?: number, holder?: string): Promise<Read> {
    return this.#caller.call("handOver", { params: { id }, body: { epoch, holder }, mayRepeat: true });
  }

  given(id: QuestionId, witness: string, epoch?: number): Promise<Read> {
    return this.#caller.call("given", { params: { id }, body: { witness, epoch }, mayRepeat: true });
  }

  createRun(input: RunInput, by: Actor): Promise<Run> {
    return this.#caller.call("createRun", { body: runBody(input), by });
  }

  startRun(id: RunId, by: Actor): Promise<Run> {
    return this.#caller.call("startRun", { params: { id }, by });
  }

  endRun(id: RunId, result: RunResult, by: Actor): Promise<Run> {
    return this.#caller.call("endRun", { params: { id }, body: result, by, mayRepeat: true });
  }

  cancelRun(id: RunId, by: Actor, reason?: string): Promise<Run> {
    return this.#caller.call("cancelRun", { params: { id }, body: { reason }, by });
  }

  resumeRun(id: RunId, by: Actor, options: { host?: string } = {}): Promise<Run> {
    return this.#caller.call("resumeRun", { params: { id }, body: options, by });
  }

  issueToken(input: TokenInput, by: Actor): Promise<{ text: string; token: Token }> {
    const { scope, subject, runId, onBehalf, grants, name, expiresAt } = input;
    const body = { scope, subject, run_id: runId, on_behalf: onBehalf, grants, name, expires_at: expiresAt };
    return this.#caller.call("issueToken", { body, by });
  }

  issueLink(id: QuestionId, person: string, by: Actor): Promise<{ text: string; token: Token }> {
    return this.#caller.call("issueLink", { params: { id }, body: { person }, by });
  }

  async authenticate(text: string, channel: string): Promise<{ actor: Actor; token: Token } | undefined> {
    const options: CallOptions<"authenticate"> = { token: text, mayRepeat: true };
    const found = await orNothing("sign_in", this.#caller.call("authenticate", options));
    return found && { ...found, actor: { ...found.actor, channel } };
  }

  redeemLogin(code: string): Promise<{ text: string; token: Token }> {
    return this.#caller.call("redeemLogin", { body: { code } });
  }

  revokeToken(id: string, by: Actor): Promise<Token> {
    return this.#caller.call("revokeToken", { params: { id }, by });
  }

  handOverToken(id: string, to: string, by: Actor): Promise<Token> {
    return this.#caller.call("handOverToken", { params: { id }, body: { to }, by });
  }

  listTokens(by: Actor): Promise<Token[]> {
    return this.#caller.call("listTokens", { by });
  }

  removePerson(id: string, { handOverTo, isTrial }: RemovalOptions, by: Actor): Promise<Removal> {
    const query = { hand_over_to: handOverTo, trial: isTrial ? ("true" as const) : undefined };
    return this.#caller.call("removePerson", { params: { id }, query, by });
  }

  putPerson({ id, version: _version, removed: _removed, ...body }: Person, by: Actor): Promise<Person> {
    return this.#caller.call("putPerson", { params: { id }, body, by });
  }

  listPeople(): Promise<Person[]> {
    return this.#caller.call("listPeople", {});
  }

  /** A server tells of people only to those who may see all. */
  async findPerson(id: string): Promise<Person | undefined> {
    return (await this.listPeople()).find((person) => person.id === id);
  }

  putTemplate({ name, ...body }: TemplateInput, by: Actor): Promise<Template> {
    return this.#caller.call("putTemplate", { params: { id: name }, body, by });
  }

  listTemplates(): Promise<Template[]> {
    return this.#caller.call("listTemplates", {});
  }

  removeTemplate(name: string, by: Actor): Promise<Template> {
    return this.#caller.call("removeTemplate", { params: { id: name }, by });
  }

  read(id: QuestionId): Promise<Read> {
    return this.#caller.call("read", { params: { id } });
  }

  readMany(ids: readonly QuestionId[]): Promise<Read[]> {
    return Promise.all(ids.map((id) => this.read(id)));
  }

  findSimilar(id: QuestionId, limit: number): Promise<Similar[]> {
    return this.#caller.call("findSimilar", { params: { id }, query: { limit } });
  }

  findRun(id: RunId): Promise<Run | undefined> {
    return orNothing("not_found", this.#caller.call("findRun", { params: { id } }));
  }

  lookUp(ref: Ref, limit: number): Promise<{ runs: Run[]; questions: Question[] }> {
    const text = ref.by === "number" ? String(ref.number) : ref.text;
    return this.#caller.call("lookUp", { query: { by: ref.by, text, limit } });
  }

  async listQuestions({ runId, limit, isClosed, ...filter }: QuestionFilter): Promise<Question[]> {
    const reads = await pageThrough(limit, filter.after, (page) =>
      this.#caller.call("listQuestions", { query: { ...filter, run: runId, ...page } }),
    );
    const questions = reads.map(({ question }) => question);
    return isClosed ? questions.filter((question) => !isPending(question)) : questions;
  }

  listRuns({ statuses, parentId, endedSince, limit, order, after }: RunFilter): Promise<Run[]> {
    const filter = { status: statuses?.join(","), parent: parentId, ended_since: endedSince, order };
    return pageThrough(limit, after, (page) => this.#caller.call("listRuns", { query: { ...filter, ...page } }));
  }

  async usageOf(ids: readonly RunId[]): Promise<RunUsage[]> {
    const usage: RunUsage[] = [];
    for (let at = 0; at < ids.length; at += MOST_RUNS) {
      const runs = ids.slice(at, at + MOST_RUNS).join(",");
      usage.push(...(await this.#caller.call("usageOf", { query: { runs } })));
    }
    return usage;
  }

  listMachines(): Promise<Machine[]> {
    return this.#caller.call("listMachines", {});
  }

  async countQuestions(status: Question["status"]): Promise<number> {
    return (await this.#caller.call("countQuestions", { query: { status } })).count;
  }

  stats({ aheadMs, ...query }: StatsQuery = {}): Promise<Stats> {
    const ahead = aheadMs === undefined ? undefined : aheadMs / MINUTE_MS;
    return this.#caller.call("stats", { query: { ...query, ahead_minutes: ahead } });
  }

  async readChain(runId: RunId): Promise<KeptEvent[]> {
    return (await this.#caller.call("readChain", { params: { id: runId } })).rows;
  }

  async readFeed(after: string, limit: number): Promise<KeptEvent[]> {
    return (await this.#caller.call("readFeed", { query: { after: after || "0", limit } })).rows;
  }

  async findFeedEnd(): Promise<string> {
    return (await this.#caller.call("findFeedEnd", {})).cursor;
  }

  async verify({ anchors = [] }: VerifyOptions = {}): Promise<Verified> {
    if (anchors.length > 0) throw notFromHere("compared with anchors");
    return this.#caller.call("verify", {});
  }

  async seal(): Promise<never> {
    throw notFromHere("sealed");
  }

  /** A server tells of them only to people, and an older one to nobody: then nothing is known. */
  async findTroubles(): Promise<Troubles> {
    const found = orNothing("not_permitted", this.#caller.call("findTroubles", {}));
    return (await orNothing("not_found", found)) ?? NO_TROUBLES;
  }

  async now(): Promise<Instant> {
    return (await this.#caller.call("now", {})).now;
  }

  /** The server does what falls due by itself, also when it is away now; only an admin can have it done at once. */
  async doDue(): Promise<number> {
    const doing = orNothing("store_unreachable", this.#caller.call("doDue", {}));
    return (await orNothing("not_permitted", doing))?.done ?? 0;
  }

  /** The server does the jobs; here is only waited until this is stopped. */
  work(): Promise<void> {
    return this.#stopped;
  }

  async stop(): Promise<void> {
    this.#stop();
  }

  /** Names a change, so that it can be sent again when its reply was lost. */
  #once({ key }: Once = {}): { key: string } {
    return { key: key ?? this.#caller.newKey() };
  }
}

async function orNothing<Found>(code: Refusal["code"], looking: Promise<Found>): Promise<Found | undefined> {
  try {
    return await looking;
  } catch (error) {
    if (error instanceof Refusal && error.code === code) return undefined;
    throw error;
  }
}

/** Who may change the server may change what it says of its seals: they are read where the store is. */
function notFromHere(done: string): Refusal {
  return new Refusal("bad_input", `The trail of a server is ${done} on its machine only`, {
    hint: "Type the command there, or name the store with --store",
  });
}
