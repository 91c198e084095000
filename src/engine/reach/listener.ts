import { setTimeout } from "node:timers/promises";
import type { Channel, OpenChannel } from "../../core/channel/channel.ts";
import { MINUTE_MS, SECOND_MS } from "../../core/instant.ts";
import { Refusal } from "../../core/refusal.ts";
import type { Rules } from "../../core/rules.ts";
import { Hearing } from "./listener-health.ts";
import { endListenerLease, readListener, saveCursor, takeListenerLease } from "./listener-lease.ts";
import { receiveFailure } from "./receive-failure.ts";
import { receivePairing } from "./receive-pairing.ts";
import { type ListenDeps, receiveReplies } from "./receive.ts";
import { listOpenMessages, showAgain } from "./open-messages.ts";
import { takeEach } from "./take-each.ts";

const RENEW_MS = 5 * SECOND_MS;
/** How long to wait before another process's lease, or a channel that failed, is looked at again. */
const PAUSES_MS = [SECOND_MS, 2 * SECOND_MS, 5 * SECOND_MS, 30 * SECOND_MS];
/** A credential that the service refuses is not tried more often: a person has to replace it. */
const REFUSED_MS = MINUTE_MS;
/** A service that ends the connection at once must not be asked in a tight loop. */
const RECONNECT_MS = 250;

export interface ListenerDeps extends ListenDeps {
  rules: Pick<Rules, "reach">;
  openChannel: OpenChannel;
  /** Names this process in leases. */
  holder: () => string;
}

/** Listens for replies in all channels that have them; of several processes one listens to each channel. */
export class Listeners {
  readonly #deps: ListenerDeps;
  readonly #hearing: Hearing;
  readonly #stop = new AbortController();
  #running: Promise<void> | undefined;

  constructor(deps: ListenerDeps) {
    this.#deps = deps;
    this.#hearing = new Hearing(deps);
  }

  /** Listens until stopped. */
  run(): Promise<void> {
    const names = this.#deps.rules.reach.map(({ name }) => name);
    this.#running ??= Promise.all(names.map((name) => this.#keepListening(name))).then(() => undefined);
    return this.#running;
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  async #keepListening(name: string) {
    const { signal } = this.#stop;
    for (let failures = 0; !signal.aborted;) {
      let channel: Channel | undefined;
      try {
        channel = await this.#deps.openChannel(name);
        if (!channel.listen) return;
        const hasListened = channel.isHeard ? await this.#listenAlone(channel) : await this.#listenOnce(channel);
        failures = hasListened ? 0 : Math.min(failures + 1, 2);
      } catch (error) {
        if (signal.aborted) return;
        failures += 1;
        // A channel that only its own process hears shows nothing either while that fails: sending tells of it.
        if (channel?.isHeard) this.#deps.onFailure(name, error);
        else await this.#noteFailure(name, error);
        if (error instanceof Refusal) {
          await pause(REFUSED_MS, signal);
          continue;
        }
      }
      await pause(PAUSES_MS[Math.min(failures, PAUSES_MS.length) - 1] ?? RECONNECT_MS, signal);
    }
  }

  /** Listens for replies to messages of this process; no other process could. */
  async #listenAlone(channel: Channel): Promise<boolean> {
    await showAgain(this.#deps.store, this.#deps.decider, channel.name);
    const listOpen = () => listOpenMessages(this.#deps.store, channel.name);
    for await (const { replies } of channel.listen?.(undefined, this.#stop.signal, listOpen) ?? []) {
      await receiveReplies(this.#deps, channel, replies);
    }
    return true;
  }

  /** Listens for as long as this process has the lease; false if another one has it. */
  async #listenOnce(channel: Channel): Promise<boolean> {
    const { store, holder } = this.#deps;
    const lease = await takeListenerLease(store, channel.name, holder());
    if (!lease) return false;
    const lost = new AbortController();
    const signal = AbortSignal.any([this.#stop.signal, lost.signal]);
    const timer = setInterval(() => void this.#renew(channel, lost), RENEW_MS);
    try {
      const listOpen = () => listOpenMessages(store, channel.name);
      for await (const batch of channel.listen?.(lease.cursor, signal, listOpen) ?? []) {
        if (batch.trouble === undefined) await this.#hearing.heard(channel.name);
        else await this.#noteFailure(channel.name, new Error(batch.trouble));
        const report = (error: unknown) => this.#deps.onFailure(channel.name, error);
        await takeEach(batch.pairings, (request) => receivePairing(this.#deps, channel, request), report);
        await takeEach(batch.failures ?? [], (failure) => receiveFailure(this.#deps, channel, failure), report);
        await receiveReplies(this.#deps, channel, batch.replies);
        // Everything of the batch is in the store: from here on it need not come again.
        if (!(await saveCursor(store, channel.name, holder(), batch.cursor)) || signal.aborted) break;
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      clearInterval(timer);
      await endListenerLease(store, channel.name, holder());
    }
    return true;
  }

  /** Records that replies cannot be read: people are told if that lasts, and nothing else stops. */
  async #noteFailure(channel: string, error: unknown) {
    this.#deps.onFailure(channel, error);
    try {
      await this.#hearing.failed(channel, error);
    } catch (failed) {
      this.#deps.onFailure(channel, failed);
    }
  }

  async #renew(channel: Channel, lost: AbortController) {
    try {
      // Somebody else may have saved the cursor at this moment: only another holder ends the lease.
      const isMine = await takeListenerLease(this.#deps.store, channel.name, this.#deps.holder());
      if (!isMine && !(await this.#holds(channel))) lost.abort();
    } catch (error) {
      lost.abort();
      this.#deps.onFailure(channel.name, error);
    }
  }

  async #holds({ name }: Channel) {
    return (await readListener(this.#deps.store, name))?.holder === this.#deps.holder();
  }
}

/** Waits for this time, or until aborted. */
async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await setTimeout(ms, undefined, { signal }).catch(() => undefined); // aborted
}
