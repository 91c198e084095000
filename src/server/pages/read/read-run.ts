import { readResumeAttempts } from "../../../core/run/resume-attempt.ts";
import type { QuestionSnapshot } from "../../../core/changes.ts";
import { type Instant, msBetween } from "../../../core/instant.ts";
import { type Question, findAnswer } from "../../../core/question/question.ts";
import { findAwayMachine } from "../../../core/run/machine.ts";
import { redact } from "../../../core/secret/redact.ts";
import type { Rules } from "../../../core/rules.ts";
import type { Run } from "../../../core/run/run.ts";
import { readMachines } from "../../../engine/machines.ts";
import type { LogPart } from "../../../web/parts/log.tsx";
import type { PageReader } from "../../../web/parts/reader.ts";
import type { RunView } from "../../../web/pages/run.tsx";
import type { PagesDeps } from "../deps.ts";
import { readCard } from "./read-card.ts";

const MOST_EVENTS = 150;
const MOST_QUESTIONS = 25;
const MOST_CHILDREN = 50;

/** Reads all data of a run's page. */
export async function readRun(deps: PagesDeps, reader: PageReader, run: Run): Promise<RunView> {
  const { engine, feed, atHand } = deps;
  const questions = await engine.listQuestions({ runId: run.id, order: "newest", limit: MOST_QUESTIONS });
  const reads: QuestionSnapshot[] = await engine.readMany(questions.map(({ id }) => id));
  const shown = reads.find(({ question }) => question.id === run.pendingId) ?? reads[0];
  const back = await feed.readBack({ runId: run.id, limit: MOST_EVENTS });
  const events = back.map(({ event }) => event).toReversed();
  const [usage] = await engine.usageOf([run.id]);
  const wholeMs = Math.max(0, msBetween(run.startedAt ?? run.createdAt, run.endedAt ?? reader.now));
  return {
    reader,
    run,
    usage,
    wholeMs,
    away: findAwayMachine(run, await readMachines(engine, [run], deps.here?.())),
    card: shown && (await readCard(deps, reader, shown)),
    timeline: { events, reads },
    attempts: readResumeAttempts(events),
    isTimelineCut: back.length === MOST_EVENTS,
    waitedMs: Math.min(wholeMs, sum(questions.map((question) => waitedMs(question, reader.now)))),
    parent: run.parentId && (await engine.findRun(run.parentId)),
    children: await engine.listRuns({ parentId: run.id, order: "oldest", limit: MOST_CHILDREN }),
    takeover: await atHand?.takeover(run),
    hasWork: atHand !== undefined && run.dir !== undefined,
    log: await readLog(deps, run),
  };
}

/** Reads an agent's log with secrets redacted. */
export async function readLog(
  { atHand, rules }: { atHand?: PagesDeps["atHand"]; rules: Rules },
  run: Run,
  from?: string,
): Promise<LogPart | undefined> {
  const log = await atHand?.log?.(run, from);
  return (
    log && { ...log, entries: log.entries.map((entry) => ({ ...entry, text: redact(entry.text, [], rules.redact) })) }
  );
}

/** How long the run waited for a person on this question. */
function waitedMs(question: Question, now: Instant): number {
  const until = closedAt(question) ?? now;
  return Math.max(0, msBetween(question.askedAt, until));
}

function closedAt(question: Question): Instant | undefined {
  if (question.status === "pending") return question.settling?.answer.at;
  if (question.status === "cancelled") return question.cancelledAt;
  return question.status === "timeout" ? question.timedOutAt : findAnswer(question)?.at;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
