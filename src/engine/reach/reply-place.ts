import type { Channel, Reply } from "../../core/channel/channel.ts";
import { type Delivery, outsideOf, parseDelivery, placeName } from "../../core/channel/delivery/delivery.ts";
import { tellIn } from "../../core/channel/message-words.ts";
import { namesOption } from "../../core/channel/reply.ts";
import { randomPart, shortId } from "../../core/id.ts";
import { isPending } from "../../core/question/question.ts";
import type { Language } from "../../core/text/language.ts";
import type { Store } from "../../store/store.ts";
import type { Decider } from "../decide.ts";

const LEAST_NAMED_CHARS = 4;

/**
 * The messages that a reply at a place may be about, newest first. One that names a question is about that one, also when
 * it is closed. Any other is about the questions that wait there. Where none waits, people only talk, unless they name an
 * option of the newest question: that is a late answer.
 */
export async function findAtPlace(
  { store, decider }: { store: Pick<Store, "readEntries" | "listEntries">; decider: Decider },
  channel: Channel,
  reply: Reply,
): Promise<Delivery[]> {
  const { places } = channel;
  if (reply.place === undefined || !places) return [];
  const entries = await store.listEntries("outside", placeName(channel.name, reply.place));
  const ids = entries
    .filter((entry) => places.isAfter(reply, outsideOf(entry, channel.name)))
    .map(({ body }) => String(body["delivery"]));
  const deliveries = (await store.readEntries("delivery", [...new Set(ids)])).map(parseDelivery);
  const newest = deliveries.toSorted((one, other) => (idOf(one) < idOf(other) ? 1 : -1));
  // A reply that comes again after a crash or a restart is about the same message as before.
  const taken = newest.find(({ handled }) => handled.includes(reply.key));
  if (taken) return [taken];
  const { question: name } = reply;
  if (name !== undefined) return newest.filter((delivery) => isNamedBy(idOf(delivery), name));
  const reads = await decider.rows.readMany(newest.flatMap(({ questionId }) => questionId ?? []));
  const read = (delivery: Delivery) => reads.find(({ question }) => question.id === delivery.questionId);
  const waiting = newest.filter((delivery) => {
    const about = read(delivery);
    return about && isPending(about.question);
  });
  const [last] = newest;
  // An edit says nothing new.
  if (waiting.length > 0 || !last || reply.isEdited === true) return waiting;
  const about = read(last);
  return about && namesOption(about.content, reply.text) ? [last] : [];
}

function idOf({ questionId }: Delivery): string {
  return questionId ?? "";
}

/** People type a question's id as it is shown: shortened. */
function isNamedBy(id: string, name: string) {
  const typed = name.toLowerCase().replace(/^q[-_]/, "");
  if (typed === id.slice(2)) return true;
  return typed.length >= LEAST_NAMED_CHARS && randomPart(id).startsWith(typed);
}

/** The words for a reply that may be about several questions. */
export function sayWhich(
  candidates: readonly Delivery[],
  { places }: Pick<Channel, "places">,
  language: Language,
): string {
  const ids = candidates.map(idOf);
  const commands = ids.map((id) => `/answer ${shortId(id, ids)} …`).toReversed();
  if (places?.isPrivate) return tellIn(language, "which.message", { n: ids.length, commands: commands.join(", ") });
  return tellIn(language, "which", { n: ids.length, commands: commands.map((each) => `\`${each}\``).join(", ") });
}
