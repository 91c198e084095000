import { z } from "zod";
import { Instant } from "../../core/instant.ts";
import { changeOf } from "../change-listeners.ts";
import { COLUMNS } from "./apply.ts";
import { SCHEMA } from "./schema.ts";
import { encodeName } from "./stored-name.ts";
import type { PreparedCommit } from "../prepare.ts";
import type { StoreChange, CommitResult } from "../store.ts";

/** PostgreSQL's own limit is 8,000 bytes. */
const NOTICE_BYTES = 7900;

// The cast is safe: they are the keys of that very object.
const TABLES = Object.keys(COLUMNS) as Array<keyof typeof COLUMNS>;
const QUESTION_GUARD = COLUMNS.questions.indexOf("guard:integer");
const ENTRY_GUARD = COLUMNS.entries.indexOf("guard:integer");

/** The change to report when it is unknown what changed. */
export const EVERYTHING: StoreChange = { questions: new Set(), dueAt: undefined, all: true };

const Reason = z.enum(["moved", "taken", "job_lost"]);
type Reason = z.infer<typeof Reason>;
const BY_WEIGHT = Reason.options;

const Applied = z
  .object({
    refused: z.array(z.int()),
    reasons: z.array(Reason),
    numbers: z.record(z.string(), z.int()).nullable(),
    attempts: z.record(z.string(), z.int()).nullable(),
  })
  .nullable();

/** Encodes the parameters of askd_apply, in order: batch values, then the rows by table. */
export function encodeBatch(
  batch: readonly PreparedCommit[],
  { origin, isCareful }: { origin: string; isCareful: boolean },
): unknown[] {
  const bodies: string[] = [];
  /** Collects the body of a row and returns its line number. */
  const put = (body: string): number => bodies.push(body);
  const all = (cellsOf: (commit: PreparedCommit, put: AddBody) => Cell[][]): Cell[][] =>
    rows(batch, (commit) => cellsOf(commit, put));
  const locks = batch.flatMap((commit) => commit.runIds).sort();
  const [questions, newQuestions] = newFirst(all(questionCells), QUESTION_GUARD);
  const [entries, newEntries] = newFirst(all(entryCells), ENTRY_GUARD);
  const closing = batch.flatMap((commit) => commit.questions.filter(isClosed).map(({ id }) => id));
  const tables: Record<keyof typeof COLUMNS, Cell[][]> = {
    ...runsAndEvents(batch, put),
    questions,
    contents: all(({ contents }) => contents.map(({ hash, body }) => [hash, put(body)])),
    entries,
    seals: all(({ seals }) => seals.map(({ n, hash, body }) => [n, hash, body])),
    dropped: all(({ dropped }) => dropped.map((key) => [encodeName(key)])),
    finished: all(({ finished }) => finished.map(({ key, attempt }) => [encodeName(key), attempt])),
    postponed: all(({ postponed }) =>
      postponed.map(({ key, attempt, dueAt, body }) => [encodeName(key), attempt, dueAt, put(body)]),
    ),
    jobs: all(jobCells),
  };
  const notice = encodeNotice(origin, batch);
  const counts = [isCareful, locks, newQuestions, newEntries, closing, bodies.join("\n")];
  return [SCHEMA, notice, ...counts, ...TABLES.map((table) => arrayOf(tables[table]))];
}

/** Decodes the result of each commit from askd_apply's reply. */
export function decodeApplied(batch: readonly PreparedCommit[], raw: unknown): CommitResult[] {
  const applied = Applied.parse(raw);
  if (applied === null) return batch.map(() => ({ ok: false, why: "newer_schema" }));
  const { numbers, attempts } = applied;
  const whys = new Map<number, Reason>();
  applied.refused.forEach((c, index) => {
    const why = applied.reasons[index];
    const before = whys.get(c);
    if (why && (!before || BY_WEIGHT.indexOf(why) < BY_WEIGHT.indexOf(before))) whys.set(c, why);
  });
  return batch.map((commit, c) => {
    const why = whys.get(c);
    if (why) return { ok: false, why };
    const names = commit.runs.map((run) => run.id);
    const keys = commit.scheduled.map(({ job }) => job.key);
    return { ok: true, numbers: pick(numbers, names), attempts: pick(attempts, keys) };
  });
}

