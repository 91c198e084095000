import { hasAccess } from "../core/people/access.ts";
import { type Actor, SYSTEM, actorName } from "../core/people/actor.ts";
import { amend } from "../core/answer/amend.ts";
import { answer, recordLate, recordRefused } from "../core/answer/answer.ts";
import type { AnswerInput } from "../core/answer/answer-input.ts";
import type { AskInput } from "../core/question/ask-input.ts";
import { type CancelInput, cancel } from "../core/question/cancel.ts";
import type { DecisionContext, Changes, Entry, QuestionSnapshot } from "../core/changes.ts";
import { assign, claim, comment, release, snooze } from "../core/question/claim.ts";
import { DELIMITER_BYTES, delimiterFrom } from "../core/text/foreign-text.ts";
import { give, handOver } from "../core/run/handover.ts";
import { endHold } from "../core/question/hold.ts";
import type { QuestionId } from "../core/id.ts";
import { answerMessage } from "../core/run/agent-message.ts";
import { type Instant, MINUTE_MS, epochMs } from "../core/instant.ts";
import { addLink, newLink } from "../core/question/link.ts";
import { type IdempotentChange, idempotencyEntry, requireSameChange } from "../core/trail/idempotency.ts";
import { type Question, isPending, owesOutcome } from "../core/question/question.ts";
import { plainName } from "../core/people/person.ts";
import { Refusal } from "../core/refusal.ts";
import { withoutVotesOf } from "../core/people/removal.ts";
import type { Rules } from "../core/rules.ts";
import { undo } from "../core/question/settle.ts";
import type { SimilarQuestion } from "../core/answer/similar.ts";
import { type HoldInput, takeHold } from "../core/question/hold.ts";
import { escalate, extend } from "../core/question/timeout.ts";
import type { Token } from "../core/people/token.ts";
import type { QuestionFilter, Store } from "../store/store.ts";
import type { Decider } from "./decide.ts";
import type { AmendOptions, AskOptions, Done, QuestionEngine, WaitOptions } from "./engine.ts";
import { PendingLimit, keepAsk, readAsked } from "./keep-ask.ts";
import { requireKnown } from "./people/known-names.ts";
import { type People, TOKEN_BYTES } from "./people/people.ts";
import { RecentCache } from "./recent-cache.ts";
import type { Precedents } from "./stats/precedents.ts";
import type { WordFollower } from "./stats/word-follower.ts";
import { type Waiters, waitFor } from "./waiters.ts";

type Decide = (read: QuestionSnapshot, at: DecisionContext) => Changes;

const NOBODY: ReadonlySet<string> = new Set();
const REPLIERS_REMEMBERED = 5_000;

/** The question and the author of a change. */
interface ChangeOf extends IdempotentChange {
  id: QuestionId;
  by: Actor;
}

interface QuestionDeps {
  store: Store;
  rules: Rules;
  now: () => Instant;
  /** Time that only the running of this machine moves. */
  uptimeMs: () => number;
  randomBytes: (count: number) => Uint8Array;
  decider: Decider;
  waiters: Waiters;
  people: Pick<People, "listRemoved">;
  words: WordFollower;
  precedents: Precedents;
}

/** Questions on a store: each change is read, decided by core, and committed. */
export class Questions implements QuestionEngine {
  readonly #deps: QuestionDeps;
  readonly #store: Store;
  readonly #decider: Decider;
  readonly #waiters: Waiters;
  readonly #pendingLimit: PendingLimit;
  readonly #replyLimit: ReplyLimit;

  constructor(deps: QuestionDeps) {
    this.#deps = deps;
    this.#store = deps.store;
    this.#decider = deps.decider;
    this.#waiters = deps.waiters;
    this.#pendingLimit = new PendingLimit(deps.store, deps.rules.limits.pending);
    this.#replyLimit = new ReplyLimit(deps.rules.limits.repliesPerMinute);
  }

