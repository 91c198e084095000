import { alertTargets, type Target } from "../../core/channel/target.ts";
import type { OpenChannel } from "../../core/channel/channel.ts";
import { isDeafOutage, parseOutage } from "../../core/channel/outage.ts";
import type { Instant } from "../../core/instant.ts";
import { SYSTEM } from "../../core/people/actor.ts";
import { Refusal } from "../../core/refusal.ts";
import type { Store } from "../../store/store.ts";
import type { Decider } from "../decide.ts";
import { sayWhy } from "../jobs/job-retry.ts";
import { beginOutage, endOutage, reportOutage } from "./outage.ts";

interface HearingDeps {
  store: Store;
  decider: Decider;
  openChannel: OpenChannel;
}

/** Keeps record of the channels whose replies cannot be read, for all to see, and tells people of those that stay so. */
export class Hearing {
  readonly #deps: HearingDeps;
  /** The first failure of each channel that has not been heard since. */
  readonly #failedAt = new Map<string, Instant>();
  readonly #heard = new Set<string>();

  constructor(deps: HearingDeps) {
    this.#deps = deps;
  }

  /**
   * Takes note of an attempt that failed. A connection that breaks is opened again at once, so only the second failure in
   * a row counts; what a service refuses counts at once.
   */
  async failed(channel: string, error: unknown): Promise<void> {
    const { store, decider } = this.#deps;
    const { now } = decider.at(SYSTEM);
    const first = this.#failedAt.get(channel);
    this.#heard.delete(channel);
    this.#failedAt.set(channel, first ?? now);
    if (first === undefined && !(error instanceof Refusal)) return;
    const failure = { why: sayWhy(error), at: first ?? now };
    for (const { person } of await this.#listConcerned(channel)) {
      const place = { channel, person, isDeaf: true } as const;
      const begun = await beginOutage(store, place, failure);
      if (begun.entries) await decider.commit(begun);
      await reportOutage(place, this.#deps);
    }
  }

  /** Takes note that replies are read: an outage is over, whichever process began it. */
  async heard(channel: string): Promise<void> {
    if (this.#heard.has(channel)) return;
    const { store, decider } = this.#deps;
    for (const entry of await store.listEntries("outage")) {
      const outage = isDeafOutage(entry, channel) ? parseOutage(entry) : undefined;
      const ended = outage && (await endOutage(store, outage));
      if (ended?.entries) await decider.commit(ended);
    }
    this.#failedAt.delete(channel);
    this.#heard.add(channel);
  }

  /** The recipients in the channel: each of them may reply there. */
  async #listConcerned(channel: string): Promise<Target[]> {
    const { decider } = this.#deps;
    const { now, rules } = decider.at(SYSTEM);
    const reach = rules.reach.filter(({ name }) => name === channel);
    const people = reach.some(({ isPersonal }) => isPersonal) ? await decider.readPeople() : [];
    const targets = alertTargets([], { now, rules: { reach }, people });
    return targets.length > 0 ? targets : [{ channel, person: undefined }];
  }
}
