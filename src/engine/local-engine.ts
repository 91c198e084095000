import type { OpenChannel } from "../core/channel/channel.ts";
import type { Entry } from "../core/changes.ts";
import type { Actor } from "../core/people/actor.ts";
import { stopService } from "../core/trail/store-event.ts";
import { type Instant, MINUTE_MS, epochMs, instant } from "../core/instant.ts";
import { Refusal } from "../core/refusal.ts";
import type { Rules } from "../core/rules.ts";
import type { Store } from "../store/store.ts";
import { Decider, type DecideDeps } from "./decide.ts";
import type { Engine, PeopleEngine, QuestionEngine, ReachEngine, RunEngine } from "./engine.ts";
import { type ClockMachine, ClockWatch } from "./jobs/clock-watch.ts";
import { scheduleSeals, sealTrail } from "./jobs/seal-job.ts";
import { type JobContext, Worker, type WorkerDeps } from "./jobs/worker.ts";
import { methodsOf } from "./methods-of.ts";
import { People } from "./people/people.ts";
import { recheckQuorums, removeFromList } from "./people/remove-person.ts";
import { listAttention } from "./reach/attention.ts";
import { Messenger } from "./reach/messenger.ts";
import { previewMessages } from "./reach/preview.ts";
import { reportPresence } from "./reach/presence.ts";
import { Reach } from "./reach/reach.ts";
import { Questions } from "./questions.ts";
import { Runs } from "./runs.ts";
import { countStats } from "./stats/count-stats.ts";
import { Precedents } from "./stats/precedents.ts";
import { StatsCache } from "./stats/stats-cache.ts";
import type { AlertWatch, AlertWatchDeps } from "./stats/alert-watch.ts";
import { WordFollower } from "./stats/word-follower.ts";
import { Templates } from "./templates.ts";
import { Archiver } from "./trail/archiver.ts";
import { verify } from "./trail/verify.ts";
import { Waiters } from "./waiters.ts";

/** How long the store's last time is trusted; no caller waits for a round trip to the database meanwhile. */
const FRESH_MS = MINUTE_MS;

export interface LocalDeps extends Omit<DecideDeps, "now"> {
  randomBytes: (count: number) => Uint8Array;
  /** The clock of this machine. */
  nowMs: () => number;
  /** How jobs are done, by kind; a kind that is not in the table is left to other workers. */
  worker: Omit<WorkerDeps, "store" | "decider" | "clock" | "syncClock">;
  /** This machine and its real time. */
  machine: ClockMachine;
  /** Brings messages to people; without it this process leaves them to others. */
  reach?: { openChannel: OpenChannel; onFailure: (channel: string, error: unknown) => void } | undefined;
  /** Reports what people are warned of, in a process that watches for it; without it that is left to others. */
  alerts?: Pick<AlertWatchDeps, "onAlert" | "onFailure"> | undefined;
  /** Follows the agents of this process, and lets go of them before the store is closed. */
  runner?: {
    readonly count: number;
    begin(work: Pick<JobContext, "store" | "decider">): Promise<void>;
    leave(): Promise<void>;
  };
}

/** The engine that writes to a store of its own. There is no other writer. */
export interface LocalEngine extends Engine {
  /** Number of questions that callers in this process wait for. */
  readonly holds: number;
  /** Number of agents that this process follows. */
  carried(): number;
  /** Takes the replies in a request of a service, which its channel checks. */
  receiveHook: Messenger["receiveHook"];
  /** The heartbeat rows of the workers on this store. */
  listWorkerRows(): Promise<Entry[]>;
  /** Records that the server or the worker of a machine was stopped, and by whom. */
  recordServiceStop(stopped: { host: string; processes: readonly number[] }, by: Actor): Promise<void>;
  /** The store, and the one way to change it, for parts that work beside the engine. */
  readonly inside: Pick<JobContext, "store" | "decider">;
}

type TemplateVerbs = Pick<PeopleEngine, "putTemplate" | "listTemplates" | "removeTemplate">;

