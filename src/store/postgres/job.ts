import { Instant } from "../../core/instant.ts";
import type { ClaimedJob } from "../../core/run/job.ts";
import type { Queryable } from "./pool.ts";
import { parseJob } from "../row.ts";
import type { ClaimFilter, KeptJob } from "../store.ts";

const FITS = "kind = any($1) and (host is null or host = $2) and (agent is null or agent = any($3))";

const KEPT = "select body, attempt, lease_until from job";

// Rows locked by another worker are skipped, never waited for.
const CLAIM = `
with clock as materialized (select askd_instant(0) as now, askd_instant($4) as lease_until),
due as (
  select key from job, clock where ready_at <= now and ${FITS}
  order by ready_at, key limit $6 for update of job skip locked
),
claimed as (
  update job set ready_at = greatest(due_at, clock.lease_until), claimed_by = $5, lease_until = clock.lease_until,
    attempt = nextval('job_attempt')
  from due, clock where job.key = due.key
  returning job.key, body, attempt, due_at
)
select now, body, attempt from clock left join claimed on true order by due_at, key`;

/** Claims due jobs by the database's clock. */
export async function claimJobs(pool: Queryable, filter: ClaimFilter): Promise<{ now: Instant; jobs: ClaimedJob[] }> {
  const { kinds, host, agents, leaseMs, worker, limit } = filter;
  const { rows } = await pool.query<{ now: string; body: string | null; attempt: number }>({
    name: "askd_claim",
    text: CLAIM,
    values: [kinds, host, agents, leaseMs, worker, limit],
  });
  const jobs = rows.flatMap(({ body, attempt }) => (body === null ? [] : [{ ...parseJob(body), attempt }]));
  return { now: Instant.parse(rows[0]?.now), jobs };
}

export async function nextJobAt(
  pool: Queryable,
  { kinds, host, agents }: Pick<ClaimFilter, "kinds" | "host" | "agents">,
): Promise<Instant | undefined> {
  const sql = `select ready_at from job where ${FITS} order by ready_at limit 1`;
  const { rows } = await pool.query<{ ready_at: string }>(sql, [kinds, host, agents]);
  return rows[0] && Instant.parse(rows[0].ready_at);
}

export function listJobs(pool: Queryable, limit: number): Promise<KeptJob[]> {
  return readJobs(pool, `${KEPT} order by ready_at, key limit $1`, limit);
}

export function listFailingJobs(pool: Queryable, limit: number): Promise<KeptJob[]> {
  // Few jobs fail and the list is rarely read: scanning the text of all jobs is cheaper than an index on every write.
  return readJobs(pool, `${KEPT} where position('"failure":{' in body) > 0 order by ready_at, key limit $1`, limit);
}

async function readJobs(pool: Queryable, sql: string, limit: number): Promise<KeptJob[]> {
  const { rows } = await pool.query<{ body: string; attempt: number; lease_until: string | null }>(sql, [limit]);
  return rows.map(({ body, attempt, lease_until: leaseUntil }) => ({
    ...parseJob(body),
    attempt,
    leaseUntil: leaseUntil === null ? undefined : Instant.parse(leaseUntil),
  }));
}
