import { createHmac } from "node:crypto";
import { actorName } from "../people/actor.ts";
import type { QuestionSnapshot } from "../changes.ts";
import { titleOf } from "./content.ts";
import { quoteLine } from "../text/foreign-text.ts";
import type { Instant } from "../instant.ts";
import { answerText } from "../answer/match.ts";
import { type ClosedQuestion, findAnswer, findNote } from "./question.ts";
import { Refusal } from "../refusal.ts";
import { findTally } from "../answer/vote.ts";

const SECRET_PREFIX = "whsec_";
const LEAST_SECRET_BYTES = 24;

/** A signed request as defined by Standard Webhooks 1.0.0. */
export interface Callback {
  body: string;
  headers: Record<string, string>;
}

interface ClosedSnapshot extends QuestionSnapshot {
  question: ClosedQuestion;
}

/** Builds the request that reports a question's outcome to a program. */
export function buildCallback(read: ClosedSnapshot, secret: string, now: Instant): Callback {
  const { question } = read;
  const id = `msg_${question.id}_${findAnswer(question)?.id ?? question.status}`;
  const type = { answered: "question.answered", timeout: "question.timed_out", cancelled: "question.cancelled" }[
    question.status
  ];
  const body = JSON.stringify({ type, timestamp: now, data: callbackData(read) });
  return {
    body,
    headers: { "content-type": "application/json", ...signWebhook(secret, { id, body, now }) },
  };
}

/** The headers that prove the sender and time of a message. */
export function signWebhook(
  secret: string,
  { id, body, now }: { id: string; body: string; now: Instant },
): Record<string, string> {
  const seconds = Math.floor(Date.parse(now) / 1000).toString();
  return {
    "webhook-id": id,
    "webhook-timestamp": seconds,
    "webhook-signature": `v1,${sign(secret, `${id}.${seconds}.${body}`)}`,
  };
}

/** Refuses an unusable secret or address. */
export function requireCallback(callback: { url: string; secret: string }): void {
  if (!URL.canParse(callback.url) || !/^https?:$/.test(new URL(callback.url).protocol)) {
    throw new Refusal("bad_input", `${quoteLine(callback.url)} is not an http(s) address to call back`);
  }
  if (new URL(callback.url).username !== "")
    throw new Refusal("bad_input", "The callback address must not contain a user name or password");
  keyOf(callback.secret);
}

function callbackData({ question, run, content }: ClosedSnapshot): Record<string, unknown> {
  const answer = findAnswer(question);
  const tally = answer && findTally(question, answer);
  return {
    question: { id: question.id, title: titleOf(content.shared ?? content), status: question.status },
    run: { id: run.id, number: run.number, name: run.name, external_id: run.externalId ?? null },
    answer: answer ? answerText(content, answer.items) : null,
    answers: answer?.items ?? null,
    outcome: answer?.outcome ?? null,
    note: findNote(question) ?? null,
    answered_by: answer ? actorName(answer.by) : null,
    answered_at: answer?.at ?? null,
    policy: answer?.policy ?? (question.status === "timeout" ? question.policy : null),
    forced: question.status === "timeout" && question.forced !== undefined,
    votes: tally?.votes.length ?? null,
    votes_needed: tally?.need ?? null,
    reason: question.status === "cancelled" ? question.reason : null,
  };
}

function sign(secret: string, text: string) {
  return createHmac("sha256", keyOf(secret)).update(text).digest("base64");
}

function keyOf(secret: string) {
  const key = Buffer.from(secret.startsWith(SECRET_PREFIX) ? secret.slice(SECRET_PREFIX.length) : secret, "base64");
  if (key.length < LEAST_SECRET_BYTES) {
    throw new Refusal(
      "bad_input",
      `A callback secret is "${SECRET_PREFIX}" and at least ${LEAST_SECRET_BYTES} bytes in base64`,
    );
  }
  return key;
}
