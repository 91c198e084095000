import type { Seal } from "../../src/core/changes.ts";
import { CHAIN_START } from "../../src/core/trail/event.ts";
import { STORE_CHAIN } from "../../src/core/id.ts";
import type { MemoryTables } from "./memory-table.ts";
import { parseJob, parseQuestion, parseRun } from "../../src/store/row.ts";
import type {
  StoredEntry,
  StoredJob,
  StoredLine,
  StoredQuestion,
  RowCounts,
  StoredRun,
  StoreSnapshot,
} from "../../src/store/snapshot.ts";
import { lineName } from "../../src/store/snapshot.ts";

/** A snapshot of the memory store. */
export class MemorySnapshot implements StoreSnapshot {
  readonly #runs: StoredRun[];
  readonly #questions: StoredQuestion[];
  readonly #lines: StoredLine[];
  readonly #jobs: StoredJob[];
  readonly #entries: StoredEntry[];
  readonly #contents: Map<string, string>;
  readonly #seals: Seal[];

  constructor(tables: MemoryTables) {
    this.#runs = [...tables.run.scan("oldest")].map(([id, row]) => {
      const { name, externalId, host, agent, session } = parseRun(row.body, row.number);
      const columns = { id, version: row.version, name, externalId: externalId ?? null, host, agent };
      return {
        id,
        number: row.number,
        body: row.body,
        columns: {
          ...columns,
          session: session ?? null,
          parentId: row.parentId ?? null,
          status: row.status,
          endedAt: row.endedAt ?? null,
        },
        chain: { ...row.chain },
        lastSeq: undefined,
      };
    });
    this.#runs.unshift(storeChain(tables));
    this.#questions = [...tables.question.scan("oldest")]
      .map(([id, { version, body, runId, key, status }]) => ({
        id,
        runId,
        key: parseQuestion(body).key,
        body,
        columns: { id, version, runId, key, status },
        place: undefined,
      }))
      .sort((one, other) => compare(one.runId, other.runId) || compare(one.key, other.key));
    this.#lines = tables.event
      .map(({ runId, n, hash, body, cursor }) => ({
        runId,
        n,
        hash,
        body,
        xid: 0,
        seq: Number(cursor),
        before: undefined,
      }))
      .sort((one, other) => compare(one.runId, other.runId) || one.n - other.n);
    this.#jobs = [...tables.job]
      .map(([key, { body, kind, host, agent, dueAt, leaseUntil }]) => ({
        key,
        body,
        columns: { key: parseJob(body).key, kind, host: host ?? null, agent: agent ?? null, dueAt },
        readyAt: leaseUntil ?? dueAt,
        leaseUntil: leaseUntil ?? null,
      }))
      .sort((one, other) => compare(one.key, other.key));
    this.#entries = [...tables.entry.values()];
    this.#contents = new Map(tables.content);
    this.#seals = [...tables.seal.values()].sort((one, other) => one.n - other.n);
  }

  async listRuns(after: string, limit: number): Promise<StoredRun[]> {
    return pageAfter(this.#runs, limit, ({ id }) => id > after);
  }

  async readRuns(ids: readonly string[]): Promise<StoredRun[]> {
    return this.#runs.filter(({ id }) => ids.includes(id));
  }

  listDamagedPages() {
    return []; // there is no archive in memory
  }

  async readLinesOf(id: string): Promise<StoredLine[]> {
    return this.#lines.filter(({ runId }) => runId === id);
  }

  async listContents(after: string, limit: number): Promise<Array<{ hash: string; body: string }>> {
    const rows = [...this.#contents].map(([hash, body]) => ({ hash, body }));
    return pageAfter(
      rows.sort((one, other) => compare(one.hash, other.hash)),
      limit,
      ({ hash }) => hash > after,
    );
  }

  async listEntries(kind: string, after: string, limit: number): Promise<StoredEntry[]> {
    const rows = this.#entries.filter((entry) => entry.kind === kind).sort((one, other) => compare(one.id, other.id));
    return pageAfter(rows, limit, ({ id }) => id > after);
  }

  async listQuestions(
    after: Pick<StoredQuestion, "runId" | "key"> | undefined,
    limit: number,
  ): Promise<StoredQuestion[]> {
    if (after === undefined) return this.#questions.slice(0, limit);
    const isAfter = ({ runId, key }: StoredQuestion): boolean =>
      runId > after.runId || (runId === after.runId && key > after.key);
    return pageAfter(this.#questions, limit, isAfter);
  }

  async listLines(after: Pick<StoredLine, "runId" | "n" | "seq"> | undefined, limit: number): Promise<StoredLine[]> {
    if (after === undefined) return this.#lines.slice(0, limit);
    const isAfter = ({ runId, n }: StoredLine): boolean =>
      runId > after.runId || (runId === after.runId && n > after.n);
    return pageAfter(this.#lines, limit, isAfter);
  }

  async listJobs(after: string, limit: number): Promise<StoredJob[]> {
    return pageAfter(this.#jobs, limit, ({ key }) => key > after);
  }

  async readFeedHashes(after: string, upTo: string): Promise<string[]> {
    return this.#lines
      .filter(({ seq }) => seq > Number(after) && seq <= Number(upTo))
      .sort((one, other) => one.seq - other.seq)
      .map(({ hash }) => hash);
  }

  async listSeals(afterN: number, limit: number): Promise<Seal[]> {
    return pageAfter(this.#seals, limit, ({ n }) => n > afterN);
  }

  async readContents(names: readonly string[]): Promise<Map<string, string>> {
    return new Map(
      names.flatMap((name) => {
        const body = this.#contents.get(name);
        return body === undefined ? [] : [[name, body]];
      }),
    );
  }

  async readJobs(keys: readonly string[]): Promise<StoredJob[]> {
    const wanted = new Set(keys);
    return this.#jobs.filter(({ key }) => wanted.has(key));
  }

  async readEntries(kind: string, ids: readonly string[]): Promise<StoredEntry[]> {
    const wanted = new Set(ids);
    return this.#entries.filter((entry) => entry.kind === kind && wanted.has(entry.id));
  }

  async readLines(
    lines: ReadonlyArray<{ runId: string; n: number }>,
  ): Promise<Map<string, { hash: string; number: number }>> {
    const wanted = new Set(lines.map(({ runId, n }) => lineName(runId, n)));
    const numbers = new Map(this.#runs.map(({ id, number }) => [id, number]));
    const found = this.#lines.filter(({ runId, n }) => wanted.has(lineName(runId, n)));
    return new Map(found.map(({ runId, n, hash }) => [lineName(runId, n), { hash, number: numbers.get(runId) ?? 0 }]));
  }

  async countRows(): Promise<RowCounts> {
    const entries = new Map<string, number>();
    for (const { kind } of this.#entries) entries.set(kind, (entries.get(kind) ?? 0) + 1);
    return { contents: this.#contents.size, entries };
  }
}

/** The chain of the store itself, which other stores keep among their runs. */
function storeChain(tables: MemoryTables): StoredRun {
  const columns = { id: STORE_CHAIN, version: 1, name: "", host: "", agent: "", status: "store" };
  const chain = { ...(tables.findChain(STORE_CHAIN) ?? { n: 0, hash: CHAIN_START }) };
  return { id: STORE_CHAIN, number: 0, body: "{}", columns, chain, lastSeq: undefined };
}

function pageAfter<Row>(rows: readonly Row[], limit: number, isAfter: (row: Row) => boolean): Row[] {
  const start = rows.findIndex(isAfter);
  return start < 0 ? [] : rows.slice(start, start + limit);
}

function compare(one: string, other: string): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}
