import { later, type Instant } from "../../core/instant.ts";
import type { ClaimedJob } from "../../core/run/job.ts";
import type { SqlValue } from "../../sqlite.ts";
import type { PreparedCommit, PreparedJob } from "../prepare.ts";
import { type JobText, jobName, toJob } from "../row.ts";
import { insertInto, type Connection } from "./connection.ts";
import { newerSchemaRefusal } from "../schema.ts";
import { SCHEMA } from "./schema.ts";
import type { ClaimFilter, KeptJob } from "../store.ts";

const NEXT_ATTEMPT = "update meta set attempt = attempt + 1 returning attempt, writable_by";

const END = "delete from job where key = ?";
const POSTPONE = `update job set body = ?, due_at = ?, ready_at = ?, attempt = ?, claimed_by = null, lease_until = null
  where key = ?`;
const COLUMNS = ["key", "kind", "host", "agent", "due_at", "ready_at", "claimed_by", "lease_until", "attempt", "body"];
const REPLACE = `on conflict (key) do update set kind = excluded.kind, host = excluded.host, agent = excluded.agent,
  due_at = excluded.due_at, ready_at = excluded.ready_at, claimed_by = excluded.claimed_by,
  lease_until = excluded.lease_until, attempt = excluded.attempt, body = excluded.body`;
const SCHEDULE = insertInto("job", COLUMNS, REPLACE);

const FOR_US =
  "kind = ? and (host is null or host = ?) and (agent is null or agent in (select value from json_each(?)))";
const READY = `select key, ready_at from job where ${FOR_US} and ready_at <= ? order by ready_at limit ?`;
const NEXT = `select ready_at from job where ${FOR_US} order by ready_at limit 1`;
const CLAIM = `update job set attempt = ?, claimed_by = ?, lease_until = ?, ready_at = ? where key = ?
  returning key, body`;
const LIST = "select key, body, attempt, lease_until from job order by ready_at, key limit ?";
// Few jobs fail and the list is rarely read: scanning the text of all jobs is cheaper than an index on every write.
const LIST_FAILING = `select key, body, attempt, lease_until from job where instr(body, '"failure":{') > 0
  order by ready_at, key limit ?`;

type JobFilter = Pick<ClaimFilter, "kinds" | "host" | "agents">;

interface ClaimResult {
  now: Instant;
  jobs: ClaimedJob[];
}

interface KeptRow extends JobText {
  attempt: number;
  lease_until: Instant | null;
}

interface ReadyJob {
  key: string;
  ready_at: Instant;
}

/** Finishes, postpones and schedules the jobs of a batch, inside its transaction. */
export function putJobs(
  connection: Connection,
  batch: readonly PreparedCommit[],
  { attempt, now }: { attempt: number; now: Instant },
): void {
  const rows: SqlValue[][] = [];
  for (const commit of batch) {
    for (const key of commit.dropped) connection.prepare(END).run(key);
    for (const { key } of commit.finished) connection.prepare(END).run(key);
    for (const { key, dueAt, body } of commit.postponed)
      connection.prepare(POSTPONE).run(body, dueAt, dueAt, attempt, key);
    for (const job of commit.scheduled) rows.push(jobRow(job, attempt, now));
  }
  connection.insert(SCHEDULE, rows);
}

/** Claims ready jobs, longest ready first. */
export async function claimJobs(
  connection: Connection,
  filter: ClaimFilter,
  clock: () => Instant,
): Promise<ClaimResult> {
  // Reading first avoids the write lock when nothing is ready.
  const seenAt = clock();
  const seen = await connection.read(() => findReady(connection, filter, seenAt));
  if (seen.length === 0) return { now: seenAt, jobs: [] };
  return connection.transact(() => {
    const now = clock();
    const ready = findReady(connection, filter, now);
    const meta = connection.prepare<{ attempt: number; writable_by: number }>(NEXT_ATTEMPT).get();
    if (meta === undefined || meta.writable_by > SCHEMA) throw newerSchemaRefusal();
    const leaseUntil = later(now, filter.leaseMs);
    const claim = connection.prepare<JobText>(CLAIM);
    const rows = ready.flatMap(({ key }) => claim.get(meta.attempt, filter.worker, leaseUntil, leaseUntil, key) ?? []);
    const jobs = connection.unreadable.read(rows, jobName, toJob);
    return { now, jobs: jobs.map((job) => ({ ...job, attempt: meta.attempt })) };
  });
}

/** When the first job that matches the filter is ready. */
export function nextJobAt(connection: Connection, filter: JobFilter): Instant | undefined {
  const agents = JSON.stringify(filter.agents);
  const firsts = filter.kinds.flatMap(
    (kind) => connection.prepare<ReadyJob>(NEXT).get(kind, filter.host, agents) ?? [],
  );
  return firsts.toSorted(byReadiness)[0]?.ready_at;
}

export function listJobs(connection: Connection, limit: number): KeptJob[] {
  return connection.unreadable.read(connection.prepare<KeptRow>(LIST).all(limit), jobName, toKeptJob);
}

export function listFailingJobs(connection: Connection, limit: number): KeptJob[] {
  return connection.unreadable.read(connection.prepare<KeptRow>(LIST_FAILING).all(limit), jobName, toKeptJob);
}

function toKeptJob({ attempt, lease_until: leaseUntil, ...row }: KeptRow): KeptJob {
  return { ...toJob(row), attempt, leaseUntil: leaseUntil ?? undefined };
}

// One query per kind, so that each reads its index in order and stops: a hundred thousand due reminders are not sorted
// for every claim and do not hide other kinds.
function findReady(connection: Connection, filter: ClaimFilter, now: Instant) {
  const agents = JSON.stringify(filter.agents);
  return filter.kinds
    .flatMap((kind) => connection.prepare<ReadyJob>(READY).all(kind, filter.host, agents, now, filter.limit))
    .sort(byReadiness)
    .slice(0, filter.limit);
}

function byReadiness(one: ReadyJob, other: ReadyJob) {
  if (one.ready_at === other.ready_at) return 0;
  return one.ready_at < other.ready_at ? -1 : 1;
}

function jobRow({ job, body }: PreparedJob, attempt: number, now: Instant): SqlValue[] {
  const { key, kind, host, agent, dueAt, claim } = job;
  const leaseUntil = claim ? later(now, claim.leaseMs) : null;
  const readyAt = leaseUntil !== null && leaseUntil > dueAt ? leaseUntil : dueAt;
  const claimedBy = claim?.worker ?? null;
  return [key, kind, host ?? null, agent ?? null, dueAt, readyAt, claimedBy, leaseUntil, attempt, body];
}
