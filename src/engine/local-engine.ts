import type { Actor } from "../core/people/actor.ts";
import { amend } from "../core/answer/amend.ts";
import { answer, recordLate, recordRefused } from "../core/answer/answer.ts";
import type { AnswerInput } from "../core/answer/answer-input.ts";
import type { AskInput } from "../core/question/ask-input.ts";
import { type CancelInput, cancel } from "../core/question/cancel.ts";
import type { At, Changes, Entry, Read, Seal } from "../core/changes.ts";
import { assign, claim, comment, release, snooze } from "../core/question/claim.ts";
import { SYSTEM } from "../core/people/actor.ts";
import type { KeptEvent } from "../core/trail/event.ts";
import { DELIMITER_BYTES, delimiterFrom, quoteName } from "../core/text/foreign-text.ts";
import { give, handOver } from "../core/run/handover.ts";
import { endHold } from "../core/hold.ts";
import type { QuestionId, RunId } from "../core/id.ts";
import { tellAgent } from "../core/run/agent-message.ts";
import { type Instant, epochMs } from "../core/instant.ts";
import { cancelRun, endRun, queueRun, resumeRun, type RunResult, startRun } from "../core/run/run-lifecycle.ts";
import { addLink, newLink } from "../core/question/link.ts";
import type { Machine } from "../core/run/machine.ts";
import type { Once } from "../core/trail/idempotency.ts";
import type { Person } from "../core/people/person.ts";
import { type Question, isPending, namesPeople, owes } from "../core/question/question.ts";
import { Refusal } from "../core/refusal.ts";
import { type Removal, withoutVotesOf } from "../core/people/removal.ts";
import type { Run } from "../core/run/run.ts";
import { undo } from "../core/question/settle.ts";
import type { Similar } from "../core/answer/similar.ts";
import type { Stats, StatsQuery } from "../core/stats/stats.ts";
import { type HoldInput, takeHold } from "../core/question/take-hold.ts";
import type { Template, TemplateInput } from "../core/answer/template.ts";
import { escalate, extend } from "../core/question/timeout.ts";
import type { Token, TokenInput } from "../core/people/token.ts";
import type { Troubles } from "../core/run/trouble.ts";
import type { RunUsage } from "../core/run/usage.ts";
import type { QuestionFilter, Ref, RunFilter, Store } from "../store/store.ts";
import { type ClockMachine, ClockWatch } from "./jobs/clock-watch.ts";
import { type NamedChange, changeOnce } from "./change-once.ts";
import { Decider, type DecideDeps } from "./decide.ts";
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
} from "./engine.ts";
import { scheduleSeals, sealTrail } from "./jobs/seal-job.ts";
import { readAsked } from "./asked-entry.ts";
import { keepAsk } from "./keep-ask.ts";
import { newRun } from "./new-run.ts";
import { People, TOKEN_BYTES } from "./people/people.ts";
import { removeFromList } from "./people/remove-person.ts";
import { ReplyLimit } from "./reply-limit.ts";
import { Room } from "./pending-limit.ts";
import { Precedents } from "./stats/precedents.ts";
import { Ledger } from "./stats/stats-cache.ts";
import { listMachines } from "./machines.ts";
import { moveTo } from "./move-run.ts";
import { countStats } from "./stats/count-stats.ts";
import { Templates } from "./templates.ts";
import { findTroubles } from "./jobs/troubles.ts";
import { allQuestions, verify } from "./trail/verify.ts";
import { waitFor } from "./wait-for.ts";
import { Waiters } from "./waiters.ts";
import { readUsage } from "./usage.ts";
import { WordFollower } from "./stats/word-follower.ts";
import { type Work, Worker, type WorkerDeps } from "./jobs/worker.ts";

type Decide = (read: Read, at: At) => Changes;

const NOBODY: ReadonlySet<string> = new Set();

export interface LocalDeps extends DecideDeps {
  randomBytes: (count: number) => Uint8Array;
  /** The store's time, which the store itself said not long ago. */
  checkedNow: () => Promise<Instant>;
  /** How jobs are done, by kind; what is not in the table is left to others. */
  worker: Omit<WorkerDeps, "store" | "decider" | "clock">;
  /** This machine and its real time. */
  machine: ClockMachine;
  /** Agents that this process follows, and how it lets go of them before the store is closed. */
  runner?: {
    readonly count: number;
    begin(work: Pick<Work, "store" | "decider">): Promise<void>;
    leave(): Promise<void>;
  };
}

/** The engine that writes to a store of its own. There is no other writer. */
export class LocalEngine implements Engine {
  readonly #deps: LocalDeps;
  readonly #store: Store;
  readonly #decider: Decider;
  readonly #waiters = new Waiters();
  readonly #worker: Worker;
  readonly #people: People;
  readonly #replies: ReplyLimit;
  readonly #room: Room;
  readonly #templates: Templates;
  readonly #words: WordFollower;
  readonly #precedents: Precedents;
  readonly #ledger: Ledger;
  readonly #stopListening: () => void;

