import pg from "pg";
import { z } from "zod";
import type { Changes } from "../../core/changes.ts";
import { COLUMNS } from "./apply.ts";
import { encodeNotice } from "./listen.ts";
import { type PostgresPool, type Queryable, inTransaction } from "./pool.ts";
import { SCHEMA } from "./schema.ts";
import { encodeName } from "./row.ts";
import { type PreparedCommit, prepareAdopted, prepareCommit } from "../prepare.ts";
import type { CommitResult, DamagedRows } from "../store.ts";

/** A conflict in a batch: a taken name, or a changed row. */
const IN_THE_WAY = new Set(["23505", "AK001"]);
/** Deadlock or lost race for a name: a retry sees the other's write. */
const RACES = new Set(["40001", "40P01", "23505"]);
const RACE_TRIES = 3;

const SEQUENCE = "pg_get_serial_sequence('run', 'number')";
// Numbers of imported runs must not be assigned again.
const ADVANCE = `select setval(${SEQUENCE}, (select greatest(max(number), 1) from run))`;
// A new run waits meanwhile: it could have drawn a number that the import gives back.
const KEEP_NUMBERS = "lock table run in exclusive mode";

// The cast is safe: they are the keys of that very object.
const TABLES = Object.keys(COLUMNS) as Array<keyof typeof COLUMNS>;
const QUESTION_GUARD = COLUMNS.questions.indexOf("guard:integer");
const ENTRY_GUARD = COLUMNS.entries.indexOf("guard:integer");

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

const PUT_LOST_RUN = `insert into run (number, id, version, body, name, host, agent, status, chain_n, chain_hash)
  values (case when $1::bigint > 0 and not exists (select from run where number = $1) then $1 else nextval(${SEQUENCE}) end,
    $2, $3, '', '', '', '', '', $4, $5)`;
const PUT_LOST_QUESTION =
  "insert into question (id, version, body, run_id, key, status) values ($1, $2, '', $3, $4, $5)";

/** Writes the commits of one process, which notifications name as their origin. */
export class PostgresWriter {
  readonly #pool: PostgresPool;
  readonly #origin: string;

  constructor(pool: PostgresPool, origin: string) {
    this.#pool = pool;
    this.#origin = origin;
  }

  /** Writes a batch in one transaction; a conflict is looked for only after it was met. */
  async write(batch: readonly PreparedCommit[]): Promise<CommitResult[]> {
    let isCareful = false;
    for (let tries = 1; ; tries += 1) {
      try {
        const values = encodeBatch(batch, { origin: this.#origin, isCareful });
        const statement = this.#pool.prepared("askd_apply", applyText(values), values);
        return await this.#pool.use((client) => apply(client, batch, statement));
      } catch (error) {
        const code = error instanceof pg.DatabaseError ? (error.code ?? "") : "";
        const mayGoOn = !isCareful && IN_THE_WAY.has(code);
        if (!mayGoOn && (!RACES.has(code) || batch.length > 1 || tries > RACE_TRIES)) throw error;
        isCareful = true;
      }
    }
  }

  /** Imports rows with their versions and numbers, in one transaction. */
  adopt(changes: Changes): Promise<CommitResult> {
    const commit = prepareAdopted(changes);
    const values = encodeBatch([commit], { origin: this.#origin, isCareful: true });
    return this.#pool.use((client) =>
      inTransaction(client, async () => {
        await client.query(KEEP_NUMBERS);
        const [committed] = await apply(client, [commit], { text: applyText(values), values });
        if (committed?.ok) await restoreRows(client, changes);
        return committed ?? { ok: false, why: "newer_schema" };
      }),
    );
  }

  /** Deletes damaged rows and writes what takes their place, in one transaction. */
  replaceDamaged(gone: DamagedRows, changes: Changes): Promise<CommitResult> {
    const commit = prepareCommit(changes);
    const values = encodeBatch([commit], { origin: this.#origin, isCareful: true });
    return this.#pool.use((client) =>
      inTransaction(client, async () => {
        await deleteRows(client, gone);
        await putLostRows(client, gone);
        const [committed] = await apply(client, [commit], { text: applyText(values), values });
        if (!committed?.ok) throw new Error(`damaged rows could not be replaced: ${committed?.why ?? "newer_schema"}`);
        return committed;
      }),
    );
  }
}

async function apply(client: Queryable, batch: readonly PreparedCommit[], statement: pg.QueryConfig) {
  const { rows } = await client.query<{ applied: unknown }>(statement);
  return decodeApplied(batch, rows[0]?.applied);
}

function applyText(params: readonly unknown[]) {
  return `select askd_apply(${params.map((_, index) => `$${index + 1}`).join(", ")}) as applied`;
}

async function deleteRows(client: Queryable, { contents = [], entries = [] }: DamagedRows) {
  await client.query("delete from content where hash = any($1)", [contents]);
  for (const { kind, id } of entries)
    await client.query("delete from entry where kind = $1 and id = $2", [kind, encodeName(id)]);
}

/** Puts back rows without a text, for the changes that are written in the same transaction. */
async function putLostRows(client: Queryable, { lostRuns = [], lostQuestions = [] }: DamagedRows) {
  for (const { id, number, version, head } of lostRuns)
    await client.query(PUT_LOST_RUN, [number, id, version, head.n, head.hash]);
  for (const { id, version, runId, key, status } of lostQuestions)
    await client.query(PUT_LOST_QUESTION, [id, version, runId, encodeName(key), status]);
}

/** Restores the versions and numbers of imported rows, inside the transaction that wrote them. */
async function restoreRows(client: Queryable, { runs = [], questions = [] }: Changes) {
  for (const { id, version, number } of runs) {
    await client.query("update run set version = $2 where id = $1", [id, version]);
    const free = "update run set number = $2 where id = $1 and not exists (select from run where number = $2)";
    if (number > 0) await client.query(free, [id, number]);
  }
  const put = "update question set version = new.version from unnest($1::text[], $2::int[]) as new (id, version)";
  await client.query(`${put} where question.id = new.id`, [
    questions.map(({ id }) => id),
    questions.map(({ version }) => version),
  ]);
  if (runs.length > 0) await client.query(ADVANCE);
}

/** Encodes the parameters of askd_apply, in order: batch values, then the rows by table. */
function encodeBatch(
  batch: readonly PreparedCommit[],
  { origin, isCareful }: { origin: string; isCareful: boolean },
): unknown[] {
  const bodies: string[] = [];
  /** Collects the body of a row and returns its line number. */
  const put = (body: string) => bodies.push(body);
  const all = (cellsOf: (commit: PreparedCommit, put: AddBody) => Cell[][]) =>
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
function decodeApplied(batch: readonly PreparedCommit[], raw: unknown): CommitResult[] {
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
function arrayOf(rows: readonly Cell[][]) {
  return `{${rows.map((cells) => `{${cells.map(quoted).join(",")}}`).join(",")}}`;
}

/** JSON quotes text like an array does, except for control characters, which no body and hardly any name contains. */
function quoted(cell: Cell) {
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

function isClosed({ row }: PreparedCommit["questions"][number]) {
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

function pick(from: Record<string, number> | null, names: readonly string[]) {
  const picked = new Map<string, number>();
  for (const name of names) {
    const value = from?.[encodeName(name)];
    if (value !== undefined) picked.set(name, value);
  }
  return picked;
}
