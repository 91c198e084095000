import { findAddress } from "../../core/channel/target.ts";
import type { Channel, Reply } from "../../core/channel/channel.ts";
import {
  type Delivery,
  deliverJob,
  deliveryEntry,
  findNewNote,
  parseDelivery,
  rememberNote,
  rememberReply,
} from "../../core/channel/delivery/delivery.ts";
import { digestKey } from "../../core/channel/news-message.ts";
import { sayOnlyDenied } from "../../core/channel/answer-elsewhere.ts";
import { questionMessage } from "../../core/channel/message.ts";
import { tellIn } from "../../core/channel/message-words.ts";
import { type ReplyAct, readCommand, namesOption, readPress, readReply } from "../../core/channel/reply.ts";
import type { QuestionSnapshot } from "../../core/changes.ts";
import type { QuestionId } from "../../core/id.ts";
import { later } from "../../core/instant.ts";
import { type Actor, SYSTEM } from "../../core/people/actor.ts";
import type { Person } from "../../core/people/person.ts";
import { AnswerInput } from "../../core/answer/answer-input.ts";
import { findMatch } from "../../core/answer/match.ts";
import { isDenial } from "../../core/question/approval.ts";
import { isPending } from "../../core/question/question.ts";
import { readShownCode } from "../../core/question/risk.ts";
import { Refusal } from "../../core/refusal.ts";
import type { Language } from "../../core/text/language.ts";
import { formatDuration } from "../../core/text/duration.ts";
import { makeVisible } from "../../core/text/visible.ts";
import type { Store } from "../../store/store.ts";
import type { Decider } from "../decide.ts";
import type { QuestionEngine } from "../engine.ts";
import type { People } from "../people/people.ts";
import { explainRefusal } from "./explain-refusal.ts";
import { findByAccount, findDelivery } from "./find-delivery.ts";
import { readSubject } from "./message-subject.ts";
import { type ChatLimit, requireNamed, tellIdle } from "./private-chat.ts";
import { findAtPlace, sayWhich } from "./reply-place.ts";
import { findSender } from "./reply-sender.ts";
import { isPassing, takeEach } from "./take-each.ts";
import { waitForAttempts } from "./wait-for-attempts.ts";

/** How many replies to one message are responded to; whoever needs more is not a person. */
const MOST_RESPONSES = 5;
export interface ReceiveDeps {
  store: Store;
  decider: Decider;
  questions: Pick<QuestionEngine, "answer" | "claim" | "snooze" | "undo" | "refuse">;
  people: Pick<People, "pairTelegram">;
}

export interface ListenDeps extends ReceiveDeps {
  /** Reports a channel that cannot be listened to, which is tried again, and what one brought that cannot be taken. */
  onFailure: (channel: string, error: unknown) => void;
  chatLimit: ChatLimit;
}

/** The effect of a reply, and the words for its sender. */
interface ReplyEffect {
  text: string;
  /** The sender would not learn it otherwise: the message does not show it. */
  isNews: boolean;
  isLate: boolean;
}

/**
 * Applies replies that a channel brought together. A person may reply before the commit that records which message is
 * which: a reply to a message that is not known, or at a place, waits for the attempts that are under way.
 */
export async function receiveReplies(deps: ListenDeps, channel: Channel, replies: readonly Reply[]): Promise<void> {
  for (const reply of replies) {
    if (!(await isToBeRecorded(deps, channel, reply))) continue;
    await waitForAttempts(deps, channel);
    break;
  }
  await takeEach(
    replies,
    async (reply) => {
      const isOurs = await receiveReply(deps, channel, reply);
      if (!isOurs && channel.places?.isPrivate && reply.place !== undefined) await tellIdle(deps, channel, reply);
    },
    (error) => deps.onFailure(channel.name, error),
  );
}

