import { sayActor } from "../people/actor.ts";
import { isUnverified } from "../trail/fact-source.ts";
import { epochMs } from "../instant.ts";
import type { Question } from "../question/question.ts";
import type { Run } from "../run/run.ts";

const EVERYONE = ["everyone"] as const;

/** What counting has to know of a question. Of a closed one it never changes. */
export interface Fact {
  runId: string;
  status: Question["status"];
  askedMs: number;
  /** Until when its agent had to wait; it still does where this is missing. */
  endedMs: number | undefined;
  /** A rule answered it, not a person: a default at its deadline, or a policy that was there before. */
  isByPolicy: boolean;
  /** The person who answered, and the channel. */
  person: string | undefined;
  channel: string | undefined;
  agent: string | undefined;
  repo: string | undefined;
  /** Only the asker says which agent or repository it was. */
  isAgentUnverified: boolean;
  isRepoUnverified: boolean;
  /** Those who had to answer by a deadline that is over or was met. */
  due: readonly string[];
  isMet: boolean;
}

/** What there is to count of a question. */
export function factOf(question: Question, run: Pick<Run, "agent" | "repo" | "sources"> | undefined): Fact {
  const isByPolicy = isAnsweredByPolicy(question);
  const by = question.status === "answered" && !isByPolicy ? question.answer.by : undefined;
  return {
    runId: question.runId,
    status: question.status,
    askedMs: epochMs(question.askedAt),
    endedMs: endOf(question),
    isByPolicy,
    person: by && sayActor(by),
    channel: by?.channel,
    agent: run?.agent,
    repo: run?.repo,
    isAgentUnverified: run !== undefined && isUnverified(run, "agent"),
    isRepoUnverified: run !== undefined && isUnverified(run, "repo"),
    due: dueFor(question),
    isMet: isMet(question, isByPolicy),
  };
}

function isAnsweredByPolicy(question: Question): boolean {
  if (question.status === "timeout") return question.answer !== undefined;
  if (question.status !== "answered") return false;
  return question.answer.policy !== undefined || question.answer.by.scope === "system";
}

function endOf(question: Question): number | undefined {
  if (question.status === "answered") return epochMs(question.answer.at);
  if (question.status === "timeout") return epochMs(question.timedOutAt);
  return question.status === "cancelled" ? epochMs(question.cancelledAt) : undefined;
}

/** Only what had a deadline and is closed can have met or missed it; a withdrawn question did neither. */
function dueFor({ status, dueAt, to }: Question): readonly string[] {
  if (dueAt === undefined || status === "cancelled" || status === "pending") return [];
  return to.length > 0 ? [...new Set(to)] : EVERYONE;
}

function isMet(question: Question, isByPolicy: boolean): boolean {
  if (question.status !== "answered" || isByPolicy || question.dueAt === undefined) return false;
  return question.answer.at <= question.dueAt;
}
