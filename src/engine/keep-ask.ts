import { type Actor, SYSTEM } from "../core/people/actor.ts";
import { ask, findSameQuestion, requireSamePayload } from "../core/question/ask.ts";
import type { AskInput } from "../core/question/ask-input.ts";
import type { Entry } from "../core/changes.ts";
import { QuestionId } from "../core/id.ts";
import { Refusal } from "../core/refusal.ts";
import { requireEpoch } from "../core/run/handover.ts";
import { type Question, isPending } from "../core/question/question.ts";
import type { Run } from "../core/run/run.ts";
import { requireReachable } from "../core/answer/vote.ts";
import { mayHold, takeHold } from "../core/question/hold.ts";
import type { Store } from "../store/store.ts";
import { type Decider, after } from "./decide.ts";
import type { AskOptions, Done } from "./engine.ts";
import { runForAsk } from "./new-run.ts";
import { requireKnown } from "./people/known-names.ts";

/** How old the count of waiting questions may be. */
const FRESH_MS = 1_000;
/** Of the same thing, asked again and again or by many at once, the latest are remembered. */
const MOST_REMEMBERED = 20;

interface Deps {
  store: Store;
  decider: Decider;
}

/** Keeps an ask, once: reads its run, and tries again when somebody else was faster. */
export function keepAsk(deps: Deps, input: AskInput, by: Actor, options: AskOptions): Promise<Done> {
  const { store, decider } = deps;
  let { runId } = options;
  return decider.retry(async () => {
    const at = decider.at(by);
    const found = runId ? await decider.rows.readRun(runId) : runForAsk(options.run ?? {}, input.items, input.key, at);
    if (options.epoch !== undefined) requireEpoch(found, options.epoch);
    const run = asSeenNow(found, options);
    const open = await decider.rows.readOpen(run);
    const same = findSameQuestion(open, input);
    if (same) return known(decider, same, input, options);
    await requireKnown(deps, input.approvals.from, by);
    if (input.approvals.from.length > 0) requireReachable(input.approvals, await decider.readPeople());
    const followed = run.clarifying ? await store.findQuestion(run.clarifying) : undefined;
    const { epoch, calledAt, askedAs, holder, secrets = [] } = options;
    const before = { run, open, followed, epoch, calledAt, holder, secrets };
    const { read, ...decided } = ask(before, input, at);
    const asked = await decider.announce(decided);
    const names =
      askedAs === undefined ? [] : [addAsked(askedAs, await store.findEntry("ask", askedAs), read.question.id)];
    const changes = { ...asked, entries: [...(asked.entries ?? []), ...names] };
    const committed = await decider.commit(changes, read);
    if (committed.ok) return { ...after(read, changes, committed), isNew: true };
    if (committed.why !== "taken") return undefined;
    const theirs = await findDuplicate(store, run, read.question.key);
    // Without a key of its own an ask repeats only what is still open.
    const isSame =
      theirs?.question && (input.key !== undefined || findSameQuestion([theirs.question], input) !== undefined);
    if (theirs?.question && isSame) return known(decider, theirs.question, input, options);
    runId = theirs?.run.id ?? runId;
    return undefined;
  });
}

/** The run with what is known of its agent since this ask. */
function asSeenNow(run: Run, { seen, giveBack }: AskOptions): Run {
  if (!seen && !giveBack) return run;
  return { ...run, seen: seen ?? run.seen, giveBack: giveBack ?? run.giveBack };
}

/**
 * The same ask again: its question, in whatever state it is by now. A call that waits for one which nobody holds any more
 * holds it from now on, so that its answer goes to this call and not to a new start of the agent.
 */
async function known(decider: Decider, question: Question, input: AskInput, options: AskOptions): Promise<Done> {
  if (input.key !== undefined) requireSamePayload(question, input);
  const { holdMs: windowMs = 0, afterHold: after } = input;
  const { holder, seen } = options;
  if (!isPending(question) || windowMs <= 0) return { ...(await decider.rows.read(question.id)), isNew: false };
  const read = await decider.changeQuestion(question.id, SYSTEM, (before, at) =>
    mayHold(before.run) ? takeHold(before, { windowMs, after, holder, seen }, at) : {},
  );
  return { ...read, isNew: false };
}

/** Finds the owner of a name that a commit found taken: the same key in this run, or the run of the same session. */
async function findDuplicate(store: Store, run: Run, key: string) {
  const mine = await store.findQuestionByKey(run.id, key);
  if (mine) return { run, question: mine };
  if (run.session === undefined) return undefined;
  const { runs } = await store.lookUp({ by: "session", text: run.session }, 10);
  const theirs = runs.find((each) => each.host === run.host && each.agent === run.agent);
  if (!theirs) return undefined;
  return { run: theirs, question: await store.findQuestionByKey(theirs.id, key) };
}

/** The questions that were asked under a name, oldest first. */
export function readAsked(entry: Entry | undefined): QuestionId[] {
  const parsed = QuestionId.array().safeParse(entry?.body["questions"]);
  return parsed.success ? parsed.data : [];
}

/** The entry with one question more. */
function addAsked(name: string, entry: Entry | undefined, id: QuestionId): Entry {
  const questions = [...readAsked(entry).slice(1 - MOST_REMEMBERED), id];
  return { kind: "ask", id: name, version: entry?.version ?? 0, body: { questions } };
}

/** Keeps the number of waiting questions within its limit. */
export class PendingLimit {
  readonly #store: Pick<Store, "countQuestions">;
  readonly #limit: number;
  #pending = { count: 0, readAtMs: -Infinity };
  #reading: Promise<void> | undefined;

  constructor(store: Pick<Store, "countQuestions">, limit: number) {
    this.#store = store;
    this.#limit = limit;
  }

  /** Refuses when too many wait. The count may be a second old, but a refusal rests on a fresh one. */
  async require(): Promise<void> {
    const isFresh = performance.now() - this.#pending.readAtMs < FRESH_MS;
    // Many ask at once, and one count serves them all.
    if (!isFresh || this.#pending.count >= this.#limit) await (this.#reading ??= this.#read());
    if (this.#pending.count >= this.#limit) {
      throw new Refusal(
        "too_many",
        `${this.#limit} questions are waiting already; no more are accepted until some are answered`,
        { hint: "Answer or cancel some: askd list --awaiting", fact: { is: "full", count: this.#limit } },
      );
    }
    this.#pending.count += 1;
  }

  async #read() {
    try {
      this.#pending = { count: await this.#store.countQuestions("pending"), readAtMs: performance.now() };
    } finally {
      this.#reading = undefined;
    }
  }
}
