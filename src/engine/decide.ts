import { announce, needsPeople } from "../core/channel/announce.ts";
import type { Actor } from "../core/people/actor.ts";
import type { DecisionContext, Changes, QuestionSnapshot } from "../core/changes.ts";
import type { Ids, QuestionId, RunId } from "../core/id.ts";
import type { Instant } from "../core/instant.ts";
import type { RunSnapshot } from "../core/run/run-lifecycle.ts";
import { withDirectory } from "../core/people/directory.ts";
import { type Person, parsePerson } from "../core/people/person.ts";
import { namesPeople } from "../core/question/question.ts";
import { Refusal } from "../core/refusal.ts";
import type { Rules } from "../core/rules.ts";
import { type Run, hasEnded } from "../core/run/run.ts";
import { findWaitingWorkflows, wakeWorkflows } from "../core/workflow/wake-parent.ts";
import type { CommitResult, Store } from "../store/store.ts";
import { RowCache, allQuestions } from "./row-cache.ts";
import { sealTrail } from "./jobs/seal-job.ts";

const RETRY_MS = 2_000;
/** On a slow machine a single try can take longer than that, and the first one of a known session always fails. */
const LEAST_TRIES = 5;
const LONGEST_PAUSE_MS = 20;

export interface DecideDeps {
  store: Store;
  ids: Ids;
  rules: Rules;
  /** The store's time as far as this process knows it. */
  now: () => Instant;
  /** Time that never jumps; of this process unless a test has its own. */
  elapsedMs?: () => number;
}

/** The job that a commit was to finish is no longer ours; nothing was written. */
export class JobLost extends Error {}

/** The one way in which anything changes: read, decide, commit; again when somebody else was faster. */
export class Decider {
  readonly rows: RowCache;
  readonly #deps: DecideDeps;
  readonly #queues = new Map<string, Promise<unknown>>();
  readonly #elapsedMs: () => number;
  #sealing: Promise<void> = Promise.resolve();

  constructor(deps: DecideDeps) {
    this.#deps = deps;
    this.#elapsedMs = deps.elapsedMs ?? (() => performance.now());
    this.rows = new RowCache(deps.store);
  }

