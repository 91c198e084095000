import type { Edit } from "./tamper-edit.ts";

/** A change of the schema, and the statements that take it back. */
type SchemaEdit = readonly [name: string, apply: readonly string[], undo: readonly string[]];

const COMMON: readonly SchemaEdit[] = [
  ["a view is added", ["create view tampered as select * from question"], ["drop view tampered"]],
  ["an index is added", ["create index tampered on question (version)"], ["drop index tampered"]],
  ["a table is added", ["create table tampered (id integer)"], ["drop table tampered"]],
  [
    "an index is dropped",
    ["drop index run_status"],
    ["create index run_status on run (status, id) where status <> 'completed'"],
  ],
  [
    "an index is changed",
    ["drop index run_status", "create index run_status on run (status)"],
    ["drop index run_status", "create index run_status on run (status, id) where status <> 'completed'"],
  ],
  ...["schema", "writable_by"].flatMap((column) =>
    [1, -1].map((by): SchemaEdit => [
      `${column} of the version is changed by ${by}`,
      [`update meta set ${column} = ${column} + ${by}`],
      [`update meta set ${column} = ${column} - ${by}`],
    ]),
  ),
];

const SQLITE: readonly SchemaEdit[] = [
  ...COMMON,
  ...["insert", "update", "delete"].map((verb): SchemaEdit => [
    `a trigger on ${verb} is added`,
    [`create trigger tampered after ${verb} on question begin update question set body = body where false; end`],
    ["drop trigger tampered"],
  ]),
  [
    "a column is added",
    ["alter table question add column tampered text"],
    ["alter table question drop column tampered"],
  ],
  ["the user's version is changed", ["pragma user_version = 7"], ["pragma user_version = 0"]],
  ["the application's id is changed", ["pragma application_id = 0"], ["pragma application_id = 1634954084"]],
];

const FUNCTION = `create function tampered() returns trigger language plpgsql as $$ begin return new; end $$`;
const INSTANT = `create or replace function askd_instant(after_ms integer) returns text language sql volatile as`;
const POSTGRES: readonly SchemaEdit[] = [
  ...COMMON,
  ["a function is added", [FUNCTION], ["drop function tampered()"]],
  ...["insert", "update", "delete"].map((verb): SchemaEdit => [
    `a trigger on ${verb} is added`,
    [FUNCTION, `create trigger tampered after ${verb} on question for each row execute function tampered()`],
    ["drop trigger tampered on question", "drop function tampered()"],
  ]),
  [
    "a column is added",
    ["alter table question add column tampered text"],
    ["alter table question drop column tampered"],
  ],
  [
    "the type of a column is changed",
    ["alter table question alter column version type bigint"],
    ["alter table question alter column version type integer"],
  ],
  [
    "a default is added",
    ["alter table job alter column attempt set default 1"],
    ["alter table job alter column attempt drop default"],
  ],
  [
    "a constraint is added",
    ["alter table question add constraint tampered check (version >= 0)"],
    ["alter table question drop constraint tampered"],
  ],
  [
    "a rule is added",
    ["create rule tampered as on update to question where false do instead nothing"],
    ["drop rule tampered on question"],
  ],
  ["a second version is added", ["insert into meta values (0, 0)"], ["delete from meta where schema = 0"]],
  ["a policy is added", ["create policy tampered on question"], ["drop policy tampered on question"]],
  [
    "a function is changed",
    [`${INSTANT} $$ select '2000-01-01T00:00:00.000Z' $$`],
    [
      `${INSTANT} $$
  select to_char((clock_timestamp() + after_ms * interval '1 millisecond') at time zone 'utc',
    'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
$$`,
    ],
  ],
];

/** Every kind of change to a schema by which rows could be changed or hidden as they are written or read. */
export function listSchemaEdits(store: "sqlite" | "postgres"): Edit[] {
  const run =
    (statements: readonly string[]): Edit["apply"] =>
    async (editor) => {
      for (const statement of statements) await editor.run(statement);
    };
  return (store === "sqlite" ? SQLITE : POSTGRES).map(([name, apply, undo]) => {
    return { name, kind: `schema: ${name}`, apply: run(apply), undo: run(undo) };
  });
}
