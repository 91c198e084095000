import { z } from "zod";
import { Instant } from "../../core/instant.ts";
import { changeOf } from "../change-listeners.ts";
import { COLUMNS } from "./apply.ts";
import { SCHEMA } from "./schema.ts";
import { toKept } from "./stored-name.ts";
import type { Prepared } from "../prepare.ts";
import type { Change, Committed } from "../store.ts";

/** PostgreSQL's own limit is 8,000 bytes. */
const NOTICE_BYTES = 7900;

// The cast is safe: they are the keys of that very object.
const TABLES = Object.keys(COLUMNS) as Array<keyof typeof COLUMNS>;
const QUESTION_GUARD = COLUMNS.questions.indexOf("guard:integer");
const ENTRY_GUARD = COLUMNS.entries.indexOf("guard:integer");

/** What is told when nobody can say what changed. */
export const EVERYTHING: Change = { questions: new Set(), dueAt: undefined, all: true };

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

/** The parameters of askd_apply in their order: what counts for the batch, then the rows by table. */
export function encodeBatch(
  batch: readonly Prepared[],
  { origin, isCareful }: { origin: string; isCareful: boolean },
): unknown[] {
  const bodies: string[] = [];
  /** Keeps the text of a row apart, and says where. */
  const put = (body: string): number => bodies.push(body);
  const all = (cellsOf: (commit: Prepared, put: Put) => Cell[][]): Cell[][] =>
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
    dropped: all(({ dropped }) => dropped.map((key) => [toKept(key)])),
    finished: all(({ finished }) => finished.map(({ key, attempt }) => [toKept(key), attempt])),
    postponed: all(({ postponed }) =>
      postponed.map(({ key, attempt, dueAt, body }) => [toKept(key), attempt, dueAt, put(body)]),
    ),
    jobs: all(jobCells),
  };
  const notice = encodeNotice(origin, batch);
  const counts = [isCareful, locks, newQuestions, newEntries, closing, bodies.join("\n")];
  return [SCHEMA, notice, ...counts, ...TABLES.map((table) => arrayOf(tables[table]))];
}

/** What became of each commit, from what askd_apply returned. */
export function decodeApplied(batch: readonly Prepared[], raw: unknown): Committed[] {
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

/** What other nodes are told about a batch; too much to say means "look". */
function encodeNotice(origin: string, batch: readonly Prepared[]): string {
  const change = changeOf(batch);
  const notice = [origin, change.dueAt ?? "", ...change.questions].join(" ");
  return Buffer.byteLength(notice) <= NOTICE_BYTES ? notice : origin;
}

/** Who wrote, and the change that the notice tells of. */
export function decodeNotice(notice: string): { origin: string; change: Change } {
  const [origin = "", dueAt, ...questions] = notice.split(" ");
  if (dueAt === undefined) return { origin, change: EVERYTHING };
  const due = Instant.safeParse(dueAt);
  return { origin, change: { questions: new Set(questions), dueAt: due.success ? due.data : undefined } };
}

type Cell = string | number | null;
type Put = (body: string) => number;
const CONTROL = /\p{Cc}/u;

/** The rows of all commits, each with its commit's place in the batch before its cells. */
function rows(batch: readonly Prepared[], cellsOf: (commit: Prepared) => Cell[][]): Cell[][] {
  return batch.flatMap((commit, c) => cellsOf(commit).map((cells) => [c, ...cells]));
}

/** The rows as PostgreSQL reads an array. The driver could write it too, but takes a tenth of a busy process for it. */
function arrayOf(rows: readonly Cell[][]): string {
  return `{${rows.map((cells) => `{${cells.map(quoted).join(",")}}`).join(",")}}`;
}

/** JSON quotes text as an array does, save for control characters, which are in no body and hardly in a name. */
function quoted(cell: Cell): string {
  if (cell === null) return "NULL";
  if (typeof cell === "number") return String(cell);
  return CONTROL.test(cell) ? `"${cell.replace(/["\\]/g, "\\$&")}"` : JSON.stringify(cell);
}

function newFirst(all: Cell[][], guard: number): [Cell[][], number] {
  const made = all.filter((cells) => cells[guard] === 0);
  return [[...made, ...all.filter((cells) => cells[guard] !== 0)], made.length];
}

/** Every run that a commit writes or reports on, and the events, each with its run's place among them from 1. */
function runsAndEvents(batch: readonly Prepared[], put: Put): { runs: Cell[][]; events: Cell[][] } {
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
        ...[id, run.guard, put(run.body), toKept(name), kept(externalId), toKept(host), toKept(agent), kept(session)],
        ...[parentId ?? null, status, endedAt ?? null],
      ];
    });
  });
  return { runs, events };
}

function questionCells({ questions }: Prepared, put: Put): Cell[][] {
  return questions.map(({ id, guard, body, row }) => [id, guard, put(body), row.runId, toKept(row.key), row.status]);
}

function isClosed({ row }: Prepared["questions"][number]): boolean {
  return row.status !== "pending";
}

function entryCells({ entries }: Prepared, put: Put): Cell[][] {
  return entries.map(({ kind, id, parent, guard, body }) => [kind, toKept(id), kept(parent), guard, put(body)]);
}

function jobCells({ scheduled }: Prepared, put: Put): Cell[][] {
  return scheduled.map(({ job: { key, kind, host, agent, dueAt, claim }, body }) => [
    ...[toKept(key), kind, kept(host), kept(agent), dueAt, claim?.worker ?? null, claim?.leaseMs ?? null, put(body)],
  ]);
}

function kept(name: string | null | undefined): string | null {
  return name === null || name === undefined ? null : toKept(name);
}

function pick(from: Record<string, number> | null, names: readonly string[]): Map<string, number> {
  const picked = new Map<string, number>();
  for (const name of names) {
    const value = from?.[toKept(name)];
    if (value !== undefined) picked.set(name, value);
  }
  return picked;
}
