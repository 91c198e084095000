/** The cells of each table's rows in a batch, in order, with the type of each. */
export const COLUMNS = {
  runs: [
    "c:integer",
    "id",
    "guard:integer",
    "body:line",
    "name",
    "external_id",
    "host",
    "agent",
    "session",
    "parent_id",
    "status",
    "ended_at",
  ],
  events: ["at:integer", "body:line"],
  questions: ["c:integer", "id", "guard:integer", "body:line", "run_id", "key", "status"],
  contents: ["c:integer", "hash", "body:line"],
  entries: ["c:integer", "kind", "id", "parent", "guard:integer", "body:line"],
  seals: ["c:integer", "n:integer", "hash", "body"],
  dropped: ["c:integer", "key"],
  finished: ["c:integer", "key", "attempt:bigint"],
  postponed: ["c:integer", "key", "attempt:bigint", "due_at", "body:line"],
  jobs: ["c:integer", "key", "kind", "host", "agent", "due_at", "worker", "lease_ms:integer", "body:line"],
} as const;

/**
 * Writes a batch of commits in one round trip. It knows rows, versions and unique names, no rule of the product. Rows
 * come as one array per table, with `c`, the index of their commit in the batch. Bodies are JSON, so they come as lines
 * of one text, without quoting their quotes, and a row has the number of its line. Run rows are locked first and in
 * order. Then everything is written as if there were no conflict, which is nearly always so; a failed guard or unique
 * name raises an error that undoes it all. Called again in careful mode, it also locks and checks the rest, and writes
 * what was not refused. No two commits of a batch touch the same row, so a refused one does not affect the others. A
 * name taken between check and write raises an error again: repeated, the check sees it. (Catching the error inside
 * would take a subtransaction on every call.) The plan settings prevent a plan made for small tables from being used
 * for large ones.
 */
