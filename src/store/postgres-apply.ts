/**
 * Writes a batch of commits in one round trip. It knows rows, versions and names, no rule of the product.
 *
 * Rows come as one array per column, with `c`, the place of their commit in the batch. Run rows are locked first and in
 * order. Then everything is written as if nothing stood in the way, which is how it nearly always is; if a guard or a
 * unique name does, that is undone, the rest is locked and checked too, and what was not refused is written. No two
 * commits of a batch touch the same thing, so one that is refused leaves the others as they are.
 * A name that somebody takes between check and write raises an error: repeated, the check sees it.
 * The plan settings keep a plan that was made when tables were small from being used when they are large.
 */
export const APPLY = `
create function askd_apply(
  program integer, notice text, locks text[],
  runs_c integer[], runs_id text[], runs_guard integer[], runs_body text[], runs_name text[], runs_external_id text[],
  runs_host text[], runs_agent text[], runs_session text[], runs_parent_id text[], runs_status text[],
  runs_ended_at text[],
  events_at integer[], events_body text[],
  questions_c integer[], questions_id text[], questions_guard integer[], questions_body text[],
  questions_run_id text[], questions_key text[], questions_status text[], closing text[],
  contents_c integer[], contents_hash text[], contents_body text[],
  entries_c integer[], entries_kind text[], entries_id text[], entries_parent text[], entries_guard integer[],
  entries_body text[],
  seals_c integer[], seals_n integer[], seals_hash text[], seals_body text[],
  dropped_c integer[], dropped_key text[],
  finished_c integer[], finished_key text[], finished_attempt bigint[],
  postponed_c integer[], postponed_key text[], postponed_attempt bigint[], postponed_due_at text[],
  postponed_body text[],
  jobs_c integer[], jobs_key text[], jobs_kind text[], jobs_host text[], jobs_agent text[], jobs_due_at text[],
  jobs_worker text[], jobs_lease_ms integer[], jobs_body text[]
) returns json
language plpgsql
set jit = off set plan_cache_mode = force_generic_plan
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
as $$
declare
  refused integer[] := '{}';
  reasons text[] := '{}';
  numbers json;
  attempts json;
  writable integer;
  locked_id text[];
  locked_version integer[];
  locked_n integer[];
  locked_hash text[];
  place integer;
  chains_n integer[] := array_fill(0, array[cardinality(runs_c)]);
  chains_hash text[] := array_fill(''::text, array[cardinality(runs_c)]);
  events_n integer[] := '{}';
  events_hash text[] := '{}';
  has_new boolean := false;
  has_old boolean := false;
  has_unwritten boolean := false;
  new_questions integer := cardinality(array_positions(questions_guard, 0));
  new_entries integer := cardinality(array_positions(entries_guard, 0));
  is_careful boolean;
  missed integer := 0;
  written integer;
  row record;
begin
  select (select writable_by from meta), array_agg(id), array_agg(version), array_agg(chain_n), array_agg(chain_hash)
  into writable, locked_id, locked_version, locked_n, locked_hash
  from (select id, version, chain_n, chain_hash from run where id = any(locks) order by id for update) locked;
  if writable > program then
    return null;
  end if;
  for i in 1..cardinality(runs_c) loop
    place := array_position(locked_id, runs_id[i]);
    if place is not null then
      chains_n[i] := locked_n[place];
      chains_hash[i] := locked_hash[place];
    end if;
    if runs_guard[i] is null then
      has_unwritten := true;
      if place is null then
        raise 'A commit is about run %, which is not kept.', runs_id[i];
      end if;
    elsif runs_guard[i] = 0 then
      has_new := true;
      if place is not null then
        refused := refused || runs_c[i];
        reasons := reasons || 'taken'::text;
      end if;
    else
      has_old := true;
      if place is null or locked_version[place] <> runs_guard[i] then
        refused := refused || runs_c[i];
        reasons := reasons || 'moved'::text;
      end if;
    end if;
  end loop;
  for i in 1..cardinality(events_at) loop
    place := events_at[i];
    chains_n[place] := chains_n[place] + 1;
    chains_hash[place] := encode(sha256(convert_to(chains_hash[place] || chr(10) || events_body[i], 'UTF8')), 'hex');
    events_n[i] := chains_n[place];
    events_hash[i] := chains_hash[place];
  end loop;
  is_careful := cardinality(refused) > 0;

  loop
    if is_careful then
      perform from entry where (kind, id) in (select * from unnest(entries_kind, entries_id)) order by kind, id for update;
      perform from job where key = any(dropped_key || finished_key || postponed_key) order by key for update;
      for row in
        select x.c, 'taken' as why
        from unnest(runs_c, runs_id, runs_host, runs_agent, runs_session) as x(c, id, host, agent, session)
        join run on run.host = x.host and run.agent = x.agent and run.session = x.session and run.id <> x.id
        union all
        select x.c, case when x.guard <> 0 and x.guard is distinct from question.version then 'moved' else 'taken' end
        from unnest(questions_c, questions_id, questions_guard, questions_run_id, questions_key, questions_status)
          as x(c, id, guard, run_id, key, status)
        left join question on question.id = x.id
        where x.guard <> coalesce(question.version, 0)
          or exists (select from question o where o.run_id = x.run_id and o.key = x.key and o.id <> x.id)
          or x.status = 'pending' and exists (
            select from question o
            where o.run_id = x.run_id and o.status = 'pending' and o.id <> x.id and o.id <> all (closing))
        union all
        select x.c, case when x.guard = 0 then 'taken' else 'moved' end
        from unnest(entries_c, entries_kind, entries_id, entries_guard) as x(c, kind, id, guard)
        left join entry on entry.kind = x.kind and entry.id = x.id
        where x.guard <> coalesce(entry.version, 0)
        union all
        select x.c, 'taken' from unnest(seals_c, seals_n) as x(c, n) join seal on seal.n = x.n
        union all
        select x.c, 'job_lost'
        from unnest(finished_c || postponed_c, finished_key || postponed_key, finished_attempt || postponed_attempt)
          as x(c, key, attempt)
        left join job on job.key = x.key
        where x.attempt is distinct from job.attempt
      loop
        refused := refused || row.c;
        reasons := reasons || row.why;
      end loop;
    end if;

    begin
      if has_new then
        with made as (
          insert into run (id, version, body, name, external_id, host, agent, session, parent_id, status, ended_at,
            chain_n, chain_hash)
          select x.id, 1, x.body, x.name, x.external_id, x.host, x.agent, x.session, x.parent_id, x.status, x.ended_at,
            x.n, x.hash
          from unnest(runs_c, runs_id, runs_guard, runs_body, runs_name, runs_external_id, runs_host, runs_agent,
              runs_session, runs_parent_id, runs_status, runs_ended_at, chains_n, chains_hash)
            as x(c, id, guard, body, name, external_id, host, agent, session, parent_id, status, ended_at, n, hash)
          where x.guard = 0 and x.c <> all (refused)
          returning id, number
        )
        select json_object_agg(id, number) into numbers from made;
      end if;
      if has_old then
        update run set version = x.guard + 1, body = x.body, name = x.name, external_id = x.external_id, host = x.host,
          agent = x.agent, session = x.session, parent_id = x.parent_id, status = x.status, ended_at = x.ended_at,
          chain_n = x.n, chain_hash = x.hash
        from unnest(runs_c, runs_id, runs_guard, runs_body, runs_name, runs_external_id, runs_host, runs_agent,
            runs_session, runs_parent_id, runs_status, runs_ended_at, chains_n, chains_hash)
          as x(c, id, guard, body, name, external_id, host, agent, session, parent_id, status, ended_at, n, hash)
        where x.guard > 0 and x.c <> all (refused) and run.id = x.id;
      end if;
      if has_unwritten then
        update run set chain_n = x.n, chain_hash = x.hash
        from unnest(runs_c, runs_id, runs_guard, chains_n, chains_hash) as x(c, id, guard, n, hash)
        where x.guard is null and x.c <> all (refused) and run.id = x.id and run.chain_n <> x.n;
      end if;
      if cardinality(events_at) > 0 then
        insert into event (run_id, n, hash, body)
        select runs_id[x.place], x.n, x.hash, x.body
        from unnest(events_at, events_n, events_hash, events_body) as x(place, n, hash, body)
        where runs_c[x.place] <> all (refused);
      end if;
      if cardinality(questions_c) > new_questions then
        update question set version = x.guard + 1, body = x.body, run_id = x.run_id, key = x.key, status = x.status
        from unnest(questions_c, questions_id, questions_guard, questions_body, questions_run_id, questions_key,
            questions_status) as x(c, id, guard, body, run_id, key, status)
        where question.id = x.id and question.version = x.guard and x.c <> all (refused);
        get diagnostics written = row_count;
        missed := missed + cardinality(questions_c) - new_questions - written;
      end if;
      if new_questions > 0 then
        insert into question (id, version, body, run_id, key, status)
        select x.id, 1, x.body, x.run_id, x.key, x.status
        from unnest(questions_c, questions_id, questions_guard, questions_body, questions_run_id, questions_key,
            questions_status) as x(c, id, guard, body, run_id, key, status)
        where x.guard = 0 and x.c <> all (refused);
      end if;
      if cardinality(contents_c) > 0 then
        insert into content (hash, body)
        select x.hash, x.body from unnest(contents_c, contents_hash, contents_body) as x(c, hash, body)
        where x.c <> all (refused) order by x.hash
        on conflict do nothing;
      end if;
      if cardinality(entries_c) > 0 then
        update entry set parent = x.parent, version = x.guard + 1, body = x.body
        from unnest(entries_c, entries_kind, entries_id, entries_parent, entries_guard, entries_body)
          as x(c, kind, id, parent, guard, body)
        where entry.kind = x.kind and entry.id = x.id and entry.version = x.guard and x.c <> all (refused);
        get diagnostics written = row_count;
        missed := missed + cardinality(entries_c) - new_entries - written;
        insert into entry (kind, id, parent, version, body)
        select x.kind, x.id, x.parent, 1, x.body
        from unnest(entries_c, entries_kind, entries_id, entries_parent, entries_guard, entries_body)
          as x(c, kind, id, parent, guard, body)
        where x.guard = 0 and x.c <> all (refused) order by x.kind, x.id;
      end if;
      if cardinality(seals_c) > 0 then
        insert into seal (n, hash, body)
        select x.n, x.hash, x.body from unnest(seals_c, seals_n, seals_hash, seals_body) as x(c, n, hash, body)
        where x.c <> all (refused);
      end if;
      if cardinality(dropped_c) > 0 then
        delete from job using unnest(dropped_c, dropped_key) as x(c, key)
        where job.key = x.key and x.c <> all (refused);
      end if;
      if cardinality(finished_c) > 0 then
        delete from job using unnest(finished_c, finished_key, finished_attempt) as x(c, key, attempt)
        where job.key = x.key and job.attempt = x.attempt and x.c <> all (refused);
        get diagnostics written = row_count;
        missed := missed + cardinality(finished_c) - written;
      end if;
      if cardinality(postponed_c) > 0 then
        update job set due_at = x.due_at, ready_at = x.due_at, claimed_by = null, lease_until = null,
          attempt = nextval('job_attempt'), body = x.body
        from unnest(postponed_c, postponed_key, postponed_attempt, postponed_due_at, postponed_body)
          as x(c, key, attempt, due_at, body)
        where job.key = x.key and job.attempt = x.attempt and x.c <> all (refused);
        get diagnostics written = row_count;
        missed := missed + cardinality(postponed_c) - written;
      end if;
      if cardinality(jobs_c) > 0 then
        with made as (
          insert into job (key, kind, host, agent, due_at, ready_at, claimed_by, lease_until, attempt, body)
          select x.key, x.kind, x.host, x.agent, x.due_at, greatest(x.due_at, x.lease_until), x.worker, x.lease_until,
            nextval('job_attempt'), x.body
          from (
            select *, askd_instant(lease_ms) as lease_until
            from unnest(jobs_c, jobs_key, jobs_kind, jobs_host, jobs_agent, jobs_due_at, jobs_worker, jobs_lease_ms,
              jobs_body) as x(c, key, kind, host, agent, due_at, worker, lease_ms, body)
            where x.c <> all (refused) order by x.key
          ) x
          on conflict (key) do update set kind = excluded.kind, host = excluded.host, agent = excluded.agent,
            due_at = excluded.due_at, ready_at = excluded.ready_at, claimed_by = excluded.claimed_by,
            lease_until = excluded.lease_until, attempt = excluded.attempt, body = excluded.body
          returning key, attempt
        )
        select json_object_agg(key, attempt) into attempts from made;
      end if;
      if missed > 0 and not is_careful then
        raise sqlstate 'AK001';
      end if;
      exit;
    exception when unique_violation or sqlstate 'AK001' then
      if is_careful then
        raise;
      end if;
      is_careful := true;
    end;
  end loop;
  perform pg_notify('askd', notice);
  return json_build_object('refused', refused, 'reasons', reasons, 'numbers', numbers, 'attempts', attempts);
end
$$`;