async function isToBeRecorded(deps: ReceiveDeps, channel: Channel, reply: Reply): Promise<boolean> {
  if (reply.token !== undefined || reply.question !== undefined) return false;
  const isPlaced = reply.place !== undefined && reply.outside === undefined;
  return isPlaced || !(await findDelivery(deps, channel, reply));
}

/**
 * Applies a reply from a channel, once however often it comes, and responds where it was given. A reply that belongs to
 * no message of ours changes nothing; then it is false.
 */
export async function receiveReply(deps: ReceiveDeps, channel: Channel, brought: Reply): Promise<boolean> {
  const named = brought.place === undefined ? undefined : await findNamed(deps, channel, brought);
  // A message that is none of ours names no question.
  const reply = brought.place === undefined || named ? brought : { ...brought, outside: undefined };
  const isPlaced = reply.place !== undefined && !named;
  const found = isPlaced
    ? await findAtPlace(deps, channel, reply)
    : [named ?? (await findDelivery(deps, channel, reply))];
  const [delivery, ...others] = found;
  if (delivery) {
    const rest = others.filter((each) => each !== undefined);
    await applyReply(deps, channel, reply, { delivery, others: rest });
    return true;
  }
  if (reply.question !== undefined && (!isPlaced || channel.places?.isPrivate)) {
    await tellUnknown(deps, channel, reply);
    return true;
  }
  return false;
}

/** The message that a reply at a place is a reply to. */
async function findNamed(deps: ReceiveDeps, channel: Channel, reply: Reply): Promise<Delivery | undefined> {
  return reply.outside === undefined ? undefined : findDelivery(deps, channel, { ...reply, question: undefined });
}

async function applyReply(
  deps: ReceiveDeps,
  channel: Channel,
  reply: Reply,
  { delivery, others }: { delivery: Delivery; others: Delivery[] },
): Promise<void> {
  if (delivery.handled.includes(reply.key)) return;
  if (reply.automaticSubject !== undefined && (await isAutomatic(deps, channel, delivery, reply))) return;
  const by = await findSender(deps.decider, channel, delivery, reply);
  if (!by) return tellStranger(deps, channel, delivery, reply);
  if (!(await isConfirmed(deps, channel, delivery, reply))) return;
  if (reply.isForged) return recordForged(deps, channel, delivery, reply);
  // Nobody has to answer news; without a question there is nothing that a reply could change.
  const { questionId } = delivery;
  if (delivery.covers) return bringFromDigest(deps, channel, { ...delivery, covers: delivery.covers }, reply);
  if (questionId === undefined) return respondToNews(deps, channel, delivery, reply);
  // The act comes first and is keyed: after a crash the channel brings the reply again, and it counts once.
  const language = languageOf(deps, await deps.decider.findPerson(by.id));
  if (reply.form !== undefined) return openForm({ ...deps, channel, language }, { ...delivery, questionId }, reply);
  const taken =
    others.length > 0
      ? { text: sayWhich([delivery, ...others], channel, language), isNews: true, isLate: false }
      : await takeReply({ ...deps, channel, language }, { ...delivery, questionId }, reply, by);
  if (!taken) return;
  const note = taken.isLate ? findNewNote(delivery, "late", reply.from ?? "") : undefined;
  const isSilent = taken.isLate && (note === undefined || reply.isEdited === true);
  const isOver = delivery.responses >= MOST_RESPONSES;
  const responds = (taken.isNews || reply.expectsResponse === true) && !isSilent && !isOver;
  await remember(deps, delivery, (now) => ({
    ...rememberReply(responds && note !== undefined ? rememberNote(now, note) : now, reply.key),
    responses: now.responses + (responds && taken.isNews ? 1 : 0),
  }));
  if (responds) await channel.respond?.(await findResponseAddress(deps.decider, delivery, reply), taken.text);
  else if (reply.expectsResponse) await channel.acknowledge?.(reply.respondTo);
}

