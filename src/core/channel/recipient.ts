import type { Person } from "../people/person.ts";
import type { Question } from "../question/question.ts";
import type { Recipient } from "./channel.ts";
import { type Target, findAddress, meantBy } from "./target.ts";

/** The recipient of a question's message: a person, or a shared address with the accounts that are mentioned there. */
export function recipientOf(question: Question, target: Target, people: readonly Person[]): Recipient {
  const { channel, person: id } = target;
  if (id === undefined)
    return { address: sharedAddress(question, channel), mention: mentionedIn(question, channel, people) };
  const person = people.find((each) => each.id === id && !each.removed);
  return { address: person && findAddress(person, channel), person: id };
}

/** The shared addresses that a question names; all configured ones if it names none. */
export function sharedAddress({ notify }: Pick<Question, "notify">, channel: string): string | undefined {
  // Only a mail has several recipients; every other shared channel has the one that is configured.
  return channel === "email" ? notify.find((target) => target.channel === channel)?.address : undefined;
}

/** The accounts in a channel of the people whom a question is meant for. */
export function mentionedIn(question: Question, channel: string, people: readonly Person[]): string[] {
  return meantBy(question, people).flatMap((each) => findAddress(each, channel) ?? []);
}
