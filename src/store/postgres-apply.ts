/**
 * Writes a batch of commits in one round trip. It knows rows, versions and names, no rule of the product.
 *
 * `batch` holds the rows of all commits by table, each with `c`, the place of its commit in the batch. Run rows are
 * locked first and in order; then guards are checked; then what was not refused is written set-wise. No two commits of
 * a batch touch the same thing, so one that is refused leaves the others as they are.
 * A name that somebody takes between check and write raises an error: repeated, the check sees it.
 * The plan settings keep a plan that was made when tables were small from being used when they are large.
 */
export const APPLY = `
create function askd_apply(program integer, batch jsonb, locks text[], notice text) returns jsonb
language plpgsql
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set plan_cache_mode = force_generic_plan
as $$
declare
  refused integer[] := '{}';
  reasons text[] := '{}';
  numbers jsonb;
  attempts jsonb;
  row record;
  line text;
  line_n integer;
  line_hash text;
  run_ids text[] := '{}';
  run_ns integer[] := '{}';
  run_hashes text[] := '{}';
  run_bodies jsonb[] := '{}';
  new_ids text[] := '{}';
  new_ns integer[] := '{}';
  new_hashes text[] := '{}';
  new_bodies jsonb[] := '{}';
  event_runs text[] := '{}';
  event_ns integer[] := '{}';
  event_hashes text[] := '{}';
  event_bodies text[] := '{}';
  written integer;
begin
  if (select writable_by from meta) > program then
    return null;
  end if;
  if cardinality(locks) > 0 then
    perform from run where id = any(locks) order by id for update;
  end if;
  if batch ? 'claimed' then
    perform from job where key = any(array(select jsonb_array_elements(batch->'claimed')->>'key')) order by key for update;
  end if;

  for row in
    select x.c, x.id, x.guard, run.version
    from jsonb_to_recordset(batch->'runs') as x(c integer, id text, guard integer)
    left join run on run.id = x.id
    where coalesce(x.guard, -1) <> coalesce(run.version, 0)
  loop
    if row.guard is null and row.version is null then
      raise 'A commit is about run %, which is not kept.', row.id;
    end if;
    if row.guard is not null then
      refused := refused || row.c;
      reasons := reasons || case when row.guard = 0 then 'taken' else 'moved' end;
    end if;
  end loop;
  if batch ? 'sessions' then
    for row in
      select x.c from jsonb_to_recordset(batch->'sessions') as x(c integer, id text, host text, agent text, session text)
      join run on run.host = x.host and run.agent = x.agent and run.session = x.session and run.id <> x.id
    loop
      refused := refused || row.c;
      reasons := reasons || 'taken'::text;
    end loop;
  end if;
  if batch ? 'questions' then
    for row in
      select x.c, x.guard <> 0 and x.guard is distinct from question.version as is_moved
      from jsonb_to_recordset(batch->'questions')
        as x(c integer, id text, guard integer, run_id text, key text, closing text[], body jsonb)
      left join question on question.id = x.id
      where x.guard <> coalesce(question.version, 0)
        or exists (select from question o where o.run_id = x.run_id and o.key = x.key and o.id <> x.id)
        or x.closing is not null and exists (
          select from question o
          where o.run_id = x.run_id and o.status = 'pending' and o.id <> x.id and o.id <> all (x.closing))
    loop
      refused := refused || row.c;
      reasons := reasons || case when row.is_moved then 'moved' else 'taken' end;
    end loop;
  end if;
  if batch ? 'entries' then
    for row in
      select x.c, x.guard
      from jsonb_to_recordset(batch->'entries') as x(c integer, kind text, id text, guard integer)
      left join entry on entry.kind = x.kind and entry.id = x.id
      where x.guard <> coalesce(entry.version, 0)
    loop
      refused := refused || row.c;
      reasons := reasons || case when row.guard = 0 then 'taken' else 'moved' end;
    end loop;
  end if;
  if batch ? 'seals' then
    for row in
      select x.c from jsonb_to_recordset(batch->'seals') as x(c integer, n integer) join seal on seal.n = x.n
    loop
      refused := refused || row.c;
      reasons := reasons || 'taken'::text;
    end loop;
  end if;
  if batch ? 'claimed' then
    for row in
      select x.c from jsonb_to_recordset(batch->'claimed') as x(c integer, key text, attempt bigint)
      left join job on job.key = x.key
      where x.attempt is not null and x.attempt is distinct from job.attempt
    loop
      refused := refused || row.c;
      reasons := reasons || 'job_lost'::text;
    end loop;
  end if;

  for row in
    select x.id, x.guard, x.body, x.lines, coalesce(run.chain_n, 0) as n, coalesce(run.chain_hash, '') as hash
    from jsonb_to_recordset(batch->'runs') as x(c integer, id text, guard integer, body jsonb, lines text[])
    left join run on run.id = x.id
    where x.c <> all (refused)
  loop
    line_n := row.n;
    line_hash := row.hash;
    if row.lines is not null then
      foreach line in array row.lines loop
        line_n := line_n + 1;
        line_hash := encode(sha256(convert_to(line_hash || chr(10) || line, 'UTF8')), 'hex');
        event_runs := event_runs || row.id;
        event_ns := event_ns || line_n;
        event_hashes := event_hashes || line_hash;
        event_bodies := event_bodies || line;
      end loop;
    end if;
    if row.guard = 0 then
      new_ids := new_ids || row.id;
      new_ns := new_ns || line_n;
      new_hashes := new_hashes || line_hash;
      new_bodies := array_append(new_bodies, row.body);
    elsif row.body is not null or row.lines is not null then
      run_ids := run_ids || row.id;
      run_ns := run_ns || line_n;
      run_hashes := run_hashes || line_hash;
      run_bodies := array_append(run_bodies, row.body);
    end if;
  end loop;

  if cardinality(new_ids) > 0 then
    with made as (
      insert into run (id, body, chain_n, chain_hash)
      select * from unnest(new_ids, new_bodies, new_ns, new_hashes)
      on conflict do nothing returning id, number
    )
    select jsonb_object_agg(id, number), count(*) into numbers, written from made;
    if written <> cardinality(new_ids) then
      raise 'A run was made by somebody else meanwhile.' using errcode = 'serialization_failure';
    end if;
  end if;
  if cardinality(run_ids) > 0 then
    update run set body = coalesce(x.body, run.body), chain_n = x.n, chain_hash = x.hash
    from unnest(run_ids, run_bodies, run_ns, run_hashes) as x(id, body, n, hash)
    where run.id = x.id;
  end if;
  if cardinality(event_runs) > 0 then
    insert into event (run_id, n, hash, body) select * from unnest(event_runs, event_ns, event_hashes, event_bodies);
  end if;
  if batch ? 'questions' then
    update question set body = x.body
    from jsonb_to_recordset(batch->'questions') as x(c integer, id text, guard integer, body jsonb)
    where x.guard > 0 and question.id = x.id and x.c <> all (refused);
    insert into question (id, body)
    select x.id, x.body from jsonb_to_recordset(batch->'questions') as x(c integer, id text, guard integer, body jsonb)
    where x.guard = 0 and x.c <> all (refused);
  end if;
  if batch ? 'contents' then
    insert into content (hash, body)
    select x.hash, x.body from jsonb_to_recordset(batch->'contents') as x(c integer, hash text, body text)
    where x.c <> all (refused) order by x.hash
    on conflict do nothing;
  end if;
  if batch ? 'entries' then
    update entry set parent = x.parent, version = x.guard + 1, body = x.body
    from jsonb_to_recordset(batch->'entries')
      as x(c integer, kind text, id text, parent text, guard integer, body jsonb)
    where x.guard > 0 and entry.kind = x.kind and entry.id = x.id and x.c <> all (refused);
    insert into entry (kind, id, parent, version, body)
    select x.kind, x.id, x.parent, 1, x.body
    from jsonb_to_recordset(batch->'entries')
      as x(c integer, kind text, id text, parent text, guard integer, body jsonb)
    where x.guard = 0 and x.c <> all (refused) order by x.kind, x.id;
  end if;
  if batch ? 'seals' then
    insert into seal (n, hash, body)
    select x.n, x.hash, x.body from jsonb_to_recordset(batch->'seals') as x(c integer, n integer, hash text, body text)
    where x.c <> all (refused);
  end if;
  if batch ? 'claimed' then
    delete from job using jsonb_to_recordset(batch->'claimed') as x(c integer, key text, body jsonb)
    where job.key = x.key and x.body is null and x.c <> all (refused);
    update job set body = x.body, attempt = nextval('job_attempt'), claimed_by = null, lease_until = null
    from jsonb_to_recordset(batch->'claimed') as x(c integer, key text, body jsonb)
    where job.key = x.key and x.body is not null and x.c <> all (refused);
  end if;
  if batch ? 'scheduled' then
    with made as (
      insert into job (key, body, attempt, claimed_by, lease_until)
      select x.key, x.body, nextval('job_attempt'), x.worker, askd_instant(x.lease_ms)
      from jsonb_to_recordset(batch->'scheduled')
        as x(c integer, key text, body jsonb, worker text, lease_ms integer)
      where x.c <> all (refused) order by x.key
      on conflict (key) do update set body = excluded.body, attempt = excluded.attempt,
        claimed_by = excluded.claimed_by, lease_until = excluded.lease_until
      returning key, attempt
    )
    select jsonb_object_agg(key, attempt) into attempts from made;
  end if;
  if notice is not null then
    perform pg_notify('askd', notice);
  end if;
  return jsonb_build_object('refused', refused, 'reasons', reasons, 'numbers', numbers, 'attempts', attempts);
end
$$`;