/** Encodes the notification of a batch for other nodes; one that is too long means "read everything". */
function encodeNotice(origin: string, batch: readonly PreparedCommit[]): string {
  const change = changeOf(batch);
  const notice = [origin, change.dueAt ?? "", ...change.questions].join(" ");
  return Buffer.byteLength(notice) <= NOTICE_BYTES ? notice : origin;
}

/** Decodes the origin and the change of a notification. */
export function decodeNotice(notice: string): { origin: string; change: StoreChange } {
  const [origin = "", dueAt, ...questions] = notice.split(" ");
  if (dueAt === undefined) return { origin, change: EVERYTHING };
  const due = Instant.safeParse(dueAt);
  return { origin, change: { questions: new Set(questions), dueAt: due.success ? due.data : undefined } };
}

type Cell = string | number | null;
type AddBody = (body: string) => number;
const CONTROL = /\p{Cc}/u;

/** The rows of all commits, each preceded by its commit's index in the batch. */
function rows(batch: readonly PreparedCommit[], cellsOf: (commit: PreparedCommit) => Cell[][]): Cell[][] {
  return batch.flatMap((commit, c) => cellsOf(commit).map((cells) => [c, ...cells]));
}

/**
 * Formats rows as a PostgreSQL array. The driver can do this too, but takes a tenth of a busy process's time for it.
 */
function arrayOf(rows: readonly Cell[][]): string {
  return `{${rows.map((cells) => `{${cells.map(quoted).join(",")}}`).join(",")}}`;
}

/** JSON quotes text like an array does, except for control characters, which no body and hardly any name contains. */
function quoted(cell: Cell): string {
  if (cell === null) return "NULL";
  if (typeof cell === "number") return String(cell);
  return CONTROL.test(cell) ? `"${cell.replace(/["\\]/g, "\\$&")}"` : JSON.stringify(cell);
}

function newFirst(all: Cell[][], guard: number): [Cell[][], number] {
  const made = all.filter((cells) => cells[guard] === 0);
  return [[...made, ...all.filter((cells) => cells[guard] !== 0)], made.length];
}

/** Every run a commit writes or adds events to, and the events, each with the 1-based index of its run. */
function runsAndEvents(batch: readonly PreparedCommit[], put: AddBody): { runs: Cell[][]; events: Cell[][] } {
  const events: Cell[][] = [];
  let place = 0;
  const runs = rows(batch, (commit) => {
    const written = new Map(commit.runs.map((run) => [run.id, run]));
    return commit.runIds.map((id) => {
      place += 1;
      for (const event of commit.events) if (event.runId === id) events.push([place, put(event.body)]);
      const run = written.get(id);
      if (!run) return [id, ...Array<null>(COLUMNS.runs.length - 2).fill(null)];
      const { name, externalId, host, agent, session, parentId, status, endedAt } = run.row;
      return [
        id,
        run.guard,
        put(run.body),
        encodeName(name),
        kept(externalId),
        encodeName(host),
        encodeName(agent),
        kept(session),
        parentId ?? null,
        status,
        endedAt ?? null,
      ];
    });
  });
  return { runs, events };
}

function questionCells({ questions }: PreparedCommit, put: AddBody): Cell[][] {
  return questions.map(({ id, guard, body, row }) => [
    id,
    guard,
    put(body),
    row.runId,
    encodeName(row.key),
    row.status,
  ]);
}

function isClosed({ row }: PreparedCommit["questions"][number]): boolean {
  return row.status !== "pending";
}

function entryCells({ entries }: PreparedCommit, put: AddBody): Cell[][] {
  return entries.map(({ kind, id, parent, guard, body }) => [kind, encodeName(id), kept(parent), guard, put(body)]);
}

function jobCells({ scheduled }: PreparedCommit, put: AddBody): Cell[][] {
  return scheduled.map(({ job: { key, kind, host, agent, dueAt, claim }, body }) => [
    encodeName(key),
    kind,
    kept(host),
    kept(agent),
    dueAt,
    claim?.worker ?? null,
    claim?.leaseMs ?? null,
    put(body),
  ]);
}

function kept(name: string | null | undefined): string | null {
  return name === null || name === undefined ? null : encodeName(name);
}

function pick(from: Record<string, number> | null, names: readonly string[]): Map<string, number> {
  const picked = new Map<string, number>();
  for (const name of names) {
    const value = from?.[encodeName(name)];
    if (value !== undefined) picked.set(name, value);
  }
  return picked;
}
