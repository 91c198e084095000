import type { HookBatch, InboundHook } from "../../core/channel/channel.ts";
import { Refusal } from "../../core/refusal.ts";
import { releaseJobs } from "../jobs/release-jobs.ts";
import { Worker, type WorkerDeps } from "../jobs/worker.ts";
import { deliverHandler } from "./deliver-handler.ts";
import { type ListenerDeps, Listeners } from "./listener.ts";
import { markIssueHandler } from "./mark-issue-handler.ts";
import { ChatLimit } from "./private-chat.ts";
import { receiveReplies } from "./receive.ts";

type MessengerDeps = Omit<ListenerDeps, "holder" | "chatLimit"> & {
  worker: Omit<WorkerDeps, "handlers" | "store" | "decider" | "clock">;
};

const MOST_JOBS = 10_000;

/** Makes workflows that start by labels and schedules look now. */
async function lookAtTriggers(store: ListenerDeps["store"]): Promise<void> {
  const jobs = (await store.listJobs(MOST_JOBS)).filter(({ kind }) => kind === "trigger");
  if (jobs.length > 0) await releaseJobs(store, jobs);
}

/** Brings messages to people and listens for their replies. */
export class Messenger {
  // A channel may take long to reply, and deadlines must not wait for it: messages have a worker of their own.
  readonly #deliverer: Worker;
  readonly #listeners: Listeners;
  readonly #deps: Omit<ListenerDeps, "holder">;

  constructor({ worker, ...deps }: MessengerDeps) {
    this.#deps = { ...deps, chatLimit: new ChatLimit() };
    const { store, decider, openChannel } = deps;
    const marksIssues = deps.rules.reach.some(({ hasIssues }) => hasIssues);
    const handlers: WorkerDeps["handlers"] = {
      deliver: deliverHandler(openChannel),
      // Only a process that reaches issues takes such a job.
      ...(marksIssues && { mark_issue: markIssueHandler(openChannel) }),
    };
    this.#deliverer = new Worker({ ...worker, store, decider, handlers });
    this.#listeners = new Listeners({ ...this.#deps, holder: () => worker.id() });
  }

  /**
   * Takes the replies in a request of a service. Refuses it if that channel takes none, or its signature is wrong. The
   * request is read at once; `taken` ends when everything in it is in the store.
   */
  async receiveHook(name: string, hook: InboundHook): Promise<Omit<HookBatch, "replies"> & { taken: Promise<void> }> {
    const { rules, openChannel } = this.#deps;
    const channel = rules.reach.some((each) => each.name === name) ? await openChannel(name) : undefined;
    if (!channel?.readHook) throw new Refusal("not_found", "There is nothing at this address");
    const batch = await channel.readHook(hook);
    if (!batch) throw new Refusal("sign_in", "The signature of this request is not valid");
    const takeAll = async () => {
      await receiveReplies(this.#deps, channel, batch.replies);
      if (batch.hasLabels) await lookAtTriggers(this.#deps.store);
    };
    return { response: batch.response, text: batch.text, taken: takeAll() };
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
