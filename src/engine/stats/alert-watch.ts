import { type TokenSource, tellOfRun } from "../../core/channel/announce.ts";
import { alertTargets } from "../../core/channel/target.ts";
import type { Changes } from "../../core/changes.ts";
import { withDirectory } from "../../core/people/directory.ts";
import { parsePerson } from "../../core/people/person.ts";
import { findAwayMachine } from "../../core/run/machine.ts";
import { type AlertName, type AlertRead, WATCHED, alertNotice, isRaised, watchAlert } from "../../core/stats/alert.ts";
import type { Event, KeptEvent } from "../../core/trail/event.ts";
import { type Instant, MINUTE_MS, SECOND_MS, epochMs, msBetween } from "../../core/instant.ts";
import { listMachines } from "../machines.ts";
import type { Question } from "../../core/question/question.ts";
import type { Rules } from "../../core/rules.ts";
import type { Store } from "../../store/store.ts";

const LEAST_PAUSE_MS = 250;
const TRIES = 5;
const PAGE = 500;
/** Into how many parts the window is divided, to forget what leaves it. */
const BUCKETS = 1_440;
/** How far back a watch that starts looks, in questions of each kind. */
const REMEMBERED = 1_000;
const MOST_LOOKED_AT = 100;
/** Attempts of a job before people hear of it; an attempt or two fail without any harm. */
const LEAST_TRIES = 5;
/** How long a machine may be silent before people hear of it: it may just have been restarted. */
const SILENT_MS = 10 * MINUTE_MS;
const MATTERS: ReadonlySet<string> = new Set([
  "question.asked",
  "question.answered",
  "question.timed_out",
  "question.cancelled",
]);

export interface AlertWatchDeps {
  store: Store;
  rules: Rules;
  ids: TokenSource;
  /** Reports an alert that this process recorded first. */
  onAlert(name: AlertName, value: number): void;
  onFailure(error: unknown): void;
}

/** Looks at what people are warned of, when something happens and every minute; many may watch one store. */
export class AlertWatch {
  readonly #deps: AlertWatchDeps;
  readonly #window: TimeoutWindow;
  /** The last event that the window has. */
  #cursor: string | undefined;
  #isWanted = false;
  #isStopped = false;
  #working: Promise<void> | undefined;
  #looked: Promise<void> = Promise.resolve();
  #timer: NodeJS.Timeout | undefined;
  #endPause: () => void = () => undefined;

  constructor(deps: AlertWatchDeps) {
    this.#deps = deps;
    this.#window = new TimeoutWindow(deps.rules.alerts.windowMs);
  }

  /** Looks now, every minute, and after what `take` tells of. */
  start(): void {
    this.#timer = setInterval(() => this.#want(), MINUTE_MS).unref();
    this.#want();
  }

