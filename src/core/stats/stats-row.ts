import { actorName } from "../people/actor.ts";
import { isUnverified } from "../trail/fact-source.ts";
import { epochMs } from "../instant.ts";
import { CONFIDENCE_POLICY, type Question } from "../question/question.ts";
import type { Run } from "../run/run.ts";

const EVERYONE = ["everyone"] as const;

/** The fields of a question that statistics need. They never change once it is closed. */
export interface StatsRow {
  /** The number of its run. */
  run: number;
  status: Question["status"];
  askedMs: number;
  /** When the agent stopped waiting; undefined if it still waits. */
  endedMs: number | undefined;
  /** A policy answered it, not a person. */
  isByPolicy: boolean;
  /** The asker was sure enough to go on alone, or too unsure to be asked about. */
  confidence: "acted" | "stopped" | undefined;
  /** A person asked back; the question is closed without an answer. */
  isAskedBack: boolean;
  /** The person who answered, and the channel. */
  person: string | undefined;
  channel: string | undefined;
  agent: string | undefined;
  repo: string | undefined;
  /** Agent or repository rest on the asker's word alone. */
  isAgentUnverified: boolean;
  isRepoUnverified: boolean;
  /** The people whose deadline is over or was met. */
  due: readonly string[];
  isMet: boolean;
}

/** Extracts the statistics row of a question. */
export function statsRowOf(
  question: Question,
  run: Pick<Run, "number" | "agent" | "repo" | "sources"> | undefined,
): StatsRow {
  const isByPolicy = isAnsweredByPolicy(question);
  const isAskedBack = question.status === "answered" && question.answer.outcome === "clarify";
  const by = question.status === "answered" && !isByPolicy && !isAskedBack ? question.answer.by : undefined;
  return {
    run: run?.number ?? 0,
    status: question.status,
    askedMs: epochMs(question.askedAt),
    endedMs: endOf(question),
    isByPolicy,
    confidence: decidedByConfidence(question),
    isAskedBack,
    person: by && actorName(by),
    channel: by?.channel,
    agent: run?.agent,
    repo: run?.repo,
    isAgentUnverified: run !== undefined && isUnverified(run, "agent"),
    isRepoUnverified: run !== undefined && isUnverified(run, "repo"),
    due: isAskedBack ? [] : dueFor(question),
    isMet: isMet(question, isByPolicy),
  };
}

function isAnsweredByPolicy(question: Question) {
  if (question.status === "timeout") return question.answer !== undefined;
  if (question.status !== "answered") return false;
  return question.answer.policy !== undefined || question.answer.by.scope === "system";
}

function decidedByConfidence(question: Question): StatsRow["confidence"] {
  if (question.status === "answered") return question.answer.policy === CONFIDENCE_POLICY ? "acted" : undefined;
  return question.status === "cancelled" && question.policy !== undefined ? "stopped" : undefined;
}

function endOf(question: Question) {
  if (question.status === "answered") return epochMs(question.answer.at);
  if (question.status === "timeout") return epochMs(question.timedOutAt);
  return question.status === "cancelled" ? epochMs(question.cancelledAt) : undefined;
}

/**
 * The people whose deadline counts: only closed questions with a deadline; one that was withdrawn or asked back neither
 * met nor missed it.
 */
function dueFor({ status, dueAt, to }: Question): readonly string[] {
  if (dueAt === undefined || status === "cancelled" || status === "pending") return [];
  return to.length > 0 ? [...new Set(to)] : EVERYONE;
}

function isMet(question: Question, isByPolicy: boolean) {
  if (question.status !== "answered" || isByPolicy || question.dueAt === undefined) return false;
  return question.answer.at <= question.dueAt;
}