  constructor(deps: LocalDeps) {
    this.#deps = deps;
    this.#store = deps.store;
    this.#decider = new Decider(deps);
    this.#worker = new Worker({
      ...{ ...deps.worker, store: deps.store, decider: this.#decider },
      clock: new ClockWatch({ ...deps, decider: this.#decider }),
      prepare: () => scheduleSeals(deps.store, this.#decider),
      begin: async () => deps.runner?.begin({ store: deps.store, decider: this.#decider }),
    });
    this.#people = new People({ store: deps.store, now: deps.now, randomBytes: deps.randomBytes });
    this.#room = new Room(deps.store, deps.rules.limits.pending);
    this.#templates = new Templates({ store: deps.store, at: (by) => this.#decider.at(by) });
    this.#words = new WordFollower({ store: deps.store });
    this.#precedents = new Precedents({ store: deps.store, words: this.#words, rows: this.#decider.rows });
    this.#ledger = new Ledger(deps.store);
    this.#replies = new ReplyLimit(deps.rules.limits.repliesPerMinute);
    this.#stopListening = deps.store.onChange((change) => {
      this.#decider.rows.forgetChanged(change);
      this.#precedents.noteChange();
      this.#words.noteChange();
      this.#waiters.wake(change);
    });
  }

  /** Questions that callers in this process wait for. */
  get holds(): number {
    return this.#waiters.count;
  }

  /** Agents that this process follows. */
  carried(): number {
    return this.#deps.runner?.count ?? 0;
  }

  /** The rows in which the workers on this store say that they are there. */
  listWorkerRows(): Promise<Entry[]> {
    return this.#store.listEntries("worker");
  }

  async ask(input: AskInput, by: Actor, options: AskOptions = {}): Promise<Done> {
    await this.#room.require();
    return keepAsk({ store: this.#store, decider: this.#decider }, input, by, options);
  }

  wait(id: QuestionId, options: WaitOptions): Promise<Read> {
    const { now, machine } = this.#deps;
    return waitFor(id, options, {
      ...{ waiters: this.#waiters, now, uptimeMs: () => machine.uptimeMs() },
      recall: (each) => this.#decider.rows.recall(each),
      read: (each) => this.read(each),
    });
  }

  async answer(id: QuestionId, input: AnswerInput, by: Actor): Promise<Done> {
    this.#replies.count(by, id, epochMs(this.#deps.now()));
    try {
      // Only votes are counted again; most questions need one answer.
      const needsVotes = (this.#decider.rows.recall(id)?.question.approvals.need ?? 2) > 1;
      const gone = needsVotes ? await this.#people.listRemoved() : NOBODY;
      return await this.#changeOnce(
        ["answer", { ...input, key: undefined }],
        { id, by, key: input.key },
        ({ question, ...before }, at) =>
          answer({ ...before, question: withoutVotesOf(question, gone) }, input, {
            ...at,
            isTaken: this.#waiters.hasTaker(id),
          }),
      );
    } catch (error) {
      if (error instanceof Refusal && error.code === "not_pending") {
        await this.#decider.commit(recordLate(await this.read(id), input, this.#decider.at(by)));
      }
      throw error;
    }
  }

  async refuse(id: QuestionId, tried: string, by: Actor): Promise<void> {
    this.#replies.count(by, id, epochMs(this.#deps.now()));
    await this.#decider.commit(recordRefused(await this.read(id), tried, this.#decider.at(by)));
  }

  async preview(id: QuestionId, input: AnswerInput, by: Actor): Promise<string> {
    const read = await this.#decider.withPeople(await this.read(id));
    const changes = answer(read, { ...input, undoMs: 0 }, this.#decider.at(by));
    const question = changes.questions?.[0] ?? read.question;
    const delimiter = delimiterFrom(this.#deps.randomBytes(DELIMITER_BYTES));
    return tellAgent({ delimiter, reads: [{ ...read, question }] });
  }

  undo(id: QuestionId, by: Actor, once?: Once): Promise<Read> {
    return this.#changeOnce(["undo"], { id, by, ...once }, undo);
  }

  amend(id: QuestionId, text: string, by: Actor, options: AmendOptions = {}): Promise<Read> {
    const { resume = false, confirmed = false, key } = options;
    return this.#changeOnce(["amend", text, resume], { id, by, key }, (read, at) =>
      amend(read, text, at, { resume, confirmed }),
    );
  }

  claim(id: QuestionId, by: Actor, once?: Once): Promise<Read> {
    return this.#changeOnce(["claim"], { id, by, ...once }, claim);
  }

  release(id: QuestionId, by: Actor, once?: Once): Promise<Read> {
    return this.#changeOnce(["release"], { id, by, ...once }, release);
  }

  assign(id: QuestionId, to: readonly string[], by: Actor, once?: Once): Promise<Read> {
    return this.#changeOnce(["assign", to], { id, by, ...once }, (read, at) => assign(read, to, at));
  }

  snooze(id: QuestionId, until: Instant, by: Actor, once?: Once): Promise<Read> {
    return this.#changeOnce(["snooze"], { id, by, ...once }, (read, at) => snooze(read, until, at));
  }

  extend(id: QuestionId, byMs: number, by: Actor, once?: Once): Promise<Read> {
    return this.#changeOnce(["extend", byMs], { id, by, ...once }, (read, at) => extend(read, byMs, at));
  }

  comment(id: QuestionId, text: string, by: Actor, once?: Once): Promise<Read> {
    return this.#changeOnce(["comment", text], { id, by, ...once }, (read, at) => comment(read, text, at));
  }

  escalate(id: QuestionId, by: Actor, once?: Once): Promise<Read> {
    return this.#changeOnce(["escalate"], { id, by, ...once }, escalate);
  }

  cancel(id: QuestionId, input: CancelInput & Once, by: Actor): Promise<Read> {
    const { reason, resume, key } = input;
    return this.#changeOnce(["cancel", reason, resume], { id, by, key }, (read, at) => cancel(read, input, at));
  }

  async findAsked(askedAs: string): Promise<Read[]> {
    const reads = await this.readMany(readAsked(await this.#store.findEntry("ask", askedAs)));
    const pending = reads.filter(({ question }) => isPending(question));
    return [...reads.filter(({ question }) => !isPending(question) && owes(question)), ...pending];
  }

  async hold(id: QuestionId, input: HoldInput): Promise<Done> {
    let isNew = false;
    const read = await this.#change(id, SYSTEM, (before, at) => {
      const changes = takeHold(before, input, at);
      isNew = changes.questions !== undefined;
      return changes;
    });
    return { ...read, isNew };
  }

  endHold(id: QuestionId, why: "window" | "gone"): Promise<Read> {
    return this.#change(id, SYSTEM, (read, at) => endHold(read, why, at));
  }

  handOver(id: QuestionId, epoch?: number, holder?: string): Promise<Read> {
    return this.#change(id, SYSTEM, ({ run, question }, at) =>
      handOver(run, [question], { epoch: epoch ?? run.epoch, by: "call", holder }, at),
    );
  }

  given(id: QuestionId, witness: string, epoch?: number): Promise<Read> {
    return this.#change(id, SYSTEM, (read, at) => give(read, { witness, epoch }, at));
  }

  async createRun(input: RunInput, by: Actor): Promise<Run> {
    const at = this.#decider.at(by);
    const run = newRun(input, at, { implicit: false });
    const committed = await this.#decider.commit(queueRun(run, at));
    if (committed.ok) return { ...run, version: 1, number: committed.numbers.get(run.id) ?? 0 };
    throw new Refusal(
      "key_reused",
      `There is already a run for session ${quoteName(input.session ?? "")} of ${quoteName(run.agent)}`,
    );
  }

  startRun(id: RunId, by: Actor): Promise<Run> {
    return this.#decider.changeRun(id, by, startRun);
  }

  endRun(id: RunId, result: RunResult, by: Actor): Promise<Run> {
    return this.#decider.changeRun(id, by, (read, at) => endRun(read, result, at));
  }

  cancelRun(id: RunId, by: Actor, reason = "cancelled"): Promise<Run> {
    return this.#decider.changeRun(id, by, (read, at) => cancelRun(read, reason, at));
  }

  async resumeRun(id: RunId, by: Actor, { host }: { host?: string } = {}): Promise<Run> {
    if (host !== undefined) return moveTo(host, { id, by }, { store: this.#store, decider: this.#decider });
    const asked = await allQuestions(this.#store, id);
    const people = asked.some(namesPeople) ? await this.#decider.readPeople() : undefined;
    return this.#decider.changeRun(id, by, (read, at) => resumeRun({ ...read, people }, asked, at));
  }

  issueToken(input: TokenInput, by: Actor): Promise<{ text: string; token: Token }> {
    return this.#people.issue(input, by);
  }

  async issueLink(id: QuestionId, person: string, by: Actor): Promise<{ text: string; token: Token }> {
    const random = this.#deps.randomBytes(TOKEN_BYTES);
    const { text, token } = newLink(
      { questionId: id, person, createdAt: this.#deps.now(), maker: by.scope === "system" ? undefined : by.id },
      random,
    );
    await this.#change(id, by, (read, at) => addLink(read, token, at));
    return { text, token: { ...token, version: 1 } };
  }

  authenticate(text: string, channel: string): Promise<{ actor: Actor; token: Token } | undefined> {
    return this.#people.find(text, channel);
  }

  redeemLogin(code: string, by: Actor): Promise<{ text: string; token: Token }> {
    return this.#people.redeem(code, by);
  }

  revokeToken(id: string, by: Actor): Promise<Token> {
    return this.#people.revoke(id, by);
  }

  handOverToken(id: string, to: string, by: Actor): Promise<Token> {
    return this.#people.handOver(id, to, by);
  }

  listTokens(by: Actor): Promise<Token[]> {
    return this.#people.listTokens(by);
  }

  putPerson(person: Person, by: Actor): Promise<Person> {
    return this.#people.put(person, by);
  }

  removePerson(id: string, options: RemovalOptions, by: Actor): Promise<Removal> {
    return removeFromList({ store: this.#store, decider: this.#decider }, { id, ...options }, by);
  }

  listPeople(): Promise<Person[]> {
    return this.#people.list();
  }

  findPerson(id: string): Promise<Person | undefined> {
    return this.#people.findPerson(id);
  }

  putTemplate(input: TemplateInput, by: Actor): Promise<Template> {
    return this.#templates.put(input, by);
  }

  listTemplates(): Promise<Template[]> {
    return this.#templates.list();
  }

  removeTemplate(name: string, by: Actor): Promise<Template> {
    return this.#templates.remove(name, by);
  }

  read(id: QuestionId): Promise<Read> {
    return this.#decider.rows.read(id);
  }

  readMany(ids: readonly QuestionId[]): Promise<Read[]> {
    return this.#decider.rows.readMany(ids);
  }

  findSimilar(id: QuestionId, limit: number): Promise<Similar[]> {
    return this.#precedents.find(id, limit);
  }

  findRun(id: RunId): Promise<Run | undefined> {
    return this.#store.findRun(id);
  }

  lookUp(ref: Ref, limit: number): Promise<{ runs: Run[]; questions: Question[] }> {
    return this.#store.lookUp(ref, limit);
  }

  async listQuestions(filter: QuestionFilter): Promise<Question[]> {
    if (filter.find !== undefined) await this.#words.catchUp();
    return this.#store.listQuestions(filter);
  }

  listRuns(filter: RunFilter): Promise<Run[]> {
    return this.#store.listRuns(filter);
  }

  usageOf(ids: readonly RunId[]): Promise<RunUsage[]> {
    return readUsage(this.#store, ids);
  }

  listMachines(): Promise<Machine[]> {
    return listMachines(this.#store);
  }

  countQuestions(status: Question["status"]): Promise<number> {
    return this.#store.countQuestions(status);
  }

  stats(query: StatsQuery = {}): Promise<Stats> {
    return countStats(query, this.#store, this.#deps.rules, this.#ledger);
  }

  async readChain(runId: RunId): Promise<KeptEvent[]> {
    return (await this.#store.readChain(runId)).events;
  }

  readFeed(cursor: string, limit: number): Promise<KeptEvent[]> {
    return this.#store.readFeed(cursor, limit);
  }

  findFeedEnd(): Promise<string> {
    return this.#store.findFeedEnd();
  }

  verify(options: VerifyOptions = {}): Promise<Verified> {
    return verify(this.#store, options);
  }

  async seal(): Promise<Seal | undefined> {
    return sealTrail(this.#store, await this.now());
  }

  findTroubles(): Promise<Troubles> {
    return findTroubles(this.#store);
  }

  now(): Promise<Instant> {
    return this.#deps.checkedNow();
  }

  doDue(): Promise<number> {
    return this.#worker.doDue();
  }

  async work(): Promise<void> {
    this.#words.follow();
    await this.#worker.work();
  }

  async stop(): Promise<void> {
    this.#stopListening();
    await this.#words.stop();
    await this.#worker.stop();
    await this.#deps.runner?.leave();
    await this.#decider.settled();
    await this.#store.close();
  }

  /** Changes a question once, however often a change of that key is sent. */
  #changeOnce(change: readonly unknown[], named: Omit<NamedChange, "change">, decide: Decide): Promise<Done> {
    const deps = {
      store: this.#store,
      read: (id: QuestionId) => this.read(id),
      change: (id: QuestionId, by: Actor, decided: Decide) => this.#change(id, by, decided),
    };
    return changeOnce(deps, { ...named, change }, decide);
  }

  /** Changes a question. Who may not do so is refused, and that they tried stays in the trail. */
  async #change(id: QuestionId, by: Actor, decide: Decide): Promise<Read> {
    try {
      return await this.#decider.changeQuestion(id, by, decide);
    } catch (error) {
      if (error instanceof Refusal && (error.code === "not_permitted" || error.code === "needs_person")) {
        await this.#decider.commit(recordRefused(await this.read(id), error.message, this.#decider.at(by)));
      }
      throw error;
    }
  }
}
