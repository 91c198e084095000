import assert from "node:assert/strict";
import { type DeliverySubject, noticeSubject, questionSubject } from "../../core/channel/delivery/delivery-subject.ts";
import { type Delivery, parseDelivery } from "../../core/channel/delivery/delivery.ts";
import { type QuestionMessage, questionMessage } from "../../core/channel/message.ts";
import { digestMessage, noticeMessage } from "../../core/channel/news-message.ts";
import type { Notice } from "../../core/channel/notice.ts";
import { sharedAddress } from "../../core/channel/recipient.ts";
import type { QuestionSnapshot } from "../../core/changes.ts";
import { SYSTEM } from "../../core/people/actor.ts";
import type { Language } from "../../core/text/language.ts";
import { type Event, type EventDetail, unchangedEvent, unchangedRunEvent } from "../../core/trail/event.ts";
import type { Run } from "../../core/run/run.ts";
import type { Store } from "../../store/store.ts";
import type { Decider } from "../decide.ts";

/** The subject of a message: a question, news or a digest of both, in the same words. */
export interface MessageSubject extends DeliverySubject {
  /** Names it among the interruptions of a person. */
  name: string;
  /** The shared addresses that the question names; all configured ones if it names none. */
  address?: string | undefined;
  /** How many questions and news a digest has. */
  collected?: number | undefined;
  message(language: Language | undefined): QuestionMessage;
  /** The events of what came of the message. */
  events(name: "notified" | "delivery_failed", detail: EventDetail): Event[];
}

/** Reads the subject of a delivery as it is now. */
export async function readSubject(
  delivery: Delivery,
  { decider, store }: { decider: Decider; store: Pick<Store, "readEntries"> },
): Promise<MessageSubject> {
  const { covers, questionId, notice, id, token } = delivery;
  if (covers) {
    const rows = (await store.readEntries("delivery", covers)).map(parseDelivery);
    const inOrder = covers.flatMap((each) => rows.find((row) => row.id === each) ?? []);
    return digestSubject(await Promise.all(inOrder.map((row) => readOne(row, decider))), delivery, decider);
  }
  if (notice) return noticeOf(notice, await decider.rows.readRun(notice.runId), token, decider);
  assert(questionId !== undefined);
  return questionOf(await decider.rows.read(questionId), { id, token, channel: delivery.channel }, decider);
}

type Covered = { read: QuestionSnapshot } | { notice: Notice; run: Run };

async function readOne({ notice, questionId }: Delivery, { rows }: Decider): Promise<Covered> {
  if (notice) return { notice, run: await rows.readRun(notice.runId) };
  assert(questionId !== undefined);
  return { read: await rows.read(questionId) };
}

function questionOf(
  read: QuestionSnapshot,
  delivery: Pick<Delivery, "id" | "token" | "channel">,
  decider: Decider,
): MessageSubject {
  const { question } = read;
  const { now, rules } = decider.at(SYSTEM);
  return {
    ...questionSubject(question, delivery.id, now),
    name: question.id,
    address: sharedAddress(question, delivery.channel),
    message: (language) => questionMessage(read, delivery.token, rules, language),
    events: (name, detail) => [unchangedEvent(name, question, decider.at(SYSTEM), detail)],
  };
}

function noticeOf(notice: Notice, run: Run, token: string, decider: Decider): MessageSubject {
  const { rules } = decider.at(SYSTEM);
  return {
    ...noticeSubject(notice),
    name: run.id,
    message: (language) => noticeMessage(run, notice, token, rules, language),
    events: (name, detail) => [unchangedRunEvent(name, run, decider.at(SYSTEM), { news: notice.what, ...detail })],
  };
}

function digestSubject(covered: readonly Covered[], { id, token }: Delivery, decider: Decider): MessageSubject {
  const { now, rules } = decider.at(SYSTEM);
  const reads = covered.flatMap((each) => ("read" in each ? [each.read] : []));
  const news = covered.flatMap((each) => ("notice" in each ? [each] : []));
  const each = [
    ...reads.map((read) => questionOf(read, { id: "", token: "", channel: "" }, decider)),
    ...news.map(({ notice, run }) => noticeOf(notice, run, "", decider)),
  ];
  const isOpen = each.some((subject) => subject.isOpen);
  const ends = each.flatMap(({ endedAt }) => endedAt ?? []);
  return {
    isOpen,
    isUrgent: false,
    nudges: 0,
    isReminderUnwanted: true,
    endedAt: isOpen ? undefined : (ends.sort().at(-1) ?? now),
    name: id,
    collected: each.length,
    message: (language) => {
      // An alert says what is so now: it goes with the questions that it came with.
      const current = news.filter(({ notice }) => isOpen || reads.length === 0 || !notice.what.startsWith("alert."));
      const told = current.map(({ notice, run }) => noticeMessage(run, notice, "", rules, language).title);
      return digestMessage(reads, told, { token, rules, language });
    },
    events: (name, detail) => each.flatMap((subject) => subject.events(name, { ...detail, digest: true })),
  };
}
