import { sayActor, sayChannel } from "./actor.ts";
import type { Read } from "./changes.ts";
import { sayDuration } from "./duration.ts";
import { mayForce } from "./force.ts";
import { shortId } from "./id.ts";
import { type Instant, msBetween } from "./instant.ts";
import { answerText } from "./match.ts";
import { type Pending, findAnswer } from "./question.ts";
import { Refusal } from "./refusal.ts";
import { hasEnded } from "./run.ts";
import { unreachable } from "./unreachable.ts";

/** The question if it can still be answered; refuses with who, what and when if it is closed. */
export function requirePending({ question, run, content }: Read, now: Instant, said?: string): Pending {
  if (question.status === "pending") return question;
  throw sayClosed({ question, run, content }, now, said);
}

/** Tells somebody who comes too late who won, with what, and what can still be done. */
function sayClosed({ question, run, content }: Read, now: Instant, said?: string): Refusal {
  const id = shortId(question.id);
  switch (question.status) {
    case "pending":
      throw new Error(`${question.id} is not closed`);
    case "answered":
      return new Refusal("not_pending", `already answered by ${sayAnswer({ question, run, content }, now)}`, {
        hint: `To send a correction: askd amend ${id} "…"`,
      });
    case "timeout": {
      if (question.forced) {
        return new Refusal(
          "not_pending",
          `${id} timed out and was then answered by ${sayAnswer({ question, run, content }, now)}`,
        );
      }
      const end = hasEnded(run)
        ? ` and the run ${run.status}${run.reason ? ` (${run.reason})` : ""}`
        : ` and policy "${question.policy}" was applied`;
      return new Refusal("not_pending", `${id} timed out ${ago(question.timedOutAt, now)}${end}`, {
        hint: mayForce(run, question)
          ? `Answer anyway and resume: askd answer --force ${run.number} "${isPlainWord(said) ? said : "…"}"`
          : `To send a correction: askd amend ${id} "…"`,
      });
    }
    case "cancelled":
      return new Refusal(
        "not_pending",
        `${id} was cancelled by ${sayActor(question.cancelledBy)} ${ago(question.cancelledAt, now)} (${question.reason}); nothing was changed`,
        {
          hint: `See it with: askd show ${id}`,
        },
      );
    default:
      return unreachable(question);
  }
}

function sayAnswer({ question, content }: Read, now: Instant): string {
  const answer = findAnswer(question);
  if (!answer) return "nobody";
  const said =
    answer.outcome === "answer"
      ? answerText(content, answer.items)
      : answer.outcome === "decide"
        ? "You decide"
        : (answer.note ?? "");
  return `${sayActor(answer.by)} ${ago(answer.at, now)} (${sayChannel(answer.by.channel)}): "${said}"`;
}

function ago(then: Instant, now: Instant): string {
  return `${sayDuration(Math.max(0, msBetween(then, now)))} ago`;
}

/** Says whether a shell takes it between double quotes as it is. */
function isPlainWord(said: string | undefined): said is string {
  return said !== undefined && /^[\p{L}\p{N} .,:;'()/_-]{1,60}$/u.test(said);
}