/** Says whether a program wrote the reply, by the message that it is about. */
async function isAutomatic(deps: ReceiveDeps, channel: Channel, delivery: Delivery, reply: Reply): Promise<boolean> {
  const person = delivery.person === undefined ? undefined : await deps.decider.findPerson(delivery.person);
  const about = await readSubject(delivery, deps);
  return channel.isAutomatic?.(reply, about.message(languageOf(deps, person))) === true;
}

/** Says whether the sender said what the reply says; tells them if somebody else did. */
async function isConfirmed(deps: ReceiveDeps, channel: Channel, delivery: Delivery, reply: Reply): Promise<boolean> {
  if (reply.unconfirmed === undefined) return true;
  const said = await channel.confirmSender?.(reply);
  // A changed one comes again as it is by now.
  if (said !== "same" && said !== "changed") await tellStranger(deps, channel, delivery, { ...reply, from: undefined });
  return said === "same";
}

/** Brings one question of a digest, in a message of its own. */
async function bringFromDigest(
  deps: ReceiveDeps,
  channel: Channel,
  delivery: Delivery & { covers: string[] },
  reply: Reply,
): Promise<void> {
  const { store, decider } = deps;
  const person = delivery.person === undefined ? undefined : await decider.findPerson(delivery.person);
  const language = languageOf(deps, person);
  const about = await readSubject(delivery, deps);
  const text = channel.extract?.(reply, about.message(language)) ?? reply.text;
  const index = delivery.covers.findIndex((_id, each) => digestKey(each) === text.trim().toLowerCase());
  const id = delivery.covers[index];
  let isComing = false;
  if (id !== undefined) {
    await decider.retry(async () => {
      const entry = await store.findEntry("delivery", id);
      const row = entry && parseDelivery(entry);
      if (row?.state !== "collected") return true;
      const { questionId } = row;
      const scheduled = [deliverJob(id, { questionId, runId: undefined }, decider.at(SYSTEM).now)];
      const committed = await decider.commit({ entries: [deliveryEntry({ ...row, isWanted: true })], scheduled });
      isComing = committed.ok;
      return committed.ok ? true : undefined;
    });
  }
  const isOver = delivery.responses >= MOST_RESPONSES;
  const responds = (id === undefined || reply.expectsResponse === true) && !isOver;
  await remember(deps, delivery, (now) => ({
    ...rememberReply(now, reply.key),
    responses: now.responses + (id === undefined ? 1 : 0),
  }));
  const said = tellIn(language, id === undefined ? "digest.which" : isComing ? "digest.coming" : "digest.there");
  if (responds) await channel.respond?.(await findResponseAddress(decider, delivery, reply), said);
  else if (reply.expectsResponse) await channel.acknowledge?.(reply.respondTo);
}

/** Tells the sender that news need no answer, once. */
async function respondToNews(deps: ReceiveDeps, channel: Channel, delivery: Delivery, reply: Reply): Promise<void> {
  await remember(deps, delivery, (now) => ({ ...rememberReply(now, reply.key), isLateTold: true }));
  if (delivery.isLateTold) return;
  const person = delivery.person === undefined ? undefined : await deps.decider.findPerson(delivery.person);
  const text = tellIn(languageOf(deps, person), "needless");
  await channel.respond?.(await findResponseAddress(deps.decider, delivery, reply), text);
}

/** Responds to a command that names no question of this channel. */
async function tellUnknown(deps: ReceiveDeps, channel: Channel, { question, from, respondTo }: Reply) {
  const language = languageOf(deps, await findByAccount(deps.decider, channel, from));
  await channel.respond?.(respondTo, tellIn(language, "unknown", { id: makeVisible(question ?? "") }));
}