  /** Takes what somebody read of the feed after that cursor, so that it need not be read twice. */
  take(events: readonly KeptEvent[], after: string): void {
    if (after === this.#cursor) this.#add(events);
    if (events.some(({ event }) => MATTERS.has(event.type))) this.#want();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    clearInterval(this.#timer);
    this.#endPause();
    await this.#working;
  }

  /** Compares every value with its threshold now, and reports what has crossed it. */
  look(): Promise<void> {
    const mine = this.#looked.then(() => this.#lookAtAll());
    this.#looked = mine.catch(() => undefined); // whoever asked for that look hears of it
    return mine;
  }

  /** The alerts as gauges: 1 for one that was reported and is not over. */
  async list(): Promise<Array<{ name: AlertName; value: 0 | 1 }>> {
    const entries = await Promise.all(WATCHED.map((name) => this.#deps.store.findEntry("alert", name)));
    return WATCHED.map((name, index) => ({ name, value: isRaised(entries[index]) ? 1 : 0 }));
  }

  #want() {
    this.#isWanted = true;
    if (this.#isStopped) return;
    this.#working ??= this.#lookWhileWanted()
      .catch((error: unknown) => this.#deps.onFailure(error)) // the next event or minute looks again
      .finally(() => {
        this.#working = undefined;
      });
  }

  async #lookWhileWanted() {
    while (this.#isWanted && !this.#isStopped) {
      this.#isWanted = false;
      await this.look();
      if (!this.#isStopped) await this.#pause();
    }
  }

  #pause() {
    return new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, LEAST_PAUSE_MS);
      this.#endPause = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  async #lookAtAll() {
    for (const name of WATCHED) {
      for (let tries = 0; tries < TRIES && !(await this.#lookAt(name)); tries += 1);
    }
  }

  /** False if somebody else was faster and it is to be looked at again. */
  async #lookAt(name: AlertName) {
    const { store, rules, onAlert } = this.#deps;
    // The entry comes first: a value that was read before it may be older than what another process has reported.
    const entry = await store.findEntry("alert", name);
    const now = await store.now();
    const measured = await this.#measure(name, now);
    const read = { name, entry, ...measured };
    const changes = watchAlert(read, { now, rules });
    if (!changes.entries) return true;
    const committed = await store.commit(isRaised(changes.entries[0]) ? await this.#tell(changes, read, now) : changes);
    if (committed.ok && isRaised(changes.entries[0])) onAlert(name, measured.value);
    return committed.ok;
  }

  #measure(name: AlertName, now: Instant): Promise<Pick<AlertRead, "value" | "cause">> {
    if (name === "pending") return this.#pending();
    if (name === "timeout_rate") return this.#timeouts(now);
    return name === "failing_jobs" ? this.#failingJobs() : this.#silentMachines(now);
  }

  /** Adds the messages that tell people of an alert, to the run that it is about. */
  async #tell(changes: Changes, { cause, ...read }: AlertRead, now: Instant): Promise<Changes> {
    const { store, rules, ids } = this.#deps;
    const run = cause && rules.reach.length > 0 ? await store.findRun(cause.runId) : undefined;
    if (!cause || !run) return changes;
    const people = withDirectory((await store.listEntries("person")).map(parsePerson), rules.directory);
    const targets = alertTargets(rules.alerts.to, { now, rules, people });
    const told = tellOfRun(run, alertNotice({ ...read, cause }, now), targets, { now, ids });
    const entries = [...(changes.entries ?? []), ...told.entries];
    return { ...changes, runs: [told.run], entries, scheduled: told.scheduled };
  }

  /** Jobs that fail again and again; a channel that fails is reported through another one. */
  async #failingJobs(): Promise<Pick<AlertRead, "value" | "cause">> {
    const jobs = (await this.#deps.store.listFailingJobs(MOST_LOOKED_AT)).filter(
      ({ kind, tries, runId }) =>
        kind !== "deliver" && kind !== "mark_issue" && tries >= LEAST_TRIES && runId !== undefined,
    );
    const [job] = jobs;
    const values = job && { kind: job.kind, why: job.failure?.why ?? "" };
    return { value: jobs.length, cause: job?.runId && { runId: job.runId, values } };
  }

  /** Runs that wait for a machine which nobody has heard of for a while. */
  async #silentMachines(now: Instant): Promise<Pick<AlertRead, "value" | "cause">> {
    const { store } = this.#deps;
    const statuses = ["queued", "running", "resuming"] as const;
    const runs = await store.listRuns({ statuses, order: "newest", limit: MOST_LOOKED_AT });
    const known = runs.length === 0 ? [] : await listMachines(store);
    const waiting = runs.flatMap((run) => {
      const away = findAwayMachine(run, { now, known });
      const isSilent = away && msBetween(away.heardAt ?? run.startedAt ?? run.createdAt, now) > SILENT_MS;
      return isSilent ? [{ run, away }] : [];
    });
    const [first] = waiting;
    const values = first && { run: `#${first.run.number}`, machine: first.away.name };
    return { value: waiting.length, cause: first && { runId: first.run.id, values } };
  }

