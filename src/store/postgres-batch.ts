import { z } from "zod";
import { Instant } from "../core/instant.ts";
import { changeOf } from "./change.ts";
import { toKept, toKeptName } from "./postgres-text.ts";
import type { Prepared } from "./prepare.ts";
import type { Change, Committed } from "./store.ts";

/** PostgreSQL's own limit is 8,000 bytes. */
const NOTICE_BYTES = 7900;

/** What is told when nobody can say what changed. */
export const EVERYTHING: Change = { questions: new Set(), dueAt: undefined, all: true };

const Reason = z.enum(["moved", "taken", "job_lost"]);
const ORDER = Reason.options;

const Applied = z
  .object({
    refused: z.array(z.int()),
    reasons: z.array(Reason),
    numbers: z.record(z.string(), z.int()).nullable(),
    attempts: z.record(z.string(), z.int()).nullable(),
  })
  .nullable();

/** The rows of a batch as one JSON text by table, in the form that askd_apply takes. */
export function encodeBatch(batch: readonly Prepared[]): string {
  const tables: Record<string, string[]> = {};
  const put = (table: string, c: number, fields: string): void => {
    (tables[table] ??= []).push(`{"c":${c},${fields}}`);
  };
  batch.forEach((commit, c) => {
    encodeRuns(commit, (table, fields) => put(table, c, fields));
    encodeQuestions(commit, (fields) => put("questions", c, fields));
    for (const { hash, body } of commit.contents) put("contents", c, `"hash":${name(hash)},"body":${text(body)}`);
    for (const { kind, id, parent, guard, body } of commit.entries) {
      const names = `"kind":${name(kind)},"id":${name(id)},"parent":${parent === null ? null : name(parent)}`;
      put("entries", c, `${names},"guard":${guard},"body":${toKept(body)}`);
    }
    for (const { n, hash, body } of commit.seals) put("seals", c, `"n":${n},"hash":${name(hash)},"body":${text(body)}`);
    for (const key of commit.dropped) put("claimed", c, `"key":${name(key)}`);
    for (const { key, attempt } of commit.finished) put("claimed", c, `"key":${name(key)},"attempt":${attempt}`);
    for (const { key, attempt, body } of commit.postponed) {
      put("claimed", c, `"key":${name(key)},"attempt":${attempt},"body":${toKept(body)}`);
    }
    for (const { job, body } of commit.scheduled) {
      const claim = job.claim ? `,"worker":${name(job.claim.worker)},"lease_ms":${job.claim.leaseMs}` : "";
      put("scheduled", c, `"key":${name(job.key)},"body":${toKept(body)}${claim}`);
    }
  });
  return `{${Object.entries(tables)
    .map(([table, rows]) => `"${table}":[${rows.join(",")}]`)
    .join(",")}}`;
}

/** The runs that are there already, in the order in which they are locked. */
export function locksOf(batch: readonly Prepared[]): string[] {
  return batch.flatMap((commit) => {
    const made = new Set(commit.runs.filter((run) => run.guard === 0).map((run) => run.id));
    return commit.runIds.filter((id) => !made.has(id));
  });
}

/** What became of each commit, from what askd_apply returned. */
export function decodeApplied(batch: readonly Prepared[], raw: unknown): Committed[] {
  const applied = Applied.parse(raw);
  if (applied === null) return batch.map(() => ({ ok: false, why: "newer_schema" }));
  const whys = new Map<number, z.infer<typeof Reason>>();
  applied.refused.forEach((c, index) => {
    const why = applied.reasons[index];
    const before = whys.get(c);
    if (why && (!before || ORDER.indexOf(why) < ORDER.indexOf(before))) whys.set(c, why);
  });
  return batch.map((commit, c) => {
    const why = whys.get(c);
    if (why) return { ok: false, why };
    return {
      ok: true,
      numbers: pick(
        applied.numbers,
        commit.runs.map((run) => run.id),
      ),
      attempts: pick(
        applied.attempts,
        commit.scheduled.map(({ job }) => job.key),
      ),
    };
  });
}

/** What other nodes are told about a batch; too much to say means "look". */
export function encodeNotice(origin: string, batch: readonly Prepared[]): string {
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

function encodeRuns(commit: Prepared, put: (table: string, fields: string) => void): void {
  const written = new Map(commit.runs.map((run) => [run.id, run]));
  for (const id of commit.runIds) {
    const run = written.get(id);
    const row = run ? `,"guard":${run.guard},"body":${toKept(run.body)}` : "";
    const lines = commit.events.filter((event) => event.runId === id).map((event) => text(event.body));
    put("runs", `"id":${name(id)}${row}${lines.length > 0 ? `,"lines":[${lines.join(",")}]` : ""}`);
    if (run?.row.session === undefined) continue;
    const { host, agent, session } = run.row;
    put("sessions", `"id":${name(id)},"host":${name(host)},"agent":${name(agent)},"session":${name(session)}`);
  }
}

function encodeQuestions(commit: Prepared, put: (fields: string) => void): void {
  const closing = commit.questions.filter(({ row }) => row.status !== "pending").map(({ id }) => name(id));
  for (const { id, guard, body, row } of commit.questions) {
    const pending = row.status === "pending" ? `,"closing":[${closing.join(",")}]` : "";
    const names = `"id":${name(id)},"run_id":${name(row.runId)},"key":${name(row.key)}`;
    put(`${names},"guard":${guard}${pending},"body":${toKept(body)}`);
  }
}

function name(value: string): string {
  return toKept(JSON.stringify(value));
}

/** Text that is kept letter for letter, as a JSON string; it is JSON itself, so there is nothing in it to escape. */
function text(body: string): string {
  return JSON.stringify(body);
}

function pick(from: Record<string, number> | null, names: readonly string[]): Record<string, number> {
  const picked: Record<string, number> = {};
  for (const one of names) {
    const value = from?.[toKeptName(one)];
    if (value !== undefined) picked[one] = value;
  }
  return picked;
}
