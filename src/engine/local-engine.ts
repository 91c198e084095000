import type { Entry } from "../core/changes.ts";
import type { Instant } from "../core/instant.ts";
import { Decider, type DecideDeps } from "./decide.ts";
import type { Engine, PeopleEngine, QuestionEngine, RunEngine, TrailEngine } from "./engine.ts";
import { type ClockMachine, ClockWatch } from "./jobs/clock-watch.ts";
import { scheduleSeals } from "./jobs/seal-job.ts";
import { type JobContext, Worker, type WorkerDeps } from "./jobs/worker.ts";
import { methodsOf } from "./methods-of.ts";
import { People } from "./people/people.ts";
import { removeFromList } from "./people/remove-person.ts";
import { Questions } from "./questions.ts";
import { Runs } from "./runs.ts";
import { Precedents } from "./stats/precedents.ts";
import { WordFollower } from "./stats/word-follower.ts";
import { Templates } from "./templates.ts";
import { Trail } from "./trail/trail.ts";
import { Waiters } from "./waiters.ts";

export interface LocalDeps extends DecideDeps {
  randomBytes: (count: number) => Uint8Array;
  /** The store's time, which the store itself reported recently. */
  checkedNow: () => Promise<Instant>;
  /** How jobs are done, by kind; a kind that is not in the table is left to other workers. */
  worker: Omit<WorkerDeps, "store" | "decider" | "clock">;
  /** This machine and its real time. */
  machine: ClockMachine;
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
  /** The heartbeat rows of the workers on this store. */
  listWorkerRows(): Promise<Entry[]>;
}

type TemplateVerbs = Pick<PeopleEngine, "putTemplate" | "listTemplates" | "removeTemplate">;

/** Puts questions, runs, people, the trail and a worker together on one store. */
export function createLocalEngine(deps: LocalDeps): LocalEngine {
  const { store, now } = deps;
  const decider = new Decider(deps);
  const waiters = new Waiters();
  const words = new WordFollower({ store });
  const precedents = new Precedents({ store, words, rows: decider.rows });
  const people = new People({ store, now, randomBytes: deps.randomBytes });
  const worker = new Worker({
    ...deps.worker,
    store,
    decider,
    clock: new ClockWatch({ ...deps, decider }),
    prepare: () => scheduleSeals(store, decider),
    begin: async () => deps.runner?.begin({ store, decider }),
  });
  const stopListening = store.onChange((change) => {
    decider.rows.forgetChanged(change);
    precedents.noteChange();
    words.noteChange();
    waiters.wake(change);
  });
  const uptimeMs = () => deps.machine.uptimeMs();
  return {
    ...methodsOf<QuestionEngine>(new Questions({ ...deps, uptimeMs, decider, waiters, people, words, precedents })),
    ...methodsOf<RunEngine>(new Runs({ store, decider })),
    ...methodsOf<Omit<PeopleEngine, "removePerson" | keyof TemplateVerbs>>(people),
    ...methodsOf<TemplateVerbs>(new Templates({ store, at: (by) => decider.at(by) })),
    removePerson: (id, options, by) => removeFromList({ store, decider }, { id, ...options }, by),
    ...methodsOf<TrailEngine>(new Trail(deps)),
    now: () => deps.checkedNow(),
    doDue: () => worker.doDue(),
    work: async () => {
      words.follow();
      await worker.work();
    },
    stop: async () => {
      stopListening();
      await words.stop();
      await worker.stop();
      await deps.runner?.leave();
      await decider.settled();
      await store.close();
    },
    get holds() {
      return waiters.count;
    },
    carried: () => deps.runner?.count ?? 0,
    listWorkerRows: () => store.listEntries("worker"),
  };
}