  at(by: Actor): DecisionContext {
    return { now: this.#deps.now(), by, ids: this.#deps.ids, rules: this.#deps.rules };
  }

  /** Changes one question and what hangs on it; returns what is true afterwards. */
  async changeQuestion(
    id: QuestionId,
    by: Actor,
    decide: (read: QuestionSnapshot, at: DecisionContext) => Changes,
  ): Promise<QuestionSnapshot> {
    let recalled = this.rows.recall(id);
    const runId = recalled?.question.runId ?? (await this.rows.read(id)).run.id;
    return this.#queued(runId, async () => {
      recalled = this.rows.recall(id);
      return this.#untilCommitted(async () => {
        const read = recalled ?? (await this.rows.read(id));
        const mayBeOld = recalled !== undefined;
        recalled = undefined;
        const whole = await this.withPeople(await this.#withOthers(read));
        const decided = decideOrReread(() => decide(whole, this.at(by)), mayBeOld);
        if (decided === "reread") return undefined;
        const changes = await this.announce(decided);
        // Only rows have a version that the commit checks; what writes none has to rest on what is so now.
        if (mayBeOld && !writesRows(changes)) return undefined;
        if (isEmpty(changes)) return read;
        const committed = await this.commit(changes, read);
        if (committed.ok) return after(read, changes, committed);
        this.rows.forget(id);
        return undefined;
      });
    });
  }

  /**
   * Most runs owe nothing besides; those that do have to be looked at when the run ends. With a run that has ended, all
   * its questions: what was voided with it is owed again when it is taken up.
   */
  async #withOthers(read: QuestionSnapshot): Promise<QuestionSnapshot> {
    if (hasEnded(read.run)) {
      const asked = await allQuestions(this.#deps.store, read.run.id);
      return { ...read, others: asked.filter(({ id }) => id !== read.question.id) };
    }
    const ids = read.run.owes.filter((id) => id !== read.question.id);
    return ids.length === 0 ? read : { ...read, others: await this.rows.readQuestions(ids) };
  }

  /** Most questions are for anybody; those that name people or count votes need the list of people. */
  async withPeople<Subject extends Pick<QuestionSnapshot, "question" | "others">>(
    read: Subject,
  ): Promise<Subject & Pick<QuestionSnapshot, "people">> {
    const { question, others = [] } = read;
    return [question, ...others].some(namesPeople) ? { ...read, people: await this.readPeople() } : read;
  }

  /** Adds what people have to be told of a decision, and the workflows that it lets go on, in the same commit. */
  async announce(changes: Changes): Promise<Changes> {
    const { rules, ids, now } = this.#deps;
    const people = needsPeople(changes, rules) ? await this.readPeople() : undefined;
    const announced = announce(changes, { now: now(), ids, rules, people });
    const waiting = findWaitingWorkflows(announced);
    if (waiting.length === 0) return announced;
    return wakeWorkflows(announced, await this.#deps.store.readRuns(waiting), now());
  }

  /** The person of that id, unless they were removed. */
  async findPerson(id: string): Promise<Person | undefined> {
    return (await this.readPeople()).find((person) => person.id === id && !person.removed);
  }

  /** Everybody on the list of people, those who were removed included. */
  async readPeople(): Promise<Person[]> {
    const rows = (await this.#deps.store.listEntries("person")).map(parsePerson);
    return withDirectory(rows, this.#deps.rules.directory);
  }

  /** Changes a run and its open questions. */
  async changeRun(id: RunId, by: Actor, decide: (read: RunSnapshot, at: DecisionContext) => Changes): Promise<Run> {
    return this.#queued(id, () =>
      this.#untilCommitted(async () => {
        const run = await this.rows.readRun(id);
        const open = await this.rows.readOpen(run);
        const people = open.some(namesPeople) ? await this.readPeople() : undefined;
        const changes = await this.announce(decide({ run, open, people }, this.at(by)));
        if (isEmpty(changes)) return run;
        const committed = await this.commit(changes);
        const written = changes.runs?.find((each) => each.id === id);
        return committed.ok ? { ...run, ...written, version: run.version + (written ? 1 : 0) } : undefined;
      }),
    );
  }

  /**
   * Writes all of it or nothing. A lost job is final: somebody else does it. What was read is remembered as it is then,
   * at once: whoever waits for it is woken in the same turn.
   */
  async commit(changes: Changes, read?: QuestionSnapshot): Promise<CommitResult> {
    const committed = await this.#deps.store.commit(changes);
    if (committed.ok) {
      this.#forgetRuns(changes);
      if (read) this.rows.remember(after(read, changes, committed));
      if (isFirstOfAll(committed)) this.#sealing = this.#sealFirst();
    } else if (committed.why === "job_lost") throw new JobLost("The lease of a job ended; somebody else does it");
    else if (committed.why === "newer_schema") {
      throw new Refusal("newer_schema", "A newer askd has taken over this store; nothing was changed", {
        hint: "Update this askd and try again",
      });
    }
    return committed;
  }

  /** Seals the first event of a store at once, so that restarting the trail from scratch is detected. */
  async #sealFirst() {
    try {
      await sealTrail(this.#deps.store, this.#deps.now());
    } catch {
      // The commit stands; the seal job seals it later.
    }
  }

  /** Comes back when nothing is written any more beside what was committed. */
  async settled(): Promise<void> {
    await this.#sealing;
  }

  /** Repeats a try for as long as others are faster, with pauses of random length. */
  async retry<Result>(attempt: () => Promise<Result | undefined>): Promise<Result> {
    return this.#untilCommitted(attempt);
  }

  async #untilCommitted<Result>(attempt: () => Promise<Result | undefined>) {
    const giveUpAtMs = this.#elapsedMs() + RETRY_MS;
    for (let tries = 0; ; tries += 1) {
      const result = await attempt();
      if (result !== undefined) return result;
      if (tries + 1 >= LEAST_TRIES && this.#elapsedMs() > giveUpAtMs) {
        throw new Refusal("moved", "The question changed again and again while this was tried; nothing was changed", {
          hint: "Try again",
        });
      }
      if (tries > 0) await pause(Math.random() * LONGEST_PAUSE_MS);
    }
  }

  /** A cached question carries its run. */
  #forgetRuns({ runs = [] }: Changes) {
    for (const { pendingId, owes } of runs) {
      if (pendingId !== undefined) this.rows.forget(pendingId);
      for (const id of owes) this.rows.forget(id);
    }
  }

  /** Decisions on one run wait for each other inside a process, so that they do not lose to themselves. */
  async #queued<Result>(runId: RunId, work: () => Promise<Result>) {
    const before = this.#queues.get(runId) ?? Promise.resolve();
    const mine = before.then(work, work);
    this.#queues.set(runId, mine);
    try {
      return await mine;
    } finally {
      if (this.#queues.get(runId) === mine) this.#queues.delete(runId);
    }
  }
}

/** The snapshot that a reader sees after the commit of these changes. */
export function after(
  read: QuestionSnapshot,
  changes: Changes,
  committed: Extract<CommitResult, { ok: true }>,
): QuestionSnapshot {
  const question = changes.questions?.find((each) => each.id === read.question.id);
  const run = changes.runs?.find((each) => each.id === read.run.id);
  return {
    content: read.content,
    question: question ? { ...question, version: question.version + 1 } : read.question,
    run: run ? { ...run, version: run.version + 1, number: committed.numbers.get(run.id) ?? run.number } : read.run,
  };
}

function isFirstOfAll({ numbers }: Extract<CommitResult, { ok: true }>) {
  for (const number of numbers.values()) if (number === 1) return true;
  return false;
}

/** A refusal that rests on a remembered row is not given: the row may be old. */
function decideOrReread(decide: () => Changes, mayBeOld: boolean): Changes | "reread" {
  try {
    return decide();
  } catch (error) {
    if (mayBeOld && error instanceof Refusal) return "reread";
    throw error;
  }
}

function writesRows({ runs = [], questions = [] }: Changes) {
  return runs.length > 0 || questions.length > 0;
}

function isEmpty(changes: Changes) {
  return Object.values(changes).every((rows: unknown) => !Array.isArray(rows) || rows.length === 0);
}

function pause(ms: number) {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
