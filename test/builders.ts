import { createHash } from "node:crypto";
import type { Actor } from "../src/core/people/actor.ts";
import { hashContent, type Content } from "../src/core/question/content.ts";
import type { Event } from "../src/core/trail/event.ts";
import { idsFrom, type Ids } from "../src/core/id.ts";
import { instant, type Instant } from "../src/core/instant.ts";
import { questionJob, type Job, type JobKind } from "../src/core/run/job.ts";
import type { Answer, PendingQuestion, Question } from "../src/core/question/question.ts";
import type { Run } from "../src/core/run/run.ts";

const EPOCH_MS = Date.parse("2026-01-01T00:00:00.000Z");

export const NOON: Instant = instant(Date.parse("2026-01-01T12:00:00.000Z"));
export const ADA: Actor = { scope: "human", id: "ada", channel: "cli", strength: "local" };
export const AGENT: Actor = { scope: "agent", id: "claude", channel: "mcp", strength: "none" };

/** Ids that count: each sorts after the one before it. Two sources with different seeds never give the same id. */
export function countingIds(seed: string): Ids {
  let count = 0;
  return idsFrom(
    () => EPOCH_MS + (count += 1),
    (bytes) => createHash("sha256").update(`${seed} ${count}`).digest().subarray(0, bytes),
  );
}

/** Ids for builders that are not given one. Agents are found by their run's id, also those of a test beside this one. */
export const IDS: Ids = countingIds(`builders ${process.pid}`);

export function aContent(text = "Which cache?"): Content {
  const options = ["Redis", "Memcached"].map((label, index) => ({ key: "ab".charAt(index), value: label, label }));
  return { items: [{ id: "q1", text, options, multiple: false, allowText: true }] };
}

const ASKED = hashContent(aContent());

export function aRun(over: Partial<Run> = {}): Run {
  const id = over.id ?? IDS.run();
  return {
    id,
    version: 0,
    number: 0,
    name: `run ${id.slice(-6)}`,
    status: "running",
    agent: "claude",
    host: "here",
    labels: [],
    sources: { agent: "measured", repo: "measured", labels: "person" },
    priority: 2,
    giveBack: "worker",
    implicit: false,
    epoch: 1,
    starts: 0,
    isContinued: false,
    owes: [],
    asked: 0,
    askedAt: [],
    createdAt: NOON,
    ...over,
  };
}

export function aQuestion(over: Partial<PendingQuestion> = {}): PendingQuestion {
  const id = over.id ?? IDS.question();
  return {
    id,
    version: 0,
    runId: over.runId ?? IDS.run(),
    key: `key of ${id}`,
    content: ASKED,
    title: "Which cache?",
    kind: "question",
    risk: "low",
    askedAt: NOON,
    askedBy: AGENT,
    via: "mcp",
    onTimeout: { do: "fail" },
    escalated: 0,
    accepts: ["answer", "decide", "clarify"],
    notify: [],
    to: [],
    approvals: { need: 1, from: [], veto: false },
    votes: [],
    comments: [],
    reminders: 0,
    amendments: [],
    status: "pending",
    ...over,
  };
}

/** The question as it is when ada has chosen. */
export function answered(question: Question, text = "Redis"): Extract<Question, { status: "answered" }> {
  const answer: Answer = {
    id: IDS.outcome(),
    outcome: "answer",
    by: ADA,
    at: NOON,
    items: { q1: { values: [text] } },
  };
  return { ...question, status: "answered", answer, handover: { state: "owed" } };
}

export function anEvent(over: Partial<Event> = {}): Event {
  return {
    type: "question.asked",
    at: NOON,
    by: AGENT,
    to: "pending",
    version: 1,
    runId: over.runId ?? IDS.run(),
    ...over,
  };
}

export function aJob(kind: JobKind, question: Pick<Question, "id" | "runId">, over: Partial<Job> = {}): Job {
  return { ...questionJob(kind, question, NOON), ...over };
}