/** Puts questions, runs, people, the trail and a worker together on one store. */
export function createLocalEngine(deps: LocalDeps): LocalEngine {
  const { store, rules } = deps;
  const clock = new StoreClock(deps.nowMs, () => store.now());
  const now = () => clock.now();
  const decider = new Decider({ ...deps, now });
  const statsCache = new StatsCache(store);
  const waiters = new Waiters();
  const words = new WordFollower({ store, cache: statsCache, archiver: new Archiver(store, rules.archiveAfterMs) });
  const precedents = new Precedents({ store, words, rows: decider.rows });
  const people = new People({ store, now, rules, randomBytes: deps.randomBytes });
  const worker = new Worker({
    ...deps.worker,
    store,
    decider,
    syncClock: (at) => clock.sync(at),
    clock: new ClockWatch({ ...deps, decider }),
    prepare: () => scheduleSeals(store, decider),
    begin: async () => deps.runner?.begin({ store, decider }),
  });
  const stopListening = store.onChange((change) => {
    decider.rows.forgetChanged(change);
    precedents.noteChange();
    words.noteChange();
    // After the caller whose commit this is has remembered what it wrote, through however many async functions the
    // result passes: those who wait then need not read it.
    process.nextTick(() => waiters.wake(change));
  });
  const uptimeMs = () => deps.machine.uptimeMs();
  const questions = new Questions({ ...deps, now, uptimeMs, decider, waiters, people, words, precedents });
  const syncClock = (at: Instant) => clock.sync(at);
  const messenger =
    deps.reach &&
    new Messenger({ ...deps.reach, store, decider, questions, people, rules, worker: { ...deps.worker, syncClock } });
  const alerts = deps.alerts && alertWatcher({ ...deps.alerts, store, rules, ids: deps.ids });
  return {
    ...methodsOf<QuestionEngine>(questions),
    ...methodsOf<RunEngine>(new Runs({ store, decider })),
    ...methodsOf<Omit<PeopleEngine, "putPerson" | "removePerson" | keyof TemplateVerbs>>(people),
    ...reachEngine({ store, decider, rules, openChannel: deps.reach?.openChannel }),
    receiveHook: hookReceiver(messenger),
    ...methodsOf<TemplateVerbs>(new Templates({ store, at: (by) => decider.at(by) })),
    putPerson: async (person, by) => {
      const put = await people.putPerson(person, by);
      await recheckQuorums({ store, decider }, by);
      return put;
    },
    removePerson: (id, options, by) => removeFromList({ store, decider }, { id, ...options }, by),
    readChain: async (runId) => (await store.readChain(runId)).events,
    readFeed: (after, limit) => store.readFeed(after, limit),
    readNewest: (before, limit) => store.readTrailPage({ before, limit }),
    findFeedEnd: () => store.findFeedEnd(),
    verify: (options) => verify(store, options),
    seal: async () => sealTrail(store, await clock.checked()),
    stats: (query = {}) => countStats(query, store, rules, statsCache),
    now: () => clock.checked(),
    doDue: async () => (await worker.doDue()) + ((await messenger?.doDue()) ?? 0),
    work: async () => {
      words.follow();
      await Promise.all([worker.work(), messenger?.work(), alerts?.start()]);
    },
    stop: async () => {
      stopListening();
      await words.stop();
      await Promise.all([worker.stop(), messenger?.stop(), alerts?.stop()]);
      await deps.runner?.leave();
      await decider.settled();
      await store.close();
    },
    get holds() {
      return waiters.count;
    },
    carried: () => deps.runner?.count ?? 0,
    listWorkerRows: () => store.listEntries("worker"),
    inside: { store, decider },
    recordServiceStop: async (stopped, by) => void (await decider.commit(stopService(stopped, decider.at(by)))),
  };
}

/** A watch that is loaded when it starts: most commands do no work. */
function alertWatcher(deps: AlertWatchDeps): Pick<AlertWatch, "stop"> & { start(): Promise<void> } {
  let watching: Promise<AlertWatch> | undefined;
  const begin = async () => {
    const watch = new (await import("./stats/alert-watch.ts")).AlertWatch(deps);
    watch.start();
    return watch;
  };
  return {
    start: async () => void (await (watching ??= begin())),
    stop: async () => (await watching)?.stop(),
  };
}

/** The verbs about people who are told, in one place. */
function reachEngine(deps: {
  store: Store;
  decider: Decider;
  rules: Rules;
  openChannel: OpenChannel | undefined;
}): ReachEngine {
  return {
    ...methodsOf<Omit<ReachEngine, "reportPresence" | "listAttention" | "previewMessages">>(new Reach(deps)),
    listAttention: () => listAttention(deps),
    previewMessages: (id) => previewMessages(deps, id),
    reportPresence: (by) => reportPresence(deps, by),
  };
}

/** Without channels in this process nothing comes from services either. */
function hookReceiver(messenger: Messenger | undefined): LocalEngine["receiveHook"] {
  return async (name, hook) => {
    if (messenger) return messenger.receiveHook(name, hook);
    throw new Refusal("not_found", "There is nothing at this address");
  };
}

/** The store's time as this process knows it: the machine's clock, corrected by what the store last said. */
export class StoreClock {
  readonly #machineMs: () => number;
  readonly #askStore: () => Promise<Instant>;
  #aheadMs = 0;
  #saidAtMs = -Infinity;

  constructor(machineMs: () => number, askStore: () => Promise<Instant>) {
    this.#machineMs = machineMs;
    this.#askStore = askStore;
  }

  now(): Instant {
    return instant(this.#machineMs() + this.#aheadMs);
  }

  /** The same, by what the store said at most a minute ago. */
  async checked(): Promise<Instant> {
    const passedMs = this.#machineMs() - this.#saidAtMs;
    // Less than nothing has passed where somebody put the machine's clock back.
    if (passedMs < 0 || passedMs > FRESH_MS) this.sync(await this.#askStore());
    return this.now();
  }

  sync(storeNow: Instant): void {
    this.#saidAtMs = this.#machineMs();
    this.#aheadMs = epochMs(storeNow) - this.#saidAtMs;
  }
}
