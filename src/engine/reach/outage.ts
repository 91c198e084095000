import { announceThrough } from "../../core/channel/announce.ts";
import type { Channel, OpenChannel } from "../../core/channel/channel.ts";
import type { Delivery } from "../../core/channel/delivery/delivery.ts";
import { listOtherWays } from "../../core/channel/fallback-channel.ts";
import {
  OUTAGE_MS,
  type Outage,
  outageEntry,
  outageId,
  parseOutage,
  sayOutage,
  sayReason,
} from "../../core/channel/outage.ts";
import type { Target } from "../../core/channel/target.ts";
import type { Changes } from "../../core/changes.ts";
import { type Instant, later } from "../../core/instant.ts";
import { SYSTEM } from "../../core/people/actor.ts";
import { findQuietHours, quietUntil } from "../../core/people/quiet-hours.ts";
import { Refusal } from "../../core/refusal.ts";
import type { Store } from "../../store/store.ts";
import type { Decider } from "../decide.ts";
import type { JobContext } from "../jobs/worker.ts";

/** The part of a channel that fails: messages to a recipient, or reading replies. */
type OutagePlace = Pick<Outage, "channel" | "person" | "isDeaf">;
type ReadStore = Pick<Store, "findEntry">;

/** Begins an outage with the first failure. Later ones write nothing, so that many messages do not wait for one row. */
export async function beginOutage(
  store: ReadStore,
  { channel, person, isDeaf }: OutagePlace,
  failure: { why: string; at: Instant },
): Promise<Pick<Changes, "entries">> {
  const known = await store.findEntry("outage", outageId({ channel, person, isDeaf }));
  if (known && parseOutage(known)) return {};
  return { entries: [outageEntry(known, { channel, person, isDeaf, since: failure.at, why: failure.why })] };
}

/** Ends an outage with the first success. */
export async function endOutage(
  store: ReadStore,
  { channel, person, isDeaf }: OutagePlace,
): Promise<Pick<Changes, "entries">> {
  const known = await store.findEntry("outage", outageId({ channel, person, isDeaf }));
  return known && parseOutage(known) ? { entries: [outageEntry(known, { channel, person, isDeaf })] } : {};
}

/** The outages of now, by their beginning. */
export async function listOutages(store: Pick<Store, "listEntries">): Promise<Outage[]> {
  const outages = (await store.listEntries("outage")).flatMap((entry) => parseOutage(entry) ?? []);
  return outages
    .map(({ channel, person, since, ...reason }) => ({ channel, person, since, why: sayReason(reason) }))
    .sort((one, other) => (one.since < other.since ? -1 : 1));
}

/** When an outage that is not reported yet has lasted long enough for that; undefined if that is over. */
export async function findReportTime(
  store: ReadStore,
  { channel, person }: OutagePlace,
  now: Instant,
): Promise<Instant | undefined> {
  const known = await store.findEntry("outage", outageId({ channel, person }));
  const outage = known && parseOutage(known);
  const reportAt = outage && outage.toldAt === undefined ? later(outage.since, OUTAGE_MS) : undefined;
  return reportAt !== undefined && reportAt > now ? reportAt : undefined;
}

/** Tells the recipient of an outage that lasts through another channel of theirs, once; not in their quiet hours. */
export async function reportOutage(
  { channel, person, isDeaf }: OutagePlace,
  work: Pick<JobContext, "store" | "decider"> & { openChannel: OpenChannel },
): Promise<void> {
  const { store, decider } = work;
  const { now } = decider.at(SYSTEM);
  const known = await store.findEntry("outage", outageId({ channel, person, isDeaf }));
  const outage = known && parseOutage(known);
  if (!outage || outage.toldAt !== undefined || later(outage.since, OUTAGE_MS) > now) return;
  if ((await findQuietUntil(outage, work)) !== undefined) return;
  // Commit first: of many messages that fail at the same time one reports it.
  const told = outageEntry(known, { ...outage, toldAt: now });
  if (!(await decider.commit({ entries: [told] })).ok) return;
  const reader = outage.person === undefined ? undefined : await decider.findPerson(outage.person);
  const text = sayOutage(outage, reader?.language ?? decider.at(SYSTEM).rules.language);
  if (await tellElsewhere(outage, text, work)) return;
  // The next attempt of a message tries again; if the row changed meanwhile, the outage is over.
  await decider.commit({ entries: [outageEntry({ ...told, version: told.version + 1 }, { ...outage })] });
}

/** Tells a person of a question that a channel of theirs refused for good in the next one that reaches them. */
export async function tellAnotherWay(
  { person, channel, questionId, sentAt }: Delivery,
  { decider }: Pick<JobContext, "decider">,
): Promise<void> {
  if (person === undefined || questionId === undefined || sentAt !== undefined) return;
  const people = await decider.readPeople();
  const ways = listOtherWays({ channel, person }, decider.at(SYSTEM).rules.reach, people);
  await decider.changeQuestion(questionId, SYSTEM, ({ question }, at) => announceThrough(question, ways, at));
}

/** Sends a note to the same recipient through another channel that works; false if there is none. */
export async function tellElsewhere(
  target: Target,
  text: string,
  work: { store: ReadStore; decider: Decider; openChannel: OpenChannel },
): Promise<boolean> {
  const { store, decider } = work;
  const { rules } = decider.at(SYSTEM);
  for (const way of listOtherWays(target, rules.reach, await decider.readPeople())) {
    const failing = await store.findEntry("outage", outageId(way));
    if (failing && parseOutage(failing)) continue;
    const channel = await findChannel(work.openChannel, way.channel);
    if (!channel?.note) continue;
    const { ok } = await channel.send(channel.note(text, { address: way.address }));
    if (ok) return true;
  }
  return false;
}

async function findChannel(openChannel: OpenChannel, name: string): Promise<Channel | undefined> {
  try {
    return await openChannel(name);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return undefined; // its settings are incomplete; doctor says so
  }
}

async function findQuietUntil({ person: id }: Outage, { decider }: Pick<JobContext, "decider">) {
  const { now, rules } = decider.at(SYSTEM);
  const person = id === undefined ? undefined : { id, quiet: (await decider.findPerson(id))?.quiet };
  const hours = findQuietHours(person, rules.quietHours);
  return hours && quietUntil(hours, now);
}
