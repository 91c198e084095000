import type { Channel, Reply } from "../../core/channel/channel.ts";
import { type Delivery, deliveryId, parseDelivery } from "../../core/channel/delivery/delivery.ts";
import { findAddress } from "../../core/channel/target.ts";
import { QuestionId } from "../../core/id.ts";
import type { Person } from "../../core/people/person.ts";
import type { Store } from "../../store/store.ts";
import type { Decider } from "../decide.ts";

interface FindDeps {
  store: Store;
  decider: Decider;
}

/** The message that a reply is about: by the token of its buttons, by itself, or by the question that the sender names. */
export async function findDelivery(
  deps: FindDeps,
  channel: Channel,
  reply: Pick<Reply, "token" | "outside" | "question" | "from">,
): Promise<Delivery | undefined> {
  const { store } = deps;
  const { token, outside, question } = reply;
  if (question !== undefined) return findByQuestion(deps, channel, question, reply.from);
  const id = token === undefined ? await findByMessage(store, channel, outside) : deliveryId(token);
  const entry =
    id === undefined ? undefined : ((await store.findEntry("delivery", id)) ?? (await store.findEntry("digest", id)));
  const delivery = entry && parseDelivery(entry);
  return delivery?.channel === channel.name ? delivery : undefined;
}

async function findByMessage(store: Store, channel: Channel, outside: string | undefined) {
  const entry = outside === undefined ? undefined : await store.findEntry("outside", `${channel.name}:${outside}`);
  const id = entry?.body["delivery"];
  return typeof id === "string" ? id : undefined;
}

/** The message about a question that its sender names: their own, or the one that all can see. */
async function findByQuestion({ store, decider }: FindDeps, channel: Channel, name: string, from?: string) {
  const id = await findQuestionId(store, name);
  if (id === undefined) return undefined;
  const sender = await findByAccount(decider, channel, from);
  const deliveries = (await store.listEntries("delivery", id)).map(parseDelivery);
  const there = deliveries.filter((each) => each.channel === channel.name);
  return there.find(({ person }) => person === sender?.id) ?? there.find(({ person }) => person === undefined);
}

async function findQuestionId(store: Store, name: string): Promise<QuestionId | undefined> {
  const whole = QuestionId.safeParse(name);
  if (whole.success) return whole.data;
  const short = name.toLowerCase().replace(/^q[-_]/, "");
  if (!/^[0-9a-z]{4,26}$/.test(short)) return undefined;
  const [found, ...others] = (await store.lookUp({ by: "short", text: short }, 2)).questions;
  return others.length === 0 ? found?.id : undefined;
}

/** The person on the list whose account this is. */
export async function findByAccount(
  decider: Decider,
  channel: Channel,
  account: string | undefined,
): Promise<Person | undefined> {
  if (account === undefined) return undefined;
  const people = await decider.readPeople();
  return people.find((each) => !each.removed && findAddress(each, channel.name) === account);
}
