import { announceAgain } from "../../core/channel/announce.ts";
import type { Channel, MessageFailure, OpenChannel } from "../../core/channel/channel.ts";
import { deliveryEntry, returnDelivery } from "../../core/channel/delivery/delivery.ts";
import { tellIn } from "../../core/channel/message-words.ts";
import { withBounce } from "../../core/channel/target.ts";
import { SYSTEM } from "../../core/people/actor.ts";
import { withoutDirectory } from "../../core/people/directory.ts";
import { changePerson } from "../../core/people/person.ts";
import { sayWhy } from "../jobs/job-retry.ts";
import { findDelivery } from "./find-delivery.ts";
import { readSubject } from "./message-subject.ts";
import { tellElsewhere } from "./outage.ts";
import { type ReceiveDeps, languageOf } from "./receive.ts";

/**
 * Records that a message came back: nobody has it. The address of its recipient is not used any more, and they are told
 * elsewhere: of that, and of the question itself.
 */
export async function receiveFailure(
  deps: ReceiveDeps & { openChannel: OpenChannel },
  channel: Channel,
  failure: MessageFailure,
): Promise<void> {
  const { decider } = deps;
  const why = sayWhy(failure.why);
  const returned = await decider.retry(async () => {
    const found = await findDelivery(deps, channel, { token: failure.token, from: undefined });
    if (!found || found.state === "failed") return { delivery: undefined };
    const at = decider.at(SYSTEM);
    const { events } = await readSubject(found, deps);
    const person = found.person === undefined ? undefined : await decider.findPerson(found.person);
    const marked = person && withBounce(person, why, at.now);
    const marking =
      marked && marked !== person ? changePerson(person, withoutDirectory(marked, at.rules.directory), at) : {};
    const committed = await decider.commit({
      entries: [deliveryEntry(returnDelivery(found, why, at.now)), ...(marking.entries ?? [])],
      events: [
        ...events("delivery_failed", { channel: found.channel, person: found.person, why, final: true }),
        ...(marking.events ?? []),
      ],
    });
    return committed.ok ? { delivery: found, person } : undefined;
  });
  const { delivery, person } = returned;
  if (!delivery || !person) return;
  const { questionId, channel: name } = delivery;
  const text = tellIn(languageOf(deps, person), "bounced", { why, name: person.id });
  await tellElsewhere({ channel: name, person: person.id }, text, deps);
  if (questionId === undefined) return;
  const people = await decider.readPeople();
  await decider.changeQuestion(questionId, SYSTEM, ({ question }, at) => announceAgain(question, at, people));
}