  async ask(input: AskInput, by: Actor, options: AskOptions = {}): Promise<Done> {
    await this.#pendingLimit.require();
    return keepAsk({ store: this.#store, decider: this.#decider }, input, by, options);
  }

  wait(id: QuestionId, options: WaitOptions): Promise<QuestionSnapshot> {
    const { now, uptimeMs } = this.#deps;
    return waitFor(id, options, {
      waiters: this.#waiters,
      now,
      uptimeMs,
      recall: (each) => this.#decider.rows.recall(each),
      read: (each) => this.read(each),
    });
  }

  async answer(id: QuestionId, input: AnswerInput, by: Actor): Promise<Done> {
    await this.#countReply(id, by);
    try {
      // Only votes are counted again; most questions need one answer.
      const needsVotes = (this.#decider.rows.recall(id)?.question.approvals.need ?? 2) > 1;
      const gone = needsVotes ? await this.#deps.people.listRemoved() : NOBODY;
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
    await this.#countReply(id, by);
    await this.#recordRefused(id, tried, by);
  }

  async preview(id: QuestionId, input: AnswerInput, by: Actor): Promise<string> {
    const read = await this.#decider.withPeople(await this.read(id));
    const changes = answer(read, { ...input, undoMs: 0 }, this.#decider.at(by));
    const question = changes.questions?.[0] ?? read.question;
    const delimiter = delimiterFrom(this.#deps.randomBytes(DELIMITER_BYTES));
    return answerMessage({ delimiter, reads: [{ ...read, question }] });
  }

  undo(id: QuestionId, by: Actor, once?: IdempotentChange): Promise<QuestionSnapshot> {
    return this.#changeOnce(["undo"], { id, by, ...once }, undo);
  }

  amend(id: QuestionId, text: string, by: Actor, options: AmendOptions = {}): Promise<QuestionSnapshot> {
    const { resume = false, confirmed = false, key } = options;
    return this.#changeOnce(["amend", text, resume], { id, by, key }, (read, at) =>
      amend(read, text, at, { resume, confirmed }),
    );
  }

  claim(id: QuestionId, by: Actor, once?: IdempotentChange): Promise<QuestionSnapshot> {
    return this.#changeOnce(["claim"], { id, by, ...once }, claim);
  }

  release(id: QuestionId, by: Actor, once?: IdempotentChange): Promise<QuestionSnapshot> {
    return this.#changeOnce(["release"], { id, by, ...once }, release);
  }

  async assign(id: QuestionId, to: readonly string[], by: Actor, once?: IdempotentChange): Promise<QuestionSnapshot> {
    const names = to.map(plainName).filter((name) => name !== "");
    if (hasAccess("assign", by)) await requireKnown({ store: this.#store, decider: this.#decider }, names, by);
    return this.#changeOnce(["assign", to], { id, by, ...once }, (read, at) => assign(read, to, at));
  }

  snooze(id: QuestionId, until: Instant, by: Actor, once?: IdempotentChange): Promise<QuestionSnapshot> {
    return this.#changeOnce(["snooze"], { id, by, ...once }, (read, at) => snooze(read, until, at));
  }

  extend(id: QuestionId, byMs: number, by: Actor, once?: IdempotentChange): Promise<QuestionSnapshot> {
    return this.#changeOnce(["extend", byMs], { id, by, ...once }, (read, at) => extend(read, byMs, at));
  }

  comment(id: QuestionId, text: string, by: Actor, once?: IdempotentChange): Promise<QuestionSnapshot> {
    return this.#changeOnce(["comment", text], { id, by, ...once }, (read, at) => comment(read, text, at));
  }

  escalate(id: QuestionId, by: Actor, once?: IdempotentChange): Promise<QuestionSnapshot> {
    return this.#changeOnce(["escalate"], { id, by, ...once }, escalate);
  }

  cancel(id: QuestionId, input: CancelInput & IdempotentChange, by: Actor): Promise<QuestionSnapshot> {
    const { reason, resume, key } = input;
    return this.#changeOnce(["cancel", reason, resume], { id, by, key }, (read, at) => cancel(read, input, at));
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

  async findAsked(askedAs: string): Promise<QuestionSnapshot[]> {
    const reads = await this.readMany(readAsked(await this.#store.findEntry("ask", askedAs)));
    const pending = reads.filter(({ question }) => isPending(question));
    return [...reads.filter(({ question }) => !isPending(question) && owesOutcome(question)), ...pending];
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

  endHold(id: QuestionId, why: "window" | "gone"): Promise<QuestionSnapshot> {
    return this.#change(id, SYSTEM, (read, at) => endHold(read, why, at));
  }

  handOver(id: QuestionId, epoch?: number, holder?: string): Promise<QuestionSnapshot> {
    return this.#change(id, SYSTEM, ({ run, question }, at) =>
      handOver(run, [question], { epoch: epoch ?? run.epoch, by: "call", holder }, at),
    );
  }

  given(id: QuestionId, witness: string, epoch?: number): Promise<QuestionSnapshot> {
    return this.#change(id, SYSTEM, (read, at) => give(read, { witness, epoch }, at));
  }

  read(id: QuestionId): Promise<QuestionSnapshot> {
    return this.#decider.rows.read(id);
  }

  readMany(ids: readonly QuestionId[]): Promise<QuestionSnapshot[]> {
    return this.#decider.rows.readMany(ids);
  }

  async listQuestions(filter: QuestionFilter): Promise<Question[]> {
    if (filter.find !== undefined) await this.#deps.words.catchUp();
    return this.#store.listQuestions(filter);
  }

  countQuestions(status: Question["status"]): Promise<number> {
    return this.#store.countQuestions(status);
  }

  findSimilar(id: QuestionId, limit: number): Promise<SimilarQuestion[]> {
    return this.#deps.precedents.find(id, limit);
  }

  /** Changes a question once, however often a change of that key is sent. */
  async #changeOnce(change: readonly unknown[], { id, by, key }: ChangeOf, decide: Decide): Promise<Done> {
    if (key === undefined) return { ...(await this.#change(id, by, decide)), isNew: true };
    const entry = idempotencyEntry({ key, questionId: id, by }, change);
    if (await this.#wasTaken(entry)) return { ...(await this.read(id)), isNew: false };
    try {
      const read = await this.#change(id, by, (before, at) => {
        const changes = decide(before, at);
        return { ...changes, entries: [...(changes.entries ?? []), entry] };
      });
      return { ...read, isNew: true };
    } catch (error) {
      // It came a second time while the first was under way.
      if (!(error instanceof Refusal) || !(await this.#wasTaken(entry))) throw error;
      return { ...(await this.read(id)), isNew: false };
    }
  }

  async #wasTaken(entry: Entry) {
    const before = await this.#store.findEntry(entry.kind, entry.id);
    if (before) requireSameChange(before, entry);
    return before !== undefined;
  }

  /** Changes a question. A refused attempt stays in the trail. */
  async #change(id: QuestionId, by: Actor, decide: Decide) {
    try {
      return await this.#decider.changeQuestion(id, by, decide);
    } catch (error) {
      if (error instanceof Refusal && (error.code === "not_permitted" || error.code === "needs_person")) {
        await this.#recordRefused(id, error.message, by);
      }
      throw error;
    }
  }

  /** Limits the replies of a person; attempts beyond the limit are refused, and counted like all others. */
  async #countReply(id: QuestionId, by: Actor) {
    try {
      this.#replyLimit.count(by, id, epochMs(this.#deps.now()));
    } catch (error) {
      if (error instanceof Refusal) await this.#recordRefused(id, error.message, by);
      throw error;
    }
  }

  async #recordRefused(id: QuestionId, tried: string, by: Actor) {
    await this.#decider.retry(async () => {
      const counter = await this.#store.findEntry("refused", id);
      const { question } = await this.read(id);
      const committed = await this.#decider.commit(recordRefused({ question, counter }, tried, this.#decider.at(by)));
      return committed.ok ? committed : undefined;
    });
  }
}

/** Lets one person reply to one question only so often within a minute. */
class ReplyLimit {
  readonly #perMinute: number;
  readonly #times = new RecentCache<number[]>(REPLIERS_REMEMBERED);

  constructor(perMinute: number) {
    this.#perMinute = perMinute;
  }

  count(by: Actor, questionId: string, nowMs: number) {
    // An agent that uses a person's credential has that person's name; its attempts must not lock the person out.
    const who = by.scope === "agent" ? `agent of ${by.runId ?? "no run"}` : "person";
    const name = `${who} ${actorName(by)} ${questionId}`;
    const recent = (this.#times.get(name) ?? []).filter((time) => nowMs - time < MINUTE_MS);
    const oldest = recent[0];
    if (recent.length >= this.#perMinute && oldest !== undefined) {
      const waitMs = MINUTE_MS - (nowMs - oldest);
      throw new Refusal(
        "rate_limited",
        `You replied ${recent.length} times within a minute; try again in ${Math.ceil(waitMs / 1000)} s`,
        {
          retryAfterMs: waitMs,
        },
      );
    }
    this.#times.set(name, [...recent, nowMs]);
  }
}
