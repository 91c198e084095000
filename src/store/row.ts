import type { Content } from "../core/content.ts";
import { Event, type KeptEvent } from "../core/event.ts";
import { Job } from "../core/job.ts";
import { Question } from "../core/question.ts";
import { Refusal } from "../core/refusal.ts";
import { Run } from "../core/run.ts";

interface Schema<Row> {
  safeParse(raw: unknown): { success: true; data: Row } | { success: false; error: { message: string } };
}

/** What runs that were kept by an earlier program do not say. */
const LATER = { starts: 0, isContinued: false } as const;

/** The run that was kept, under the number the store gave it. */
export function parseRun(body: string, number: number): Run {
  return { ...LATER, ...parseBody(Run, body), number };
}

/** Only where a run comes from: of many runs, checking all the rest would take ten times as long. */
export function parseOrigin(body: string): Pick<Run, "id" | "agent" | "repo"> {
  const { id, agent, repo } = JSON.parse(body) as Run; // it was checked when it was written
  return { id, agent, ...(repo !== undefined && { repo }) };
}

export function parseQuestion(body: string): Question {
  return parseBody(Question, body);
}

export function parseContent(body: string): Content {
  // Content is named by its hash: it is what was written under that name, so it is not checked again.
  return JSON.parse(body) as Content;
}

export function parseJob(body: string): Job {
  return parseBody(Job, body);
}

export function parseEvent(row: { body: string; n: number; hash: string; cursor: string }): KeptEvent {
  return { event: parseBody(Event, row.body), ...row };
}

/** Every stored field comes back, also those that only a newer program knows, at any depth. */
function parseBody<Row>(schema: Schema<Row>, body: string): Row {
  const raw: unknown = JSON.parse(body);
  const parsed = schema.safeParse(raw);
  if (parsed.success) return raw as Row; // the schemas check and change nothing; what they would leave out is kept
  throw new Refusal("store_unusable", `The store has a row that this program cannot read: ${body.slice(0, 80)}`, {
    hint: "Update askd; if it is the newest, restore a backup.",
    cause: parsed.error,
  });
}
