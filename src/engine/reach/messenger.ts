import { Worker, type WorkerDeps } from "../jobs/worker.ts";
import { deliverHandler } from "./deliver-handler.ts";
import { type ListenerDeps, Listeners } from "./listener.ts";

type MessengerDeps = Omit<ListenerDeps, "holder"> & {
  worker: Omit<WorkerDeps, "handlers" | "store" | "decider" | "clock">;
};

/** Brings messages to people and listens for their replies. */
export class Messenger {
  // A channel may take long to reply, and deadlines must not wait for it: messages have a worker of their own.
  readonly #deliverer: Worker;
  readonly #listeners: Listeners;

  constructor({ worker, ...deps }: MessengerDeps) {
    const { store, decider, openChannel } = deps;
    this.#deliverer = new Worker({ ...worker, store, decider, handlers: { deliver: deliverHandler(openChannel) } });
    this.#listeners = new Listeners({ ...deps, holder: () => worker.id() });
  }

  doDue(): Promise<number> {
    return this.#deliverer.doDue();
  }

  async work(): Promise<void> {
    await Promise.all([this.#deliverer.work(), this.#listeners.run()]);
  }

  async stop(): Promise<void> {
    await Promise.all([this.#deliverer.stop(), this.#listeners.stop()]);
  }
}
