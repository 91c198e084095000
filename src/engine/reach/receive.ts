import { announceAgain } from "../../core/channel/announce.ts";
import { findAddress } from "../../core/channel/target.ts";
import type { Channel, MessageFailure, PairingRequest, Reply } from "../../core/channel/channel.ts";
import {
  type Delivery,
  deliveryEntry,
  deliveryId,
  parseDelivery,
  rememberReply,
  returnDelivery,
} from "../../core/channel/delivery.ts";
import { questionMessage, sayHowToReply, sayOnlyDenied } from "../../core/channel/message.ts";
import { tellIn } from "../../core/channel/message-words.ts";
import { readPress, readReply } from "../../core/channel/reply.ts";
import type { QuestionSnapshot } from "../../core/changes.ts";
import { later } from "../../core/instant.ts";
import { type Actor, SYSTEM, weakerStrength } from "../../core/people/actor.ts";
import type { Person } from "../../core/people/person.ts";
import { type AnswerInput } from "../../core/answer/answer-input.ts";
import { matchAnswer } from "../../core/answer/match.ts";
import { isDenial } from "../../core/question/approval.ts";
import { isPending } from "../../core/question/question.ts";
import { Refusal, type RefusalCode } from "../../core/refusal.ts";
import { redactor } from "../../core/secret/redact.ts";
import type { Language } from "../../core/text/language.ts";
import { unchangedEvent } from "../../core/trail/event.ts";
import { formatDuration } from "../../core/text/duration.ts";
import { makeVisible } from "../../core/text/visible.ts";
import type { Store } from "../../store/store.ts";
import type { Decider } from "../decide.ts";
import type { QuestionEngine } from "../engine.ts";
import { sayWhy } from "../jobs/job-retry.ts";
import type { People } from "../people/people.ts";
import { listPending } from "./show-again.ts";

/** How many replies to one message are responded to; whoever needs more is not a person. */
const MOST_RESPONSES = 5;
/** Refusals that another attempt in the same place can get around. */
const HELPED: ReadonlySet<RefusalCode> = new Set([
  "no_such_option",
  "ambiguous_answer",
  "missing_items",
  "answer_mismatch",
  "empty_answer",
  "outcome_not_accepted",
  "bad_input",
]);

export interface ReceiveDeps {
  store: Store;
  decider: Decider;
  questions: Pick<QuestionEngine, "answer" | "claim" | "snooze">;
  people: Pick<People, "pairTelegram">;
}

/** The effect of a reply, and the words for its sender. */
interface Taken {
  text: string;
  /** The sender would not learn it otherwise: the message does not show it. */
  isNews: boolean;
  isLate: boolean;
}

/**
 * Applies a reply from a channel, once however often it comes, and responds where it was given. A reply that belongs to
 * no message of ours changes nothing.
 */
export async function receiveReply(deps: ReceiveDeps, channel: Channel, reply: Reply): Promise<void> {
  const delivery = await findDelivery(deps.store, channel, reply);
  if (!delivery || delivery.handled.includes(reply.key)) return;
  const by = await findSender(deps.decider, channel, delivery, reply);
  if (!by) return;
  // The act comes first and is keyed: after a crash the channel brings the reply again, and it counts once.
  const person = delivery.person === undefined ? undefined : await deps.decider.findPerson(delivery.person);
  const language = languageOf(deps, person);
  const taken = await takeReply({ ...deps, channel, language }, delivery, reply, by);
  const isSilent = taken.isLate && delivery.isLateTold === true;
  const isOver = delivery.responses >= MOST_RESPONSES;
  const responds = (taken.isNews || reply.expectsResponse === true) && !isSilent && !isOver;
  await remember(deps, delivery.id, (now) => ({
    ...rememberReply(now, reply.key),
    responses: now.responses + (responds && taken.isNews ? 1 : 0),
    isLateTold: now.isLateTold === true || taken.isLate || undefined,
  }));
  if (responds) await channel.respond?.(await findResponseAddress(deps.decider, delivery, reply), taken.text);
}

