import type { AnswerInput } from "../../core/answer/answer-input.ts";
import { findMatch } from "../../core/answer/match.ts";
import type { QuestionSnapshot } from "../../core/changes.ts";
import type { Channel, Reply } from "../../core/channel/channel.ts";
import { tellIn } from "../../core/channel/message-words.ts";
import { type Instant, MINUTE_MS, msBetween } from "../../core/instant.ts";
import { SYSTEM } from "../../core/people/actor.ts";
import { isDenial } from "../../core/question/approval.ts";
import type { Limits } from "../../core/rules.ts";
import { Refusal } from "../../core/refusal.ts";
import type { Language } from "../../core/text/language.ts";
import type { Decider } from "../decide.ts";
import { RecentCache } from "../recent-cache.ts";
import { findByAccount } from "./find-delivery.ts";

/** A chat gets no second line within this time: a program there may reply to each. */
const QUIET_MS = 10 * MINUTE_MS;
/** As many chats as strangers get a line in within that time. */
const MOST_CHATS = 20;

/** Remembers the chats that got a line which belongs to no question, so that none gets many. */
export class ChatLimit {
  readonly #toldAt = new RecentCache<Instant>(MOST_CHATS);
  #lines: Instant[] = [];

  /** Counts a line to this chat; false if it is one too many. */
  take(chat: string, now: Instant): boolean {
    const isRecent = (at: Instant) => msBetween(at, now) < QUIET_MS;
    const last = this.#toldAt.get(chat);
    this.#lines = this.#lines.filter(isRecent);
    if ((last !== undefined && isRecent(last)) || this.#lines.length >= MOST_CHATS) return false;
    this.#lines.push(now);
    this.#toldAt.set(chat, now);
    return true;
  }
}

/** Tells somebody in a chat of their own why what they said changes nothing. */
export async function tellIdle(
  { decider, chatLimit }: { decider: Decider; chatLimit: ChatLimit },
  channel: Channel,
  { from, respondTo, isGreeting = false }: Pick<Reply, "from" | "respondTo"> & { isGreeting?: boolean },
): Promise<void> {
  const { now, rules } = decider.at(SYSTEM);
  if (!chatLimit.take(from ?? "", now)) return;
  const person = await findByAccount(decider, channel, from);
  const language = person?.language ?? rules.language;
  const known = isGreeting ? "paired" : "idle";
  await channel.respond?.(respondTo, tellIn(language, person ? known : "unpaired", { name: person?.id ?? "" }));
}

/**
 * Refuses to allow something, or to close high risk, by words that name no message: they may have been meant for
 * another question, which waited or was on its way when they were written.
 */
export function requireNamed(
  { question, content }: Pick<QuestionSnapshot, "question" | "content">,
  input: AnswerInput,
  { limits, language }: { limits: Limits; language: Language },
): void {
  if (question.kind !== "approval" && question.risk !== "high") return;
  const items = input.outcome === "answer" ? findMatch(content, input, limits) : undefined;
  const isFree = question.kind === "approval" && items !== undefined && isDenial(content, items);
  if (!isFree) throw new Refusal("needs_confirmation", tellIn(language, "which.tap"));
}