/** Tells somebody who may not answer a message that everybody there can see; a discussion below it is not disturbed. */
async function tellStranger(deps: ReceiveDeps, channel: Channel, delivery: Delivery, reply: Reply) {
  if (channel.mayAnswer) return tellWithoutRights(deps, channel, delivery, reply);
  const { from: account } = reply;
  if (delivery.person !== undefined || account === undefined) return;
  const isAct = reply.token !== undefined || reply.question !== undefined;
  const responds = delivery.responses < (isAct ? MOST_RESPONSES : 1);
  await remember(deps, delivery, (now) => ({
    ...rememberReply(now, reply.key),
    responses: now.responses + (responds ? 1 : 0),
  }));
  const text = tellIn(languageOf(deps, undefined), "stranger", { channel: channel.name, account });
  if (responds) await channel.respond?.(reply.respondTo, text);
}

/** Tells each person who tries to answer and may not, once; a few of them in all. Talk gets no response. */
async function tellWithoutRights(deps: ReceiveDeps, channel: Channel, delivery: Delivery, reply: Reply) {
  const { questionId } = delivery;
  const reason = reply.from === undefined ? "anonymous" : "stranger.rights";
  const note = findNewNote(delivery, reason, reply.from ?? reply.respondTo);
  if (questionId === undefined || note === undefined) return;
  const read = await deps.decider.rows.read(questionId);
  const language = languageOf(deps, undefined);
  const isMeant = reply.place === undefined || reply.question !== undefined || namesOption(read.content, reply.text);
  if (!isMeant || !isPending(read.question)) return;
  await remember(deps, delivery, (now) => rememberNote(rememberReply(now, reply.key), note));
  await channel.respond?.(reply.respondTo, tellIn(language, reason));
}

/** Records a forged reply in the trail, one for each message; neither its sender nor the person's own limit sees it. */
async function recordForged(deps: ReceiveDeps, { name }: Channel, delivery: Delivery, reply: Reply) {
  const { questionId, person = name, isStrangerTold } = delivery;
  if (questionId === undefined || isStrangerTold) return;
  const tried = `The server says that a reply in the name of ${person} is forged; it was not taken`;
  await deps.questions.refuse(questionId, tried, { scope: "human", id: name, channel: name, strength: "none" });
  await remember(deps, delivery, (now) => ({ ...rememberReply(now, reply.key), isStrangerTold: true }));
}

/** Opens the form that a person asks for, with the question as it is now. */
async function openForm(
  { decider, channel, language }: ReplyDeps,
  { questionId, token }: Delivery & { questionId: QuestionId },
  reply: Reply,
) {
  const message = questionMessage(await decider.rows.read(questionId), token, decider.at(SYSTEM).rules, language);
  const opened = message.isOpen ? await channel.openForm?.(reply, message) : undefined;
  if (opened?.ok) return;
  await channel.respond?.(reply.respondTo, message.outcome ?? tellIn(language, "form.late"));
}

/** Where a response goes: a reply that does not say it came from the address that the message went to. */
async function findResponseAddress(decider: Decider, { person, channel }: Delivery, { respondTo }: Reply) {
  const known = respondTo === "" && person !== undefined ? await decider.findPerson(person) : undefined;
  return (known && findAddress(known, channel)) ?? respondTo;
}

/** The language of a person, or of those who chose none. */
export function languageOf({ decider }: ReceiveDeps, person: Person | undefined): Language {
  return person?.language ?? decider.at(SYSTEM).rules.language;
}

/** A reply is handled in the channel that brought it and in the language of its sender. */
type ReplyDeps = ReceiveDeps & { channel: Channel; language: Language };

