import type { Content } from "../core/question/content.ts";
import { EVENT_TYPES, Event, type KeptEvent } from "../core/trail/event.ts";
import type { RunSources } from "../core/trail/fact-source.ts";
import { Job } from "../core/run/job.ts";
import { Question } from "../core/question/question.ts";
import { Refusal } from "../core/refusal.ts";
import { Run } from "../core/run/run.ts";

interface Schema<Row> {
  safeParse(raw: unknown): { success: true; data: Row } | { success: false; error: { message: string } };
}

/** All states that this program knows. */
const RUN_STATES: Record<Run["status"], true> = {
  queued: true,
  running: true,
  awaiting_input: true,
  resuming: true,
  completed: true,
  failed: true,
  skipped: true,
  cancelled: true,
  blocked: true,
  deferred: true,
};
const QUESTION_STATES: Record<Question["status"], true> = {
  pending: true,
  answered: true,
  timeout: true,
  cancelled: true,
};

const KNOWN_EVENTS: ReadonlySet<unknown> = new Set(EVENT_TYPES);

/** What runs that were kept by an earlier program do not say. */
const LATER = { starts: 0, isContinued: false } as const;

/** The run that was kept, under the number the store gave it. */
export function parseRun(body: string, number: number): Run {
  return { ...LATER, ...trusted<Run>(body, RUN_STATES, () => Run), number };
}

/** Only where a run comes from: of many runs, checking all the rest would take ten times as long. */
export function parseOrigin(body: string): Pick<Run, "id" | "agent" | "repo" | "sources"> {
  const { id, agent, repo, sources } = parseJson(body) as Run; // it was checked when it was written
  return { id, agent, ...(repo !== undefined && { repo }), ...(sources && { sources }) };
}

export function parseSources(text: string): RunSources {
  return parseJson(text) as RunSources; // it was checked when it was written
}

export function parseQuestion(body: string): Question {
  return trusted<Question>(body, QUESTION_STATES, () => Question);
}

export function parseContent(body: string): Content {
  // Content is named by its hash: it is what was written under that name, so it is not checked again.
  return parseJson(body) as Content;
}

export function parseJob(body: string): Job {
  return requireSchema(Job, parseJson(body), body);
}

export function parseEvent(row: { body: string; n: number; hash: string; cursor: string }): KeptEvent {
  const raw = parseJson(row.body);
  // The digests are for those who compare the trail with the rows, and they read them from the text.
  const { rows: _rows, ...event } = isEvent(raw) ? raw : requireSchema(Event, raw, row.body);
  return { event, ...row };
}

/** Has all the looks of an event, which its hash holds together: the chain says if it was changed since. */
function isEvent(raw: unknown): raw is Event {
  if (typeof raw !== "object" || raw === null) return false;
  const { type, at, runId, by, to, version } = raw as Record<string, unknown>; // any object may be asked for a field
  const isNamed = KNOWN_EVENTS.has(type) && typeof at === "string" && typeof runId === "string";
  return isNamed && typeof by === "object" && by !== null && typeof to === "string" && Number.isInteger(version);
}

/**
 * The row as it was checked when it was written: to check all of it again takes longer than most commands do, and a
 * program that writes what this one would misread says so in the schema of the store. One that has not even the
 * looks of such a row is shown to the schema.
 */
function trusted<Row>(body: string, states: Readonly<Record<string, true>>, schema: () => Schema<Row>): Row {
  const raw = parseJson(body);
  if (hasLooks(raw) && Object.hasOwn(states, raw.status)) return raw as Row; // as said above
  return requireSchema(schema(), raw, body);
}

function hasLooks(raw: unknown): raw is { status: string } {
  if (typeof raw !== "object" || raw === null) return false;
  const { id, version, status } = raw as Record<string, unknown>; // any object may be asked for a field
  return typeof id === "string" && Number.isInteger(version) && typeof status === "string";
}

/** What we wrote as JSON is JSON; where it is not, something else wrote to the file, or it is damaged. */
function parseJson(body: string): unknown {
  try {
    const raw: unknown = JSON.parse(body);
    return raw;
  } catch (cause) {
    throw unreadable(body, cause);
  }
}

/** Every stored field comes back, also those that only a newer program knows, at any depth. */
function requireSchema<Row>(schema: Schema<Row>, raw: unknown, body: string): Row {
  const parsed = schema.safeParse(raw);
  if (parsed.success) return raw as Row; // the schemas check and change nothing; what they would leave out is kept
  throw unreadable(body, parsed.error);
}

function unreadable(body: string, cause: unknown): Refusal {
  return new Refusal("store_unusable", `The store has a row that this program cannot read: ${body.slice(0, 80)}`, {
    hint: "Update askd; if it is the newest, check the store (askd audit --verify) and restore a backup.",
    cause,
  });
}