export const APPLY = withCells(`
create function askd_apply(
  program integer, notice text, is_careful boolean, locks text[], new_questions integer, new_entries integer,
  closing text[], lines text,
  ${Object.keys(COLUMNS)
    .map((table) => `${table} text[]`)
    .join(", ")}
) returns json
language plpgsql
set jit = off set plan_cache_mode = force_generic_plan
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
as $$
declare
  bodies text[] := string_to_array(lines, chr(10));
  refused integer[] := '{}';
  reasons text[] := '{}';
  numbers json;
  attempts json;
  writable integer;
  locked_id text[];
  locked_version integer[];
  locked_n integer[];
  locked_hash text[];
  spot integer;
  chain_ns integer[] := array_fill(0, array[cardinality(runs_c)]);
  chain_hashes text[] := array_fill(''::text, array[cardinality(runs_c)]);
  line_ns integer[] := '{}';
  line_hashes text[] := '{}';
  has_new boolean := false;
  has_old boolean := false;
  has_unwritten boolean := false;
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
    spot := array_position(locked_id, runs_id[i]);
    if spot is not null then
      chain_ns[i] := locked_n[spot];
      chain_hashes[i] := locked_hash[spot];
    end if;
    if runs_guard[i] is null then
      has_unwritten := true;
      if spot is null then
        raise 'A commit is about run %, which is not kept.', runs_id[i];
      end if;
    elsif runs_guard[i] = 0 then
      has_new := true;
      if spot is not null then
        refused := refused || runs_c[i];
        reasons := reasons || 'taken'::text;
      end if;
    else
      has_old := true;
      if spot is null or locked_version[spot] <> runs_guard[i] then
        refused := refused || runs_c[i];
        reasons := reasons || 'moved'::text;
      end if;
    end if;
  end loop;
  for i in 1..cardinality(events_at) loop
    spot := events_at[i];
    chain_ns[spot] := chain_ns[spot] + 1;
    chain_hashes[spot] := encode(sha256(convert_to(chain_hashes[spot] || chr(10) || events_body[i], 'UTF8')), 'hex');
    line_ns[i] := chain_ns[spot];
    line_hashes[i] := chain_hashes[spot];
  end loop;
  is_careful := is_careful or cardinality(refused) > 0;

  if is_careful then
    perform from entry
    where (kind, id) in (select entries_kind[i], entries_id[i] from generate_series(1, cardinality(entries_c)) i)
    order by kind, id for update;
    perform from job where key in (
      select dropped_key[i] from generate_series(1, cardinality(dropped_c)) i
      union all select finished_key[i] from generate_series(1, cardinality(finished_c)) i
      union all select postponed_key[i] from generate_series(1, cardinality(postponed_c)) i
    ) order by key for update;
    for row in
      select runs_c[i] as c, 'taken' as why from generate_series(1, cardinality(runs_c)) i
      join run on run.session = runs_session[i] and run.host = runs_host[i] and run.agent = runs_agent[i]
        and run.id <> runs_id[i]
      union all
      select questions_c[i],
        case when questions_guard[i] not in (0, coalesce(question.version, 0)) then 'moved' else 'taken' end
      from generate_series(1, cardinality(questions_c)) i
      left join question on question.id = questions_id[i]
      where questions_guard[i] <> coalesce(question.version, 0)
        or exists (
          select from question other
          where other.run_id = questions_run_id[i] and other.key = questions_key[i] and other.id <> questions_id[i])
        or questions_status[i] = 'pending' and exists (
          select from question other
          where other.run_id = questions_run_id[i] and other.status = 'pending' and other.id <> questions_id[i]
            and other.id <> all (closing))
      union all
      select entries_c[i], case when entries_guard[i] = 0 then 'taken' else 'moved' end
      from generate_series(1, cardinality(entries_c)) i
      left join entry on entry.kind = entries_kind[i] and entry.id = entries_id[i]
      where entries_guard[i] <> coalesce(entry.version, 0)
      union all
      select seals_c[i], 'taken' from generate_series(1, cardinality(seals_c)) i join seal on seal.n = seals_n[i]
      union all
      select finished_c[i], 'job_lost' from generate_series(1, cardinality(finished_c)) i
      left join job on job.key = finished_key[i]
      where finished_attempt[i] is distinct from job.attempt
      union all
      select postponed_c[i], 'job_lost' from generate_series(1, cardinality(postponed_c)) i
      left join job on job.key = postponed_key[i]
      where postponed_attempt[i] is distinct from job.attempt
    loop
      refused := refused || row.c;
      reasons := reasons || row.why;
    end loop;
  end if;

  if has_new then
    with made as (
      insert into run (id, version, body, name, external_id, host, agent, session, parent_id, status, ended_at,
        chain_n, chain_hash)
      select runs_id[i], 1, runs_body[i], runs_name[i], runs_external_id[i], runs_host[i], runs_agent[i],
        runs_session[i], runs_parent_id[i], runs_status[i], runs_ended_at[i], chain_ns[i], chain_hashes[i]
      from generate_series(1, cardinality(runs_c)) i
      where runs_guard[i] = 0 and runs_c[i] <> all (refused)
      returning id, number
    )
    select json_object_agg(id, number) into numbers from made;
  end if;
  if has_old then
    update run set version = runs_guard[i] + 1, body = runs_body[i], name = runs_name[i],
      external_id = runs_external_id[i], host = runs_host[i], agent = runs_agent[i], session = runs_session[i],
      parent_id = runs_parent_id[i], status = runs_status[i], ended_at = runs_ended_at[i], chain_n = chain_ns[i],
      chain_hash = chain_hashes[i]
    from generate_series(1, cardinality(runs_c)) i
    where runs_guard[i] > 0 and runs_c[i] <> all (refused) and run.id = runs_id[i];
  end if;
  if has_unwritten then
    update run set chain_n = chain_ns[i], chain_hash = chain_hashes[i]
    from generate_series(1, cardinality(runs_c)) i
    where runs_guard[i] is null and runs_c[i] <> all (refused) and run.id = runs_id[i]
      and run.chain_n <> chain_ns[i];
  end if;
  if cardinality(events_at) > 0 then
    insert into event (run_id, n, hash, body)
    select runs_id[place], line_ns[i], line_hashes[i], events_body[i]
    from (select i, events_at[i] as place from generate_series(1, cardinality(events_at)) i) x
    where runs_c[place] <> all (refused);
  end if;
  if cardinality(questions_c) > new_questions then
    update question set version = questions_guard[i] + 1, body = questions_body[i], run_id = questions_run_id[i],
      key = questions_key[i], status = questions_status[i]
    from generate_series(new_questions + 1, cardinality(questions_c)) i
    where question.id = questions_id[i] and question.version = questions_guard[i]
      and questions_c[i] <> all (refused);
    get diagnostics written = row_count;
    missed := missed + cardinality(questions_c) - new_questions - written;
  end if;
  if new_questions > 0 then
    insert into question (id, version, body, run_id, key, status)
    select questions_id[i], 1, questions_body[i], questions_run_id[i], questions_key[i], questions_status[i]
    from generate_series(1, new_questions) i
    where questions_c[i] <> all (refused);
  end if;
  if cardinality(contents_c) > 0 then
    insert into content (hash, body)
    select contents_hash[i], contents_body[i] from generate_series(1, cardinality(contents_c)) i
    where contents_c[i] <> all (refused) order by contents_hash[i]
    on conflict do nothing;
  end if;
  if cardinality(entries_c) > 0 then
    update entry set parent = entries_parent[i], version = entries_guard[i] + 1, body = entries_body[i]
    from generate_series(new_entries + 1, cardinality(entries_c)) i
    where entry.kind = entries_kind[i] and entry.id = entries_id[i] and entry.version = entries_guard[i]
      and entries_c[i] <> all (refused);
    get diagnostics written = row_count;
    missed := missed + cardinality(entries_c) - new_entries - written;
    insert into entry (kind, id, parent, version, body)
    select entries_kind[i], entries_id[i], entries_parent[i], 1, entries_body[i]
    from generate_series(1, new_entries) i
    where entries_c[i] <> all (refused) order by entries_kind[i], entries_id[i];
  end if;
  if cardinality(seals_c) > 0 then
    insert into seal (n, hash, body)
    select seals_n[i], seals_hash[i], seals_body[i] from generate_series(1, cardinality(seals_c)) i
    where seals_c[i] <> all (refused);
  end if;
  if cardinality(dropped_c) > 0 then
    delete from job using generate_series(1, cardinality(dropped_c)) i
    where job.key = dropped_key[i] and dropped_c[i] <> all (refused);
  end if;
  if cardinality(finished_c) > 0 then
    delete from job using generate_series(1, cardinality(finished_c)) i
    where job.key = finished_key[i] and job.attempt = finished_attempt[i] and finished_c[i] <> all (refused);
    get diagnostics written = row_count;
    missed := missed + cardinality(finished_c) - written;
  end if;
  if cardinality(postponed_c) > 0 then
    update job set due_at = postponed_due_at[i], ready_at = postponed_due_at[i], claimed_by = null,
      lease_until = null, attempt = nextval('job_attempt'), body = postponed_body[i]
    from generate_series(1, cardinality(postponed_c)) i
    where job.key = postponed_key[i] and job.attempt = postponed_attempt[i] and postponed_c[i] <> all (refused);
    get diagnostics written = row_count;
    missed := missed + cardinality(postponed_c) - written;
  end if;
  if cardinality(jobs_c) > 0 then
    with made as (
      insert into job (key, kind, host, agent, due_at, ready_at, claimed_by, lease_until, attempt, body)
      select jobs_key[i], jobs_kind[i], jobs_host[i], jobs_agent[i], jobs_due_at[i],
        greatest(jobs_due_at[i], lease_until), jobs_worker[i], lease_until, nextval('job_attempt'), jobs_body[i]
      from (
        select i, askd_instant(jobs_lease_ms[i]) as lease_until from generate_series(1, cardinality(jobs_c)) i
        where jobs_c[i] <> all (refused) order by jobs_key[i]
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
  perform pg_notify('askd', notice);
  return json_build_object('refused', refused, 'reasons', reasons, 'numbers', numbers, 'attempts', attempts);
end
$$`);

/**
 * Expands `runs_name[i]` to that cell of the table's array, and `cardinality(runs_c)` to the number of its rows. One
 * array per column reads the same, but every parameter costs time on each commit, and there were 57.
 */
function withCells(sql: string) {
  let text = sql;
  for (const [table, columns] of Object.entries(COLUMNS)) {
    text = text.replace(new RegExp(`cardinality\\(${table}_\\w+\\)`, "g"), `coalesce(array_length(${table}, 1), 0)`);
    columns.forEach((column, index) => {
      const [name, type] = column.split(":");
      const cell = cellOf(`${table}[$1][${index + 1}]`, type);
      text = text.replace(new RegExp(`\\b${table}_${name}\\[(\\w+)\\]`, "g"), cell);
    });
  }
  return text;
}

function cellOf(cell: string, type: string | undefined) {
  if (type === undefined) return cell;
  return type === "line" ? `bodies[(${cell})::integer]` : `(${cell})::${type}`;
}