async function takeReply(
  deps: ReplyDeps,
  delivery: Delivery & { questionId: QuestionId },
  reply: Reply,
  by: Actor,
): Promise<ReplyEffect | undefined> {
  const { questionId: id } = delivery;
  const key = `${delivery.channel}:${reply.key}`;
  const { language } = deps;
  let read: QuestionSnapshot | undefined;
  try {
    read = await deps.decider.rows.read(id);
    const said = questionMessage(read, delivery.token, deps.decider.at(by).rules, language);
    const text = deps.channel.extract ? deps.channel.extract(reply, said) : reply.text;
    if (text === undefined) return undefined;
    // In a mail a token only says which message it answers.
    const isPress = reply.token !== undefined && deps.channel.extract === undefined;
    const { text: words, hasCode } = readShownCode(id, text);
    const act = readAct({ ...reply, text: words }, read, isPress);
    switch (act.do) {
      case "undo":
        await deps.questions.undo(id, by, { key });
        return { text: tellIn(language, "undone"), isNews: false, isLate: false };
      case "claim":
        await deps.questions.claim(id, by, { key });
        return { text: tellIn(language, "claimed"), isNews: false, isLate: false };
      case "snooze":
        await deps.questions.snooze(id, later(deps.decider.at(by).now, act.ms), by, { key });
        return {
          text: tellIn(language, "snoozed", { span: formatDuration(act.ms) }),
          isNews: !deps.channel.isQuiet,
          isLate: false,
        };
      default:
        if (isUnnamed(deps.channel, reply)) requireNamed(read, act.input, { ...deps.decider.at(by).rules, language });
        if (!hasCode) requireShown(deps, read, act.input);
        return sayTaken(
          await deps.questions.answer(id, { ...act.input, key, undoMs: undoWindow(deps, by) }, by),
          language,
        );
    }
  } catch (error) {
    if (!(error instanceof Refusal) || isPassing(error)) throw error;
    return { text: await explainRefusal(error, read, deps), isNews: true, isLate: error.code === "not_pending" };
  }
}

/** Words in a chat of one person, which name neither a message nor a question. */
function isUnnamed({ places }: Channel, { outside, question, token }: Reply) {
  return places?.isPrivate === true && outside === undefined && question === undefined && token === undefined;
}

function readAct({ items, question, text }: Reply, { content }: QuestionSnapshot, isPress: boolean): ReplyAct {
  if (items !== undefined) return { do: "answer", input: AnswerInput.parse({ items }) };
  if (question !== undefined) return readCommand(content, text);
  return isPress ? readPress(content, text) : readReply(content, text);
}

/** How long an answer from a channel can be taken back there. */
function undoWindow({ channel, decider }: ReplyDeps, by: Actor): number {
  return channel.name === "slack" ? decider.at(by).rules.undoMs.slack : 0;
}

/** Refuses to allow what the message does not wholly show, because it was cut or redacted. */
function requireShown({ channel, decider, language }: ReplyDeps, read: QuestionSnapshot, input: AnswerInput) {
  const { question, content } = read;
  const { rules } = decider.at(SYSTEM);
  if (!isPending(question) || question.kind !== "approval" || input.outcome !== "answer") return;
  const items = findMatch(content, input, rules.limits);
  if (items === undefined || isDenial(content, items)) return; // what does not fit is refused by the engine
  const message = questionMessage(read, "", rules, language);
  if (channel.showsAll(message)) return;
  throw new Refusal("needs_confirmation", sayOnlyDenied(message));
}

function sayTaken({ question }: QuestionSnapshot, language: Language): ReplyEffect {
  if (!isPending(question)) return { text: tellIn(language, "counted"), isNews: false, isLate: false };
  const { need } = question.approvals;
  const text = need > 1 ? tellIn(language, "voted", { n: question.votes.length, need }) : tellIn(language, "thanks");
  return { text, isNews: false, isLate: false };
}

async function remember(
  { decider, store }: ReceiveDeps,
  { id, covers }: Delivery,
  change: (now: Delivery) => Delivery,
): Promise<void> {
  await decider.retry(async () => {
    const entry = await store.findEntry(covers ? "digest" : "delivery", id);
    if (!entry) return true;
    const committed = await decider.commit({ entries: [deliveryEntry(change(parseDelivery(entry)))] });
    return committed.ok ? true : undefined;
  });
}
