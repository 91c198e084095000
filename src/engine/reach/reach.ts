import { type ChannelState, type DeliveryStatus, withDigest } from "../../core/channel/delivery/delivery-status.ts";
import { parseDelivery } from "../../core/channel/delivery/delivery.ts";
import { isReachable } from "../../core/channel/target.ts";
import { withDirectory } from "../../core/people/directory.ts";
import { parsePerson } from "../../core/people/person.ts";
import type { EventType } from "../../core/trail/event.ts";
import type { QuestionId, RunId } from "../../core/id.ts";
import type { Rules } from "../../core/rules.ts";
import type { Store } from "../../store/store.ts";
import type { ReachEngine } from "../engine.ts";
import { readLastSent } from "./last-sent.ts";
import { readListener } from "./listener-lease.ts";
import { listOutages } from "./outage.ts";

/** How far back the trail is searched for when exactly a channel last sent something. */
const SEARCHED = 500;
const MOST_JOBS = 1_000;
const NOTIFIED: ReadonlySet<EventType> = new Set(["question.notified", "run.notified"]);

type ReadStore = Pick<Store, "listEntries" | "readTrailPage" | "listJobs" | "readEntries" | "findEntry">;

/** Deliveries and channels, as far as people may see them. */
export class Reach implements Omit<ReachEngine, "reportPresence" | "listAttention" | "previewMessages"> {
  readonly #store: ReadStore;
  readonly #rules: Pick<Rules, "reach" | "directory">;

  constructor({ store, rules }: { store: ReadStore; rules: Pick<Rules, "reach" | "directory"> }) {
    this.#store = store;
    this.#rules = rules;
  }

  listDeliveries(id: QuestionId): Promise<DeliveryStatus[]> {
    return this.#listOf(id);
  }

  listRunDeliveries(id: RunId): Promise<DeliveryStatus[]> {
    return this.#listOf(id);
  }

  async #listOf(parent: QuestionId | RunId) {
    const deliveries = (await this.#store.listEntries("delivery", parent)).map(parseDelivery);
    const ids = deliveries.flatMap(({ digest }) => digest ?? []);
    const digests = ids.length === 0 ? [] : (await this.#store.readEntries("digest", ids)).map(parseDelivery);
    return deliveries.map((each) =>
      withDigest(
        each,
        digests.find(({ id }) => id === each.digest),
      ),
    );
  }

  async listChannels(): Promise<ChannelState[]> {
    const events = (await this.#store.readTrailPage({ limit: SEARCHED })).map(({ event }) => event);
    const jobs = (await this.#store.listJobs(MOST_JOBS)).filter(({ kind }) => kind === "deliver");
    const ids = jobs.map(({ key }) => key.slice(key.indexOf(":") + 1));
    const outages = await listOutages(this.#store);
    const waiting = (await this.#store.readEntries("delivery", ids)).map(parseDelivery);
    const hasPersonal = this.#rules.reach.some(({ isPersonal }) => isPersonal);
    const stored = hasPersonal ? (await this.#store.listEntries("person")).map(parsePerson) : [];
    const people = withDirectory(stored, this.#rules.directory);
    return Promise.all(
      this.#rules.reach.map(async ({ name, isPersonal }) => {
        const sent = events.find(({ type, detail }) => NOTIFIED.has(type) && detail?.["channel"] === name);
        const sentAt = sent?.at ?? (await readLastSent(this.#store, name));
        const outage = outages.find(({ channel }) => channel === name);
        const listener = await readListener(this.#store, name);
        return {
          name,
          lastSentAt: sentAt,
          outage: outage && { person: outage.person, since: outage.since, why: outage.why },
          waiting: waiting.filter(({ channel }) => channel === name).length,
          listenedUntil: listener?.until,
          recipients: isPersonal ? people.filter((person) => isReachable(person, name)).length : undefined,
        };
      }),
    );
  }
}
