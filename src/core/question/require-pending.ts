import { sayActor, sayChannel } from "../people/actor.ts";
import type { Read } from "../changes.ts";
import { sayDuration } from "../text/duration.ts";
import type { Facts } from "../refusal-fact.ts";
import { mayForce } from "../force.ts";
import { quoteLine, quoteName } from "../text/foreign-text.ts";
import { shortId } from "../id.ts";
import { type Instant, msBetween } from "../instant.ts";
import { answerText } from "../answer/match.ts";
import { type Pending, findAnswer } from "./question.ts";
import { Refusal } from "../refusal.ts";
import { hasEnded } from "../run/run.ts";
import { unreachable } from "../unreachable.ts";

/** The question if it can still be answered; refuses with who, what and when if it is closed. */
export function requirePending({ question, run, content }: Read, now: Instant, said?: string): Pending {
  if (question.status === "pending") return question;
  throw sayClosed({ question, run, content }, now, said);
}

/** Tells somebody who comes too late who won, with what, and what can still be done. */
function sayClosed({ question, run, content }: Read, now: Instant, said?: string): Refusal {
  const id = shortId(question.id);
  const given = givenAnswer({ question, run, content }, now);
  switch (question.status) {
    case "pending":
      throw new Error(`${question.id} is not closed`);
    case "answered":
      return new Refusal("not_pending", `already answered by ${sayAnswer(given)}`, {
        hint: `To send a correction: askd amend ${id} "…"`,
        ...(given && { fact: { is: "answered", ...given } }),
      });
    case "timeout": {
      if (question.forced) {
        return new Refusal("not_pending", `${id} timed out and was then answered by ${sayAnswer(given)}`, {
          ...(given && { fact: { is: "answered_late", id, ...given } }),
        });
      }
      const end = hasEnded(run)
        ? ` and the run ${run.status}${run.reason ? ` (${quoteName(run.reason)})` : ""}`
        : ` and policy "${question.policy}" was applied`;
      const isOpen = mayForce(run, question);
      const agoMs = since(question.timedOutAt, now);
      return new Refusal("not_pending", `${id} timed out ${ago(agoMs)}${end}`, {
        fact:
          hasEnded(run) && !isOpen
            ? { is: "timed_out_run", id, agoMs, status: run.status }
            : { is: "timed_out", id, agoMs, then: isOpen ? "open" : "closed" },
        hint: isOpen
          ? `Answer anyway and resume: askd answer --force ${run.number} "${isPlainWord(said) ? said : "…"}"`
          : `To send a correction: askd amend ${id} "…"`,
      });
    }
    case "cancelled": {
      const by = sayActor(question.cancelledBy);
      const agoMs = since(question.cancelledAt, now);
      return new Refusal(
        "not_pending",
        `${id} was cancelled by ${quoteName(by)} ${ago(agoMs)} (${quoteName(question.reason)}); nothing was changed`,
        { hint: `See it with: askd show ${id}`, fact: { is: "cancelled", id, by, agoMs } },
      );
    }
    default:
      return unreachable(question);
  }
}

/** Who answered, when, through what and what; without words for it. */
function givenAnswer({ question, content }: Read, now: Instant): Facts["answered"] | undefined {
  const answer = findAnswer(question);
  if (!answer) return undefined;
  const said =
    answer.outcome === "answer"
      ? answerText(content, answer.items)
      : answer.outcome === "decide"
        ? "You decide"
        : (answer.note ?? "");
  return { by: sayActor(answer.by), agoMs: since(answer.at, now), channel: sayChannel(answer.by.channel), said };
}

function sayAnswer(given: Facts["answered"] | undefined): string {
  return given
    ? `${quoteName(given.by)} ${ago(given.agoMs)} (${quoteName(given.channel)}): ${quoteLine(given.said)}`
    : "nobody";
}

function since(then: Instant, now: Instant): number {
  return Math.max(0, msBetween(then, now));
}

function ago(ms: number): string {
  return `${sayDuration(ms)} ago`;
}

/** Says whether a shell takes it between double quotes as it is. */
function isPlainWord(said: string | undefined): said is string {
  return said !== undefined && /^[\p{L}\p{N} .,:;'()/_-]{1,60}$/u.test(said);
}
