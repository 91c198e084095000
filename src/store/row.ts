import type { Entry } from "../core/changes.ts";
import type { Content } from "../core/question/content.ts";
import { EVENT_TYPES, Event, type KeptEvent } from "../core/trail/event.ts";

import { isPinnedKind } from "../core/trail/row-digest.ts";
import { Job } from "../core/run/job.ts";
import { Question } from "../core/question/question.ts";
import { Refusal } from "../core/refusal.ts";
import type { UnreadableRows } from "./unreadable.ts";
import { Run } from "../core/run/run.ts";

interface Schema<Row> {
  safeParse(raw: unknown): { success: true; data: Row } | { success: false; error: { message: string } };
}

/** All statuses this program knows. */
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

/** Defaults for fields that runs of earlier versions lack. */
const LATER = { starts: 0, isContinued: false } as const;

/** Parses a stored run, with the number the store assigned. */
export function parseRun(body: string, number: number): Run {
  return { ...LATER, ...trusted<Run>(body, RUN_STATES, () => Run), number };
}

/** A run as both databases return it. */
export interface RunText {
  number: number;
  body: string;
}

export function toRun({ body, number }: RunText): Run {
  return parseRun(body, number);
}

/** The name of a run whose text cannot be read. */
export function runName({ number }: Pick<RunText, "number">): string {
  return `run #${number}`;
}

/** Parses only the origin of a run: checking everything of many runs would take ten times as long. */
export function parseOrigin(body: string, number: number): Pick<Run, "id" | "number" | "agent" | "repo" | "sources"> {
  const { id, agent, repo, sources } = parseJson(body) as Run; // it was checked when it was written
  return { id, number, agent, repo, sources };
}

export function parseQuestion(body: string): Question {
  return trusted<Question>(body, QUESTION_STATES, () => Question);
}

export function parseContent(body: string): Content {
  const raw = parseJson(body);
  // Content is stored under its hash, so no more of it is checked again.
  if (typeof raw === "object" && raw !== null && "items" in raw && Array.isArray(raw.items)) return raw as Content;
  throw unreadable(body, undefined);
}

/** The text of a question, or one that says that it cannot be read. */
export function readContent(unreadable: UnreadableRows, row: { hash: string; body: string }): Content {
  const read = unreadable.readOne(
    row,
    ({ hash }) => `text ${hash}`,
    ({ body }) => parseContent(body),
  );
  return read ?? UNREADABLE_CONTENT;
}

/** Takes the place of a text that cannot be read, so that its question can still be seen and closed. */
export const UNREADABLE_CONTENT: Content = {
  items: [
    {
      id: "unreadable",
      text: "The text of this question cannot be read. For a person: askd doctor",
      options: [],
      multiple: false,
      allowText: true,
    },
  ],
};

/** An entry as both databases return it. */
export interface EntryRow {
  kind: Entry["kind"];
  id: string;
  parent: string | null;
  version: number;
  body: string;
}

export function parseEntry(row: EntryRow): Entry {
  const body = parseJson(row.body);
  if (typeof body !== "object" || body === null || Array.isArray(body)) throw unreadable(row.body, undefined);
  return { ...row, parent: row.parent ?? undefined, body: body as Entry["body"] }; // as just looked at
}

/**
 * The entry, or a refusal that names it. A damaged one that processes write anew all the time, such as a heartbeat, is
 * empty, so that the next of them replaces it.
 */
export function getEntry(unreadable: UnreadableRows, row: EntryRow): Entry {
  if (isPinnedKind(row.kind) || row.kind === "delivery") return unreadable.get(row, entryName, parseEntry);
  return unreadable.readOne(row, entryName, parseEntry) ?? { ...row, parent: row.parent ?? undefined, body: {} };
}

export function entryName({ kind, id }: Pick<EntryRow, "kind" | "id">): string {
  return `${kind} ${id}`;
}

export function eventName({ cursor }: { cursor: string }): string {
  return `event ${cursor}`;
}

/** A job as both databases return it. */
export interface JobText {
  key: string;
  body: string;
}

export function toJob({ body }: JobText): Job {
  return parseJob(body);
}

export function jobName({ key }: Pick<JobText, "key">): string {
  return `job ${key}`;
}

export function parseJob(body: string): Job {
  return requireSchema(Job, parseJson(body), body);
}

export function parseEvent(row: { body: string; n: number; hash: string; cursor: string }): KeptEvent {
  const raw = parseJson(row.body);
  // Digests are only read by verification, from the text.
  const { rows: _rows, ...event } = isEvent(raw) ? raw : requireSchema(Event, raw, row.body);
  return { event, ...row };
}

/** Says whether a value has the shape of an event; the chain shows if it was changed since. */
function isEvent(raw: unknown): raw is Event {
  if (typeof raw !== "object" || raw === null) return false;
  const { type, at, runId, by, to, version } = raw as Record<string, unknown>; // any object may be asked for a field
  const isNamed = KNOWN_EVENTS.has(type) && typeof at === "string" && typeof runId === "string";
  return isNamed && typeof by === "object" && by !== null && typeof to === "string" && Number.isInteger(version);
}

/**
 * Trusts a row that was validated when written: validating it again takes longer than most commands, and a program that
 * writes an incompatible row raises the schema of the store. A row without the basic shape is validated by the schema.
 */
function trusted<Row>(body: string, states: Readonly<Record<string, true>>, schema: () => Schema<Row>) {
  const raw = parseJson(body);
  if (hasLooks(raw) && Object.hasOwn(states, raw.status)) return raw as Row; // as said above
  return requireSchema(schema(), raw, body);
}

function hasLooks(raw: unknown): raw is { status: string } {
  if (typeof raw !== "object" || raw === null) return false;
  const { id, version, status } = raw as Record<string, unknown>; // any object may be asked for a field
  return typeof id === "string" && Number.isInteger(version) && typeof status === "string";
}

/** Parses stored JSON; invalid JSON means damage or a foreign writer. */
function parseJson(body: string) {
  try {
    const raw: unknown = JSON.parse(body);
    return raw;
  } catch (cause) {
    throw unreadable(body, cause);
  }
}

/** Validates a row; fields that only a newer program knows are kept, at any depth. */
function requireSchema<Row>(schema: Schema<Row>, raw: unknown, body: string) {
  const parsed = schema.safeParse(raw);
  if (parsed.success) return raw as Row; // the schemas check and change nothing; what they would leave out is kept
  throw unreadable(body, parsed.error);
}

function unreadable(body: string, cause: unknown) {
  return new Refusal("store_unusable", `The store has a row that this program cannot read: ${body.slice(0, 80)}`, {
    hint: "Update askd; if it is the newest, see what is damaged (askd doctor) and set it aside: askd doctor --fix",
    cause,
  });
}
