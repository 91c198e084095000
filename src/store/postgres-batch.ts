import { z } from "zod";
import { Instant } from "../core/instant.ts";
import { changeOf } from "./change.ts";
import { SCHEMA } from "./postgres-schema.ts";
import { toKept } from "./postgres-text.ts";
import type { Prepared } from "./prepare.ts";
import type { Change, Committed } from "./store.ts";

/** PostgreSQL's own limit is 8,000 bytes. */
const NOTICE_BYTES = 7900;

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

/** The parameters of askd_apply in their order: what counts for the batch, then one array per column. */
export function encodeBatch(batch: readonly Prepared[], origin: string): unknown[] {
  const locks = batch.flatMap((commit) => commit.runIds).sort();
  return [
    ...[SCHEMA, encodeNotice(origin, batch), locks],
    ...runColumns(batch),
    ...questionColumns(batch),
    ...columns(3, batch, ({ contents }) => contents.map(({ hash, body }) => [hash, body])),
    ...columns(6, batch, ({ entries }) =>
      entries.map(({ kind, id, parent, guard, body }) => [kind, toKept(id), kept(parent), guard, body]),
    ),
    ...columns(4, batch, ({ seals }) => seals.map(({ n, hash, body }) => [n, hash, body])),
    ...columns(2, batch, ({ dropped }) => dropped.map((key) => [toKept(key)])),
    ...columns(3, batch, ({ finished }) => finished.map(({ key, attempt }) => [toKept(key), attempt])),
    ...columns(5, batch, ({ postponed }) =>
      postponed.map(({ key, attempt, dueAt, body }) => [toKept(key), attempt, dueAt, body]),
    ),
    ...columns(9, batch, ({ scheduled }) =>
      scheduled.map(({ job: { key, kind, host, agent, dueAt, claim }, body }) => [
        ...[toKept(key), kind, kept(host), kept(agent), dueAt],
        ...[claim?.worker ?? null, claim?.leaseMs ?? null, body],
      ]),
    ),
  ];
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

/** One array per column: the commit's place in the batch, then the cells of each row. */
function columns(
  width: number,
  batch: readonly Prepared[],
  rowsOf: (commit: Prepared, c: number) => Cell[][],
): Cell[][] {
  const all: Cell[][] = Array.from({ length: width }, () => []);
  batch.forEach((commit, c) => {
    for (const row of rowsOf(commit, c)) {
      all[0]?.push(c);
      row.forEach((cell, index) => all[index + 1]?.push(cell));
    }
  });
  return all;
}

/** Every run that a commit writes or reports on, and the events, each with its run's place among them from 1. */
function runColumns(batch: readonly Prepared[]): Cell[][] {
  const events: Cell[][] = [[], []];
  let place = 0;
  const runs = columns(12, batch, (commit) => {
    const written = new Map(commit.runs.map((run) => [run.id, run]));
    return commit.runIds.map((id) => {
      place += 1;
      for (const event of commit.events) {
        if (event.runId !== id) continue;
        events[0]?.push(place);
        events[1]?.push(event.body);
      }
      const run = written.get(id);
      if (!run) return [id, ...Array<null>(10).fill(null)];
      const { name, externalId, host, agent, session, parentId, status, endedAt } = run.row;
      return [
        ...[id, run.guard, run.body, toKept(name), kept(externalId), toKept(host), toKept(agent), kept(session)],
        ...[parentId ?? null, status, endedAt ?? null],
      ];
    });
  });
  return [...runs, ...events];
}

function questionColumns(batch: readonly Prepared[]): Cell[][] {
  const closing: Cell[] = [];
  const questions = columns(7, batch, (commit) =>
    commit.questions.map(({ id, guard, body, row }) => {
      if (row.status !== "pending") closing.push(id);
      return [id, guard, body, row.runId, toKept(row.key), row.status];
    }),
  );
  return [...questions, closing];
}

function kept(name: string | null | undefined): string | null {
  return name === null || name === undefined ? null : toKept(name);
}

function pick(from: Record<string, number> | null, names: readonly string[]): Record<string, number> {
  const picked: Record<string, number> = {};
  for (const name of names) {
    const value = from?.[toKept(name)];
    if (value !== undefined) picked[name] = value;
  }
  return picked;
}