/** Where a response goes: a reply that does not say it came from the address that the message went to. */
async function findResponseAddress(decider: Decider, { person, channel }: Delivery, { respondTo }: Reply) {
  const known = respondTo === "" && person !== undefined ? await decider.findPerson(person) : undefined;
  return (known && findAddress(known, channel)) ?? respondTo;
}

/** Pairs an account with the person that its code was made for, and sends there what waits already. */
export async function receivePairing(deps: ReceiveDeps, channel: Channel, request: PairingRequest): Promise<void> {
  try {
    const person = await deps.people.pairTelegram(request.code, request.from);
    await channel.respond?.(request.respondTo, tellIn(languageOf(deps, person), "paired", { name: person.id }));
    await announcePending(deps);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    // The process may have died after pairing: then the request comes again, with a code that is used up.
    const isPaired = (await deps.decider.readPeople()).some((each) => findAddress(each, channel.name) === request.from);
    if (isPaired) await announcePending(deps);
    await channel.respond?.(request.respondTo, `${error.message}. Get a new one with: askd setup telegram`);
  }
}

function languageOf({ decider }: ReceiveDeps, person: Person | undefined): Language {
  return person?.language ?? decider.at(SYSTEM).rules.language;
}

/** People who can be reached from now on also get the questions that wait. */
async function announcePending({ store, decider }: ReceiveDeps) {
  const people = await decider.readPeople();
  for await (const { id } of listPending(store)) {
    await decider.changeQuestion(id, SYSTEM, ({ question }, at) => announceAgain(question, at, people));
  }
}

/** Records that a message came back: nobody has it, and its recipient has to be told elsewhere. */
export async function receiveFailure(deps: ReceiveDeps, channel: Channel, failure: MessageFailure): Promise<void> {
  const { store, decider } = deps;
  await decider.retry(async () => {
    const found = await findDelivery(store, channel, { token: failure.token, outside: undefined });
    if (!found || found.state === "failed") return true;
    const at = decider.at(SYSTEM);
    const { question } = await decider.rows.read(found.questionId);
    const why = sayWhy(failure.why);
    const detail = { channel: found.channel, person: found.person, why };
    const committed = await decider.commit({
      entries: [deliveryEntry(returnDelivery(found, why, at.now))],
      events: [unchangedEvent("delivery_failed", question, at, detail)],
    });
    return committed.ok ? true : undefined;
  });
}

async function findDelivery(
  store: Store,
  channel: Channel,
  { token, outside }: Pick<Reply, "token" | "outside">,
): Promise<Delivery | undefined> {
  const id = token === undefined ? await findByMessage(store, channel, outside) : deliveryId(token);
  const entry = id === undefined ? undefined : await store.findEntry("delivery", id);
  const delivery = entry && parseDelivery(entry);
  return delivery?.channel === channel.name ? delivery : undefined;
}

async function findByMessage(store: Store, channel: Channel, outside: string | undefined) {
  const entry = outside === undefined ? undefined : await store.findEntry("outside", `${channel.name}:${outside}`);
  const id = entry?.body["delivery"];
  return typeof id === "string" ? id : undefined;
}

/** The person who replied: where a reply names its account, only the account that the message went to counts. */
async function findSender(
  decider: Decider,
  { name, strength }: Channel,
  { person }: Delivery,
  { from, strength: proven }: Reply,
): Promise<Actor | undefined> {
  if (strength === undefined) return undefined;
  const claimed = proven ?? strength;
  const by: Actor = { scope: "human", id: person ?? name, channel: name, strength: claimed };
  if (person === undefined) {
    // A message to a shared address may be answered by all who have it; it proves nobody.
    const mayAnswer = strength !== "person" || proven !== undefined;
    return mayAnswer ? { ...by, strength: weakerStrength(claimed, "bearer") } : undefined;
  }
  if (from === undefined) return strength === "person" ? undefined : by;
  const known = await decider.findPerson(person);
  return known && findAddress(known, name) === from ? by : undefined;
}