  async #pending(): Promise<Pick<AlertRead, "value" | "cause">> {
    const { store } = this.#deps;
    const [value, [cause]] = await Promise.all([
      store.countQuestions("pending"),
      store.listQuestions({ status: "pending", order: "newest", limit: 1 }),
    ]);
    return { value, cause: cause && { runId: cause.runId, questionId: cause.id } };
  }

  async #timeouts(now: Instant): Promise<Pick<AlertRead, "value" | "cause">> {
    for (;;) {
      const from = (this.#cursor ??= await this.#remember());
      const page = await this.#deps.store.readFeed(from, PAGE);
      if (this.#cursor !== from) continue; // they were taken meanwhile
      this.#add(page);
      const { last } = this.#window;
      const cause = last && { runId: last.runId, questionId: last.id };
      if (page.length < PAGE) return { value: this.#window.rate(now), cause };
    }
  }

  #add(events: readonly KeptEvent[]) {
    for (const { event } of events) this.#window.add(event);
    this.#cursor = events.at(-1)?.cursor ?? this.#cursor;
  }

  /** Takes up what was closed before, and says from where on the feed tells the rest. */
  async #remember() {
    const { store } = this.#deps;
    const end = await store.findFeedEnd();
    for (const status of ["timeout", "answered"] as const) {
      const newest = await store.listQuestions({ status, order: "newest", limit: REMEMBERED });
      for (const question of newest) this.#window.addClosed(question);
    }
    return end;
  }
}

interface Bucket {
  answered: number;
  timedOut: number;
}

/** How many of the questions that were closed lately nobody answered; its memory does not grow with their number. */
class TimeoutWindow {
  readonly #windowMs: number;
  readonly #bucketMs: number;
  readonly #buckets = new Map<number, Bucket>();
  readonly #known = new Set<string>();
  #last: Pick<Question, "id" | "runId"> | undefined;

  constructor(windowMs: number) {
    this.#windowMs = windowMs;
    this.#bucketMs = Math.max(SECOND_MS, Math.ceil(windowMs / BUCKETS));
  }

  /** The question that timed out last. */
  get last(): Pick<Question, "id" | "runId"> | undefined {
    return this.#last;
  }

  add(event: Event) {
    if (event.questionId && this.#known.has(event.questionId)) return;
    if (event.type === "question.answered") this.#bucketAt(event.at).answered += 1;
    if (event.type !== "question.timed_out") return;
    this.#bucketAt(event.at).timedOut += 1;
    if (event.questionId) this.#last = { id: event.questionId, runId: event.runId };
  }

  /** A question that was closed before this window was made; the feed may tell of it once more. */
  addClosed(question: Question) {
    this.#known.add(question.id);
    if (question.status === "answered") this.#bucketAt(question.answer.at).answered += 1;
    if (question.status !== "timeout") return;
    this.#bucketAt(question.timedOutAt).timedOut += 1;
    this.#last ??= question;
  }

  /** From 0 to 1; nothing closed is 0. */
  rate(now: Instant) {
    const oldest = this.#indexAt(epochMs(now) - this.#windowMs);
    let answered = 0;
    let timedOut = 0;
    for (const [index, bucket] of this.#buckets) {
      if (index <= oldest) this.#buckets.delete(index);
      else {
        answered += bucket.answered;
        timedOut += bucket.timedOut;
      }
    }
    return timedOut === 0 ? 0 : timedOut / (answered + timedOut);
  }

  #bucketAt(at: Instant) {
    const index = this.#indexAt(epochMs(at));
    const bucket = this.#buckets.get(index) ?? { answered: 0, timedOut: 0 };
    this.#buckets.set(index, bucket);
    return bucket;
  }

  #indexAt(ms: number) {
    return Math.floor(ms / this.#bucketMs);
  }
}
