import type { Channel, Reply } from "../../core/channel/channel.ts";
import type { Delivery } from "../../core/channel/delivery/delivery.ts";
import { findAccount, findAddress } from "../../core/channel/target.ts";
import { type Actor, weakerStrength } from "../../core/people/actor.ts";
import type { Decider } from "../decide.ts";
import { findByAccount } from "./find-delivery.ts";

/** The person who replied: where a reply names its account, only the account that the message went to counts. */
export async function findSender(
  decider: Decider,
  channel: Channel,
  { person }: Delivery,
  reply: Reply,
): Promise<Actor | undefined> {
  if (channel.mayAnswer) return findAllowed(decider, channel, reply);
  const { name, strength } = channel;
  const { from, strength: proven } = reply;
  if (strength === undefined) return undefined;
  const claimed = proven ?? strength;
  const by: Actor = { scope: "human", id: person ?? name, channel: name, strength: claimed };
  if (person === undefined && strength === "person" && proven === undefined) {
    // The channel itself proves accounts: everybody on the list may answer where all can see it.
    const known = await findByAccount(decider, channel, from);
    return known && { ...by, id: known.id };
  }
  if (person === undefined) {
    // A message to a shared address may be answered by all who have it; it proves nobody.
    return { ...by, strength: weakerStrength(claimed, "bearer") };
  }
  if (from === undefined) return strength === "person" ? undefined : by;
  const known = await decider.findPerson(person);
  return known && findAddress(known, name) === from ? by : undefined;
}

/**
 * The sender of a reply that everybody can see: a person of the list by their account, or an account with rights in the
 * service. With the sign in front it is the name of no person on the list, so nobody can pass for one.
 */
async function findAllowed(decider: Decider, channel: Channel, reply: Reply): Promise<Actor | undefined> {
  const { name, strength = "none", mayAnswer } = channel;
  const { from } = reply;
  if (from === undefined) return undefined;
  const people = await decider.readPeople();
  const person = people.find((each) => !each.removed && findAccount(each, name) === from.toLowerCase());
  if (person) return { scope: "human", id: person.id, channel: name, strength };
  return (await mayAnswer?.(reply)) ? { scope: "human", id: `@${from}`, channel: name, strength } : undefined;
}