/** A reply is handled in the channel that brought it and in the language of its sender. */
type ReplyDeps = ReceiveDeps & { channel: Channel; language: Language };

async function takeReply(deps: ReplyDeps, delivery: Delivery, reply: Reply, by: Actor): Promise<Taken> {
  const { questionId: id } = delivery;
  const read = await deps.decider.rows.read(id);
  const key = `${delivery.channel}:${reply.key}`;
  const { language } = deps;
  const said = questionMessage(read, delivery.token, deps.decider.at(by).rules, language);
  const text = deps.channel.extract?.(reply, said) ?? reply.text;
  try {
    // In a mail a token only says which message it answers.
    const isPress = reply.token !== undefined && deps.channel.extract === undefined;
    const act = isPress ? readPress(read.content, text) : readReply(read.content, text);
    switch (act.do) {
      case "claim":
        await deps.questions.claim(id, by, { key });
        return { text: tellIn(language, "claimed"), isNews: false, isLate: false };
      case "snooze":
        await deps.questions.snooze(id, later(deps.decider.at(by).now, act.ms), by, { key });
        return { text: tellIn(language, "snoozed", { span: formatDuration(act.ms) }), isNews: true, isLate: false };
      default:
        requireShown(deps, read, act.input);
        return sayTaken(await deps.questions.answer(id, { ...act.input, key }, by), language);
    }
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return explain(error, read, deps);
  }
}

/** Refuses to allow what the message does not wholly show, because it was cut or redacted. */
function requireShown({ channel, decider, language }: ReplyDeps, read: QuestionSnapshot, input: AnswerInput) {
  const { question, content } = read;
  const { rules } = decider.at(SYSTEM);
  if (!isPending(question) || question.kind !== "approval" || input.outcome !== "answer") return;
  if (isDenial(content, matchAnswer(content, input, rules.limits))) return;
  const message = questionMessage(read, "", rules, language);
  if (channel.showsAll(message)) return;
  throw new Refusal("needs_confirmation", "This message does not show everything that it would allow", {
    hint: sayOnlyDenied(message),
  });
}

function sayTaken({ question }: QuestionSnapshot, language: Language): Taken {
  if (!isPending(question)) return { text: tellIn(language, "counted"), isNews: false, isLate: false };
  const { need } = question.approvals;
  const text = need > 1 ? tellIn(language, "voted", { n: question.votes.length, need }) : tellIn(language, "thanks");
  return { text, isNews: false, isLate: false };
}

/** Tells the truth about a refused reply, and how to answer if that is still possible here. */
function explain(refusal: Refusal, read: QuestionSnapshot, { decider, language }: ReplyDeps): Taken {
  const { rules } = decider.at(SYSTEM);
  const how = HELPED.has(refusal.code) ? sayHowToReply(questionMessage(read, "", rules, language)) : undefined;
  const elsewhere = refusal.code === "needs_person" || refusal.code === "needs_confirmation" ? refusal.hint : undefined;
  const said = [refusal.message, how ?? elsewhere].filter((part) => part !== undefined).join(". ");
  const isLate = refusal.code === "not_pending";
  return { text: makeVisible(redactor([], rules.redact)(said)), isNews: true, isLate };
}

async function remember(
  { decider, store }: ReceiveDeps,
  id: string,
  change: (now: Delivery) => Delivery,
): Promise<void> {
  await decider.retry(async () => {
    const entry = await store.findEntry("delivery", id);
    if (!entry) return true;
    const committed = await decider.commit({ entries: [deliveryEntry(change(parseDelivery(entry)))] });
    return committed.ok ? true : undefined;
  });
}
