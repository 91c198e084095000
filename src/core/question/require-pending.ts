import { hasAccess, isProvenFor } from "../people/access.ts";
import { type Actor, actorName, channelName } from "../people/actor.ts";
import { isNamed } from "../people/person.ts";
import type { QuestionSnapshot } from "../changes.ts";
import { formatDuration } from "../text/duration.ts";
import type { RefusalFacts } from "../refusal-fact.ts";
import { mayForce, type PendingQuestion, findAnswer } from "./question.ts";
import { quoteLine, quoteName } from "../text/foreign-text.ts";
import { shortId } from "../id.ts";
import { type Instant, msBetween } from "../instant.ts";
import { answerText } from "../answer/match.ts";
import { Refusal } from "../refusal.ts";
import type { Rules } from "../rules.ts";
import { hasEnded } from "../run/run.ts";
import { unreachable } from "../unreachable.ts";

/** Returns the question if it is pending; otherwise refuses with who closed it, how and when. */
export function requirePending(read: QuestionSnapshot, at: LateReply, said?: string): PendingQuestion {
  if (read.question.status === "pending") return read.question;
  throw closedRefusal(read, at, said);
}

/** When a reply to a closed question came, and from whom. */
interface LateReply {
  now: Instant;
  by?: Actor;
  rules?: Pick<Rules, "personChannel">;
}

/** The refusal of a late reply: who answered, what, and what can still be done. */
function closedRefusal(read: QuestionSnapshot, { now, by, rules }: LateReply, said?: string) {
  const { question, run } = read;
  const id = shortId(question.id);
  const given = answeredFact(read, now);
  const amend = mayAmend(read, by, rules)
    ? `To send a correction: askd amend ${id} "…"`
    : `See it with: askd show ${id}`;
  switch (question.status) {
    case "pending":
      throw new Error(`${question.id} is not closed`);
    case "answered":
      return new Refusal("not_pending", `already answered by ${describeAnswer(given)}`, {
        hint: amend,
        fact: given && { is: "answered", ...given },
      });
    case "timeout": {
      if (question.forced) {
        return new Refusal("not_pending", `${id} timed out and was then answered by ${describeAnswer(given)}`, {
          fact: given && { is: "answered_late", id, ...given },
        });
      }
      const end = hasEnded(run)
        ? ` and the run ${run.status === "completed" || run.status === "failed" ? run.status : `was ${run.status}`}${run.reason ? ` (${quoteName(run.reason)})` : ""}`
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
          : run.waitedForBy && hasEnded(run)
            ? `Ask again with its workflow: askd workflow retry ${run.number}`
            : amend,
      });
    }
    case "cancelled": {
      const canceller = actorName(question.cancelledBy);
      const agoMs = since(question.cancelledAt, now);
      return new Refusal(
        "not_pending",
        `${id} was cancelled by ${quoteName(canceller)} ${ago(agoMs)} (${quoteName(question.reason)}); nothing was changed`,
        { hint: `See it with: askd show ${id}`, fact: { is: "cancelled", id, by: canceller, agoMs } },
      );
    }
    default:
      return unreachable(question);
  }
}

/** Says whether a correction of this actor would count: nobody corrects alone what several or others decide. */
function mayAmend({ question, people }: QuestionSnapshot, by: Actor | undefined, rules: LateReply["rules"]) {
  const { approvals } = question;
  if (approvals.need > 1) return false;
  if (by && !hasAccess("amend", by, question)) return false;
  if (by && rules && !isProvenFor(question, by, rules)) return false;
  return approvals.from.length === 0 || (by !== undefined && isNamed(approvals.from, actorName(by), people));
}

/** The fact of the given answer: who, when, channel and text. */
function answeredFact({ question, content }: QuestionSnapshot, now: Instant): RefusalFacts["answered"] | undefined {
  const answer = findAnswer(question);
  if (!answer) return undefined;
  const said =
    answer.outcome === "answer"
      ? answerText(content, answer.items)
      : answer.outcome === "decide"
        ? "You decide"
        : (answer.note ?? "");
  return { by: actorName(answer.by), agoMs: since(answer.at, now), channel: channelName(answer.by.channel), said };
}

function describeAnswer(given: RefusalFacts["answered"] | undefined) {
  return given
    ? `${quoteName(given.by)} ${ago(given.agoMs)} (${quoteName(given.channel)}): ${quoteLine(given.said)}`
    : "nobody";
}

function since(then: Instant, now: Instant) {
  return Math.max(0, msBetween(then, now));
}

function ago(ms: number) {
  return `${formatDuration(ms)} ago`;
}

/** Says whether a shell takes the text between double quotes unchanged. */
function isPlainWord(said: string | undefined): said is string {
  return said !== undefined && /^[\p{L}\p{N} .,:;'()/_-]{1,60}$/u.test(said);
}
